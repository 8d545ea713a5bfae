"""What the manifests promise, as kustomize renders them; `make deploy-check` does the rest."""

import os
import re
import shutil
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from api.queues import QUEUES
from api.server import COMPLETE_SECONDS, GRACE_SECONDS
from api.settings import Settings
from tests.deploy.rendering import KUBECTL, ROOT, Manifest, all_variants

PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@pytest.fixture(scope="module")
def variants(tmp_path_factory) -> dict[str, list[Manifest]]:
    if shutil.which(KUBECTL) is None and not os.environ.get("CI"):
        pytest.skip("no manifest is looked at: no kubectl; `make deploy-tools` installs one")
    return all_variants(tmp_path_factory.mktemp("manifests"))


@pytest.fixture(params=["local", "production", "production-hpa", "production-whole"])
def manifests(variants, request) -> list[Manifest]:
    return variants[request.param]


def of(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """The manifests of a kind, by name."""
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] == kind}


def settings_of(manifests: list[Manifest]) -> dict[str, Any]:
    """What all processes are told."""
    (found,) = (
        one["data"]
        for name, one in of(manifests, "ConfigMap").items()
        if name.startswith("settings")
    )
    return found


def pods(manifests: list[Manifest]) -> Iterator[tuple[str, Any, Any]]:
    """Whatever runs: its name, the pod's labels and what it is to be."""
    for kind in ("Deployment", "StatefulSet"):
        for name, one in of(manifests, kind).items():
            template = one["spec"]["template"]
            yield name, template["metadata"]["labels"], template["spec"]


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    return selector.get("matchLabels", {}).items() <= labels.items()


def test_everything_runs_restricted_with_requests_and_limits(manifests):
    (namespace,) = of(manifests, "Namespace").values()
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for name, _, pod in pods(manifests):
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] >= 10_000
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert {"cpu", "memory"} <= container["resources"]["limits"].keys()


def test_probes_mean_different_things(manifests):
    for name, _, pod in pods(manifests):
        (container,) = pod["containers"]
        asked = [str({**container[probe]}) for probe in PROBES]
        assert len(set(asked)) == 3, name
        assert container["livenessProbe"] != container["readinessProbe"]
    api = of(manifests, "Deployment")["api"]["spec"]["template"]["spec"]["containers"][0]
    paths = [api[probe]["httpGet"]["path"] for probe in PROBES]
    assert paths == ["/healthz", "/readyz", "/healthz"]


def test_the_api_has_the_time_to_drain(manifests):
    drain = float(settings_of(manifests)["RINGMASTER_DRAIN_SECONDS"])
    pod = of(manifests, "Deployment")["api"]["spec"]["template"]["spec"]
    probe = pod["containers"][0]["readinessProbe"]

    assert drain + COMPLETE_SECONDS + GRACE_SECONDS + 5 <= pod["terminationGracePeriodSeconds"]
    assert drain / 2 >= probe["periodSeconds"] * probe["failureThreshold"]


