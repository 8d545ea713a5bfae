"""``make deploy-check``: manifests, Dockerfile and compose file against schemas and policies.

Each kind of check is at first given a planted fault of its kind, and has to find it.
"""

import copy
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import yaml
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as prometheus_operator
from compose_spec.models import ComposeSpecification
from pydantic import ValidationError

from tests.deploy.rendering import ROOT, Manifest, all_variants

KUBERNETES: Final = (
    "1.31",
    "1.37",
)  # the oldest that is supported, the newest there is a schema of
MODELS: Final = {"keda.sh/v1alpha1": keda, "monitoring.coreos.com/v1": prometheus_operator}
BIN: Final = Path(sys.executable).parent
SECONDS: Final = 300
CARELESS: Final = "FROM debian\nRUN cd /tmp && apt-get install curl\n"
# Policies that do not hold here, and why.
WAIVED: Final = {
    "CKV_K8S_15": "tags are versions and never pushed again, so a node need not ask each time",
    "CKV_K8S_35": "settings are read from the environment alone",
    "CKV_K8S_43": "whoever pushes the image puts its digest into the overlay",
}


def schemas(manifests: list[Manifest]) -> Iterator[str]:
    """Faults by the schemas of Kubernetes, and for kinds of others by models of their CRDs."""
    for manifest in manifests:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        models = MODELS.get(manifest["apiVersion"])
        if models is not None:
            yield from (f"{name}: {fault}" for fault in modelled(models, manifest))
            continue
        for version in KUBERNETES:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{name}: {version}: {list(error.path)}: {error.message[:300]}"
            except kubernetes_validate.SchemaNotFoundError:
                yield f"{name}: {version} has no such kind"


def modelled(models: Any, manifest: Manifest) -> Iterator[str]:
    """Faults by a model, which takes fields that it does not know and forgets them."""
    model = getattr(models, manifest["kind"], None)
    if model is None:
        yield "there is no such kind"
        return
    try:
        kept = model.model_validate(manifest).model_dump(
            mode="json", by_alias=True, exclude_unset=True
        )
    except ValidationError as error:
        yield str(error)
    else:
        yield from forgotten(manifest, kept)


def forgotten(given: Any, kept: Any, path: str = "") -> Iterator[str]:
    """What a model has not kept of what it was given."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if name not in kept:
                yield f"{path}.{name} is unknown"
            else:
                yield from forgotten(value, kept[name], f"{path}.{name}")
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for place, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from forgotten(one, other, f"{path}[{place}]")


def compose(file: dict[str, Any]) -> Iterator[str]:
    """Faults of the compose file, by a model of its schema."""
    try:
        # From JSON: a set of the schema is a list there.
        kept = ComposeSpecification.model_validate_json(json.dumps(file))
    except ValidationError as error:
        yield str(error)
    else:
        dumped = kept.model_dump(mode="json", by_alias=True, exclude_unset=True)
        yield from forgotten({k: v for k, v in file.items() if not k.startswith("x-")}, dumped)


def policies(files: list[Path]) -> Iterator[tuple[str, str]]:
    """What checkov's policies find, but for those that are waived: the file, and what."""
    command = [str(BIN / "checkov"), "--quiet", "--compact", "--output", "json"]
    command += ["--framework", "kubernetes", "dockerfile", "--skip-check", ",".join(WAIVED)]
    for file in files:
        command += ["--file", str(file)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    found = json.loads(checked.stdout)
    for part in found if isinstance(found, list) else [found]:
        for one in part["results"]["failed_checks"]:
            fault = f"{one['check_id']} {one['check_name']}: {one['resource']}"
            yield Path(one["file_path"]).as_posix(), fault


def of_policies(folder: Path, files: list[Path], manifests: list[Manifest]) -> Iterator[str]:
    """What they find, and whether they find faults that are planted; in one run, it is slow."""
    privileged = changed(manifests, "Deployment", _as_root)
    careless = folder / "planted" / "Dockerfile"
    careless.parent.mkdir()
    careless.write_text(CARELESS)
    bad = [_written(folder / "planted.yaml", privileged), careless]
    found = list(policies([*files, *bad]))
    yield from (f"{file}: {fault}" for file, fault in found if "planted" not in file)
    for file in bad:
        place = str(file.relative_to(folder))
        there = (fault for name, fault in found if name.endswith(place))
        yield from expect(f"what policies forbid in {place}", there)


def hadolint(file: Path) -> Iterator[str]:
    """What the Dockerfile's linter finds."""
    command = [str(BIN / "hadolint"), "--no-color", str(file)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    yield from (checked.stdout + checked.stderr).splitlines()


def expect(what: str, found: Iterator[str]) -> Iterator[str]:
    """A complaint if nothing is found where a fault was planted."""
    if not list(found):
        yield f"a planted fault was not found: {what}"


def changed(
    manifests: list[Manifest], kind: str, change: Callable[[Any], object]
) -> list[Manifest]:
    """The first manifest of a kind, with a fault."""
    planted = copy.deepcopy(next(one for one in manifests if one["kind"] == kind))
    change(planted)
    return [planted]


def planted(manifests: list[Manifest], folder: Path) -> Iterator[str]:
    """Whether each check finds a fault of its kind."""
    typo = changed(manifests, "Deployment", lambda one: one["spec"].update(replica=2))
    yield from expect("an unknown field", schemas(typo))
    wrong = changed(manifests, "Deployment", lambda one: one["spec"].update(replicas="two"))
    yield from expect("a wrong type", schemas(wrong))
    typo = changed(manifests, "ScaledObject", lambda one: one["spec"].update(maxReplicas=2))
    yield from expect("an unknown field of KEDA's", schemas(typo))
    wrong = changed(manifests, "ScaledObject", lambda one: one["spec"].update(triggers="redis"))
    yield from expect("a wrong type of KEDA's", schemas(wrong))
    typo = changed(manifests, "PodMonitor", lambda one: one["spec"].update(endpoints=[]))
    yield from expect("an unknown field of the Prometheus operator's", schemas(typo))
    yield from expect("an unknown key", compose({"services": {"api": {"imagee": "x"}}}))
    dockerfile = folder / "Dockerfile"
    dockerfile.write_text(CARELESS)
    yield from expect("a careless Dockerfile", hadolint(dockerfile))


def _as_root(deployment: Manifest) -> None:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["securityContext"]["privileged"] = True


def _written(file: Path, manifests: list[Manifest]) -> Path:
    file.write_text(yaml.safe_dump_all(manifests))
    return file


def check(folder: Path) -> Iterator[str]:
    """Everything that is wrong."""
    variants = all_variants(folder)
    yield from planted(variants["production-whole"], folder)
    for name, manifests in variants.items():
        yield from (f"{name}: {fault}" for fault in schemas(manifests))
    files = [_written(folder / f"{name}.yaml", found) for name, found in variants.items()]
    yield from of_policies(folder, [*files, ROOT / "Dockerfile"], variants["production"])
    yield from hadolint(ROOT / "Dockerfile")
    yield from compose(yaml.safe_load((ROOT / "compose.yaml").read_text()))


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(check(Path(folder)))
    print(*wrong, sep="\n")  # noqa: T201 - what the command is for
    print(f"{len(wrong)} wrong")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
