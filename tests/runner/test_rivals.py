"""Operators that run beside: known by Deployment and Lease while they are alive, and only if they may do their work."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from jobgate.cluster.informer import ApiError
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.vcjob import VCJOB
from jobgate.runner import rivals as module
from jobgate.runner.rivals import DEPLOYMENTS, MAX_EXAMINED, rivals

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ABLE = "system:serviceaccount:di-system:di-orchestrator"


def deployment(
    name: str = "manager", image: str = "example/other:1", ready: int = 1, namespace: str = "di-system"
) -> dict[str, Any]:
    """A Deployment of one container."""
    spec = {"serviceAccountName": "di-orchestrator", "containers": [{"name": "manager", "image": image}]}
    metadata = {"name": name, "namespace": namespace}
    return {"metadata": metadata, "spec": {"template": {"spec": spec}}, "status": {"readyReplicas": ready}}


def lease(renewed: str, holder: str = "pod_0af3", namespace: str = "di-system") -> dict[str, Any]:
    """The Lease of DI-orchestrator."""
    spec = {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": 15}
    return {"metadata": {"name": "12841a5d.opendilab.org", "namespace": namespace}, "spec": spec}


class Cluster:
    """An API server with these objects, and a pod of the operator."""

    def __init__(self, deployments: Any, leases: Any, refusal: int = 0) -> None:
        self._found = {DEPLOYMENTS: deployments}
        self._leases = leases
        self._refusal = refusal
        self.reviews: list[Any] = []

    async def pages(self, resource: Any) -> AsyncIterator[Any]:
        """All objects of a resource."""
        yield SimpleNamespace(items=self._found.get(resource, self._leases))

    async def get(self, resource: Any, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """The pod of the operator."""
        assert resource.plural == "pods"
        assert "/" not in name, "it would be another path"
        if self._refusal:
            raise ApiError(self._refusal)
        return {"spec": {"serviceAccountName": "di-orchestrator"}} if name == "pod" else None

    async def create(self, resource: Any, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tell what an account may."""
        assert resource.plural == "subjectaccessreviews"
        self.reviews.append(manifest["spec"])
        return {"status": {"allowed": manifest["spec"]["user"] == ABLE}}


LIVE, LATE = "2025-12-31T23:59:50.000000Z", "2025-12-31T23:59:40.000000Z"


@pytest.mark.parametrize(
    ("deployments", "leases", "expected"),
    [
        ([], [], []),
        ([deployment()], [], []),
        ([deployment("di-operator")], [], ["Deployment di-system/di-operator"]),
        ([deployment(image="registry:5000/di-orchestrator@sha256:0")], [], ["Deployment di-system/manager"]),
        ([deployment("di-operator", ready=0)], [], []),
        ([], [lease(LIVE)], ["Lease di-system/12841a5d.opendilab.org"]),
        ([], [lease(LATE)], []),
        ([], [lease(LIVE, holder="")], []),
        # Of a name that anyone could give.
        ([deployment("di-operator", namespace="tenant")], [], []),
        ([], [lease(LIVE, namespace="tenant")], []),
        ([], [lease(LIVE, holder="elsewhere_1")], []),
        ([], [lease(LIVE, holder="../secrets_1")], []),
    ],
)
async def test_an_operator_is_known_while_it_is_alive(deployments: Any, leases: Any, expected: list[str]) -> None:
    cluster: Any = Cluster(deployments, leases)
    assert await rivals(DIJOB, cluster, NOW) == expected
    for review in cluster.reviews:
        assert review["resourceAttributes"] == {
            "verb": "update",
            "group": "diengine.opendilab.org",
            "resource": "dijobs",
            "subresource": "status",
        }


CANARY = {"matchLabels": {"channel": "canary"}}


def runner(*flags: str, namespace: str = "di-system") -> dict[str, Any]:
    """The Deployment of the runner of another installation."""
    document = deployment("jobgate-runner", namespace=namespace)
    document["metadata"]["labels"] = {"app.kubernetes.io/component": "runner"}
    document["spec"]["template"]["spec"]["containers"][0]["args"] = ["run", *flags]
    return document