def test_a_worker_finishes_what_it_does_before_it_is_killed(manifests):
    decision = 3 * Settings().bot_limit_ms / 1000
    for name, one in of(manifests, "Deployment").items():
        if name.startswith("worker-"):
            assert one["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > decision + 5


def test_every_queue_has_a_worker_that_is_scaled(manifests):
    workers = {name for name in of(manifests, "Deployment") if name.startswith("worker-")}
    scaled = {
        one["spec"]["scaleTargetRef"]["name"]
        for kind in ("ScaledObject", "HorizontalPodAutoscaler")
        for one in of(manifests, kind).values()
    }

    assert workers == {f"worker-{queue}" for queue in QUEUES}
    assert scaled == {"api", *workers}
    for queue in QUEUES:
        (container,) = of(manifests, "Deployment")[f"worker-{queue}"]["spec"]["template"]["spec"][
            "containers"
        ]
        assert container["args"][:3] == ["worker", "--queues", queue]
    for name, one in of(manifests, "ScaledObject").items():
        (trigger,) = one["spec"]["triggers"]
        assert f"worker-{trigger['metadata']['listName']}" == name


def test_what_is_scaled_has_no_number_of_its_own(manifests):
    counted = {
        name for name, one in of(manifests, "Deployment").items() if "replicas" in one["spec"]
    }

    assert counted == {"sweeper"}
    assert of(manifests, "Deployment")["sweeper"]["spec"]["replicas"] == 2


def test_everything_has_a_budget_for_disruptions(manifests):
    budgets = of(manifests, "PodDisruptionBudget").values()
    for name, labels, _ in pods(manifests):
        assert sum(selects(one["spec"]["selector"], labels) for one in budgets) == 1, name


def test_selectors_find_the_pods_they_mean_and_no_others(manifests):
    for kind in ("Deployment", "StatefulSet"):
        for name, one in of(manifests, kind).items():
            found = [
                n for n, labels, _ in pods(manifests) if selects(one["spec"]["selector"], labels)
            ]
            assert found == [name]
    service = of(manifests, "Service")["api"]["spec"]["selector"]
    assert [n for n, labels, _ in pods(manifests) if service.items() <= labels.items()] == ["api"]


def rules(manifests: list[Manifest], labels: dict[str, str], way: str) -> list[Any]:
    """What network policies let in or out of a pod."""
    policies = [
        one["spec"]
        for one in of(manifests, "NetworkPolicy").values()
        if way in one["spec"]["policyTypes"] and selects(one["spec"]["podSelector"], labels)
    ]
    assert any(way.lower() not in one for one in policies), "what is not listed is not denied"
    return [rule for one in policies for rule in one.get(way.lower(), ())]


def ports(found: list[Any]) -> set[Any]:
    for rule in found:
        assert rule.get("from") or rule.get("to"), "from or to anywhere"
    return {port["port"] for rule in found for port in rule["ports"]}


def test_nothing_is_reached_but_what_is_listed(manifests):
    for name, labels, _ in pods(manifests):
        ins, outs = (ports(rules(manifests, labels, way)) for way in ("Ingress", "Egress"))
        if name == "redis":
            assert ins == {"redis", "http", "metrics"}
            assert outs == {53}
        else:
            assert ins == {"http", "metrics"}
            assert outs - {26379, 4318} in ({53, 6379}, {53, "redis"})
            assert (4318 in outs) == ("RINGMASTER_TRACING" in settings_of(manifests))


def test_the_outside_is_shown_no_metrics_and_no_readiness(manifests):
    (ingress,) = of(manifests, "Ingress").values()
    paths = {
        (path["path"], path["pathType"])
        for rule in ingress["spec"]["rules"]
        for path in rule["http"]["paths"]
    }

    assert paths == {
        ("/graphql", "Exact"),
        ("/v1", "Prefix"),
        ("/openapi.json", "Exact"),
        ("/healthz", "Exact"),
    }


def test_secrets_are_referred_to_and_made_on_nobodys_machine_but_ones_own(variants):
    for name, manifests in variants.items():
        assert bool(of(manifests, "Secret")) == name.startswith("local")
        for one in of(manifests, "ConfigMap").values():
            assert not {"RINGMASTER_SECRET", "RINGMASTER_REDIS_URL"} & one["data"].keys()
        for _, labels, pod in pods(manifests):
            if labels["app.kubernetes.io/name"] == "ringmaster":
                (container,) = pod["containers"]
                values = {one["name"]: one for one in container["env"]}
                for secret in ("RINGMASTER_SECRET", "RINGMASTER_REDIS_URL"):
                    assert "secretKeyRef" in values[secret]["valueFrom"]


def test_settings_that_are_given_are_settings(variants):
    known = {f"RINGMASTER_{name.upper()}" for name in Settings.model_fields}
    for manifests in variants.values():
        told = settings_of(manifests)
        assert told.keys() <= known | {"OTEL_EXPORTER_OTLP_ENDPOINT"}
        Settings(**{n.removeprefix("RINGMASTER_").lower(): v for n, v in told.items()})
        for _, _, pod in pods(manifests):
            for value in pod["containers"][0].get("env", ()):
                assert value["name"] in known


def test_metrics_are_served_to_other_pods(manifests):
    served = set()
    for name, _, pod in pods(manifests):
        (container,) = pod["containers"]
        given = {one["name"]: one.get("value") for one in container.get("env", ())}
        for port in container["ports"]:
            if port["name"] == "metrics":
                assert given["RINGMASTER_METRICS_PORT"] == str(port["containerPort"]), name
                assert ip_address(given["RINGMASTER_METRICS_HOST"]).is_unspecified, name
                served.add(name)

    assert served == {"sweeper", *(f"worker-{queue}" for queue in QUEUES)}


def test_spans_go_where_the_policy_lets_them(variants):
    whole = variants["production-whole"]
    told = settings_of(whole)
    (rule,) = of(whole, "NetworkPolicy")["ringmaster-to-collector"]["spec"]["egress"]
    (namespace,) = rule["to"][0]["namespaceSelector"]["matchLabels"].values()
    endpoint = urlsplit(told["OTEL_EXPORTER_OTLP_ENDPOINT"])

    assert Settings(tracing=told["RINGMASTER_TRACING"]).tracing
    assert (endpoint.hostname or "").split(".")[1] == namespace
    assert rule["ports"] == [{"protocol": "TCP", "port": endpoint.port}]


def test_the_operator_is_given_the_rules_and_the_dashboard(variants):
    whole = variants["production-whole"]
    monitoring = ROOT / "k8s" / "monitoring"
    (rule,) = of(whole, "PrometheusRule").values()
    dashboard = of(whole, "ConfigMap")["ringmaster-dashboard"]
    (text,) = dashboard["data"].values()

    # If not: `make alert-rule`.
    assert rule["spec"] == yaml.safe_load((monitoring / "alerts.yaml").read_text())
    assert text == (monitoring / "grafana-dashboard.json").read_text()
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_every_process_is_monitored_at_one_port(variants):
    whole = variants["production-whole"]
    (monitor,) = (one["spec"] for one in of(whole, "PodMonitor").values())
    monitored = {endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]}
    for name, labels, pod in pods(whole):
        assert selects(monitor["selector"], labels), name
        assert len(monitored & {port["name"] for port in pod["containers"][0]["ports"]}) == 1, name


