"""The manifests as kustomize renders them."""

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]
# `make deploy-tools` puts it there where the machine has none.
KUBECTL: Final = shutil.which("kubectl") or str(ROOT / ".venv" / "deploy" / "bin" / "kubectl")
OVERLAYS: Final = ("local", "production")
KEDA: Final = "../../components/keda"
HPA: Final = "../../components/hpa"
OPTIONAL: Final = ("components/tracing", "monitoring")  # components that no overlay names
SECONDS: Final = 60

Manifest = dict[str, Any]


def render(folder: Path) -> list[Manifest]:
    """The manifests of a kustomization.

    Raises:
        subprocess.CalledProcessError: kustomize refuses it; what it said is in `stderr`.
    """
    rendered = subprocess.run(
        [KUBECTL, "kustomize", folder], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return list(yaml.safe_load_all(rendered.stdout))


def variant(overlay: str, folder: Path, old: str, new: str) -> list[Manifest]:
    """An overlay with other components in the place of one; ``folder`` is for the copy."""
    shutil.copytree(ROOT / "k8s", folder / "k8s")
    file = folder / "k8s" / "overlays" / overlay / "kustomization.yaml"
    text = file.read_text()
    assert old in text, f"{overlay} has no component {old}"
    file.write_text(text.replace(old, new))
    return render(file.parent)


def all_variants(folder: Path) -> dict[str, list[Manifest]]:
    """Every way to apply the manifests: each overlay, without KEDA, and with all else."""
    found = {overlay: render(ROOT / "k8s" / "overlays" / overlay) for overlay in OVERLAYS}
    found["production-hpa"] = variant("production", folder / "hpa", KEDA, HPA)
    whole = ", ".join([KEDA, *(f"../../{name}" for name in OPTIONAL)])
    found["production-whole"] = variant("production", folder / "whole", KEDA, whole)
    return found