RUN = "--run=dijobs.diengine.opendilab.org"


@pytest.mark.parametrize(
    ("other", "selector", "reported"),
    [
        (runner(RUN), {}, True),
        (runner(RUN), CANARY, True),
        (runner(RUN, "--namespace-selector={matchLabels: {team: vision}}"), CANARY, True),
        (runner(RUN, '--namespace-selector={"matchLabels":{"channel":"stable"}}'), CANARY, False),
        (runner(RUN, "--namespace-selector=" + "[" * 100_000), CANARY, True),
        (runner("--run=torchjobs.train.distributed.io"), {}, False),
        (runner(RUN, namespace="tenant"), {}, False),
        (runner(RUN, namespace="jobgate-system"), {}, False),
        ({**runner(RUN), "status": {}}, {}, False),
    ],
    ids=["both serve all", "one serves all", "another label", "another value", "not readable", "another kind",
         "without rights", "its own", "not ready"],
)  # fmt: skip
async def test_the_runner_of_another_installation_is_known_unless_no_namespace_matches_both(
    other: Any, selector: Any, *, reported: bool
) -> None:
    cluster: Any = Cluster([other], [])
    found = await rivals(DIJOB, cluster, NOW, here=("jobgate-system", selector))
    assert found == (["Deployment di-system/jobgate-runner"] if reported else [])
    # The runner patches statuses, and has no right to update them.
    assert {review["resourceAttributes"]["verb"] for review in cluster.reviews} <= {"patch"}


async def test_the_selector_of_a_runner_is_read_only_if_its_account_may_run_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Anyone may create such a Deployment, with a selector that takes hours to read."""
    read = list[str]()

    def parsed(text: str) -> dict[str, Any]:
        read.append(text)
        return {}

    monkeypatch.setattr(module, "parsed", parsed)
    others = [runner(RUN, f"--namespace-selector={each}", namespace=each) for each in ("tenant", "di-system")]
    cluster: Any = Cluster(others, [])
    here: Any = ("jobgate-system", CANARY)
    assert await rivals(DIJOB, cluster, NOW, here=here) == ["Deployment di-system/jobgate-runner"]
    assert read == ["di-system"]


@pytest.mark.parametrize(
    ("deployments", "leases"),
    [
        ([deployment("volcano-controllers")], []),
        ([deployment("batch-controllers", "docker.io/volcanosh/vc-controller-manager:v1.15.1")], []),
        ([], [{**lease(LIVE), "metadata": {"name": "vc-controller-manager", "namespace": "di-system"}}]),
    ],
)
async def test_volcano_is_known_by_its_controller(deployments: Any, leases: Any) -> None:
    cluster: Any = Cluster(deployments, leases)
    assert len(await rivals(VCJOB, cluster, NOW)) == 1
    assert cluster.reviews[0]["resourceAttributes"]["group"] == "batch.volcano.sh"


@pytest.mark.parametrize("code", [403, 429, 500, 503])
async def test_if_the_holder_of_a_lease_cannot_be_read_nobody_is_taken_for_absent(code: int) -> None:
    cluster: Any = Cluster([], [lease(LIVE)], code)
    with pytest.raises(ApiError):
        await rivals(DIJOB, cluster, NOW)


async def test_a_namespace_full_of_leases_costs_few_calls_and_hides_nobody() -> None:
    leases = [*(lease(LIVE, namespace="tenant") for _ in range(200)), lease(LIVE)]
    cluster: Any = Cluster([deployment("di-operator", namespace="tenant") for _ in range(200)], leases)
    assert await rivals(DIJOB, cluster, NOW) == ["Lease di-system/12841a5d.opendilab.org"]
    assert len(cluster.reviews) == 2 * MAX_EXAMINED + 1


async def test_an_operator_that_is_ignored_is_not_asked_about() -> None:
    cluster: Any = Cluster([deployment("di-operator")], [])
    assert await rivals(DIJOB, cluster, NOW, ["di-system/di-operator"]) == []
    assert cluster.reviews == []