def test_redis_keeps_what_it_has(variants):
    (redis,) = of(variants["local"], "StatefulSet").values()
    (container,) = redis["spec"]["template"]["spec"]["containers"]
    told = dict(zip(container["args"][1::2], container["args"][2::2], strict=True))

    assert told["--appendonly"] == "yes"
    assert told["--maxmemory-policy"] == "noeviction"
    assert redis["spec"]["volumeClaimTemplates"]


def test_the_compose_file_runs_every_kind_and_every_queue():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    commands = [one["command"] for name, one in services.items() if name != "redis"]
    queues = [queue for c in commands if c[0] == "worker" for queue in c[2].split(",")]

    assert {c[0] for c in commands} == {"api", "worker", "sweeper"}
    assert sorted(queues) == sorted(QUEUES)
    assert services["sweeper"]["deploy"]["replicas"] == 2
    assert "--appendonly" in services["redis"]["command"]
    known = {f"RINGMASTER_{name.upper()}" for name in Settings.model_fields}
    assert all(one.get("environment", {}).keys() <= known for one in services.values())


def test_the_image_is_the_one_that_the_manifests_run(variants):
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    user = re.search(r"^USER (\d+):(\d+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert user is not None
    for manifests in variants.values():
        for _, labels, pod in pods(manifests):
            if labels["app.kubernetes.io/name"] == "ringmaster":
                assert pod["containers"][0]["image"] == f"ringmaster:{version[1]}"
                assert pod["securityContext"]["runAsUser"] == int(user[1])
