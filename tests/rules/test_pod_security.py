"""Findings for a job whose pods its namespace would reject."""

from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from jobgate.kinds.dijob import DIJOB
from jobgate.podchecks.pod_security.policy import ENFORCE, WARN
from jobgate.rules.pod_security import NAMESPACES
from tests.kinds.dijob import jobs
from tests.kinds.reviews import request_of
from webhook import Phase, Registry, Response, review

ENFORCED = "namespace ada enforces Pod Security level"
POD, MAIN = "spec.tasks[0].template.spec", "spec.tasks[0].template.spec.containers[0]"


class Namespaces:
    """A cluster that has one namespace."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self.labels = labels

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        assert (resource, namespace) == (NAMESPACES, "")
        return {"metadata": {"labels": dict(self.labels)}} if name == "ada" else None


class Unread:
    """A cache that has not read anything."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        raise LookupError(resource)


def ask(spec: dict[str, Any], labels: Mapping[str, str] | None = None, **of_job: Any) -> Response:
    """Apply a job of one task to the namespace ada of these labels; None where nothing is known of it."""
    return asked(jobs.job(jobs.task("learner", template={"spec": spec}), **of_job), labels)


def asked(document: Any, labels: Mapping[str, str] | None, old: Any = None, namespace: str = "ada") -> Response:
    request = request_of(DIJOB, document, old, name="job", namespace=namespace)
    objects = Unread() if labels is None else Namespaces(labels)
    return review(request, Phase.VALIDATE, Registry([DIJOB]), Settings(), objects)


def plain(**spec: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "ding"}], **spec}


def hardened(**spec: Any) -> dict[str, Any]:
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "main", "image": "ding", "securityContext": context}],
        **spec,
    }


def reported(response: Response) -> list[str]:
    """Return the notices that speak of Pod Security."""
    return [str(notice) for notice in response.notices if "Pod Security" in str(notice)]


def test_a_plain_job_is_told_all_that_a_restricted_namespace_lacks_in_it() -> None:
    by = f"{ENFORCED} restricted"
    assert jobs.faults(ask(plain(), {ENFORCE: "restricted"})) == [
        f"{MAIN}.securityContext.allowPrivilegeEscalation: Required value: must be false: {by}",
        f'{MAIN}.securityContext.capabilities.drop: Required value: must include "ALL": {by}',
        f"{POD}.securityContext.runAsNonRoot: Required value: must be true for the pod or for every container: {by}",
        f'{POD}.securityContext.seccompProfile.type: Required value: must be "RuntimeDefault" or "Localhost" '
        f"for the pod or for every container: {by}",
    ]


@pytest.mark.parametrize("labels", [{}, {ENFORCE: "privileged"}, {ENFORCE: "baseline"}, None])
def test_a_plain_job_is_taken_by_all_other_namespaces(labels: Mapping[str, str] | None) -> None:
    response = ask(plain(), labels)
    assert response.allowed, jobs.faults(response)
    assert not reported(response)


def test_a_hardened_job_is_taken_by_a_restricted_namespace() -> None:
    response = ask(hardened(), {ENFORCE: "restricted"})
    assert response.allowed, jobs.faults(response)
    assert not reported(response)


def test_a_namespace_of_which_nothing_is_known_rejects_nothing() -> None:
    host = plain(hostNetwork=True)
    assert ask(host, None).allowed
    assert asked(
        jobs.job(jobs.task("learner", template={"spec": host})), {ENFORCE: "baseline"}, namespace="new"
    ).allowed


def test_the_value_that_is_forbidden_and_the_version_are_reported() -> None:
    refused = ask(plain(hostNetwork=True), {ENFORCE: "baseline", f"{ENFORCE}-version": "v1.31"})
    expected = f"{POD}.hostNetwork: Invalid value: true: must be false or not set: {ENFORCED} baseline of v1.31"
    assert jobs.faults(refused) == [expected]


def test_a_namespace_that_pins_an_old_definition_is_held_to_it() -> None:
    denied = ask(plain(hostPID=True), {ENFORCE: "baseline", f"{ENFORCE}-version": "v1.24"})
    expected = f"{POD}.hostPID: Invalid value: true: must be false or not set: {ENFORCED} baseline of v1.24"
    assert jobs.faults(denied) == [expected]


def test_the_strictest_level_says_what_would_do() -> None:
    added = hardened()
    added["containers"][0]["securityContext"]["capabilities"]["add"] = ["SYS_PTRACE"]
    where = f"{MAIN}.securityContext.capabilities.add[0]"
    (restricted,) = jobs.faults(ask(added, {ENFORCE: "restricted"}))
    assert restricted.startswith(f'{where}: Invalid value: "SYS_PTRACE": must be NET_BIND_SERVICE, or not be set')
    (baseline,) = jobs.faults(ask(added, {ENFORCE: "baseline"}))
    assert baseline.startswith(f'{where}: Invalid value: "SYS_PTRACE": must be one of AUDIT_WRITE, CHOWN, ')


def test_what_only_some_versions_of_kubernetes_reject_is_reported() -> None:
    probed = plain()
    probed["containers"][0]["livenessProbe"] = {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}
    response = ask(probed, {ENFORCE: "baseline"})
    assert response.allowed
    (notice,) = reported(response)
    assert notice == (
        f"{MAIN}.livenessProbe.tcpSocket.host: must not be set: {ENFORCED} baseline; Kubernetes 1.34 and "
        "later would reject the pods"
    )


def test_what_the_namespace_warns_of_is_reported_and_not_rejected() -> None:
    response = ask(plain(), {ENFORCE: "baseline", WARN: "restricted"})
    assert response.allowed
    assert len(reported(response)) == 4
    assert reported(response)[0].endswith("must be false: namespace ada warns on Pod Security level restricted")


def test_what_the_namespace_only_logs_is_not_told() -> None:
    assert not reported(ask(plain(), {"pod-security.kubernetes.io/audit": "restricted"}))


def test_a_runtime_class_may_be_exempt() -> None:
    response = ask(plain(hostPID=True, runtimeClassName="kata"), {ENFORCE: "baseline"})
    assert response.allowed
    (notice,) = reported(response)
    assert notice.endswith('the pods would be rejected unless the API server exempts runtime class "kata"')


def test_a_volume_of_the_jobs_own_list_is_reported_once_where_it_stands() -> None:
    template = {"spec": plain()}
    tasks = [jobs.task("learner", template=template), jobs.task("collector", template=template)]
    volumes = [{"name": "host", "hostPath": {"path": "/var"}}]
    faults = [
        fault
        for fault in jobs.faults(asked(jobs.job(*tasks, volumes=volumes), {ENFORCE: "baseline"}))
        if "hostPath" in fault
    ]
    assert len(faults) == 1
    assert faults[0].startswith('spec.volumes[0].hostPath: Invalid value: "hostPath": hostPath volumes are not allowed')


def test_a_job_that_was_stored_before_its_namespace_was_held_to_a_level_can_be_changed() -> None:
    before = jobs.job(jobs.task("learner", template={"spec": plain()}, replicas=1))
    after = jobs.job(jobs.task("learner", template={"spec": plain()}, replicas=1), priority="high")
    response = asked(after, {ENFORCE: "restricted"}, old=before)
    assert not [fault for fault in jobs.faults(response) if "Pod Security" in fault]
    assert all("already stored" in notice for notice in reported(response))


@pytest.mark.parametrize("kind", built_in(), ids=lambda kind: kind.kind)
def test_every_kind_has_namespaces_watched(kind: JobKind) -> None:
    assert NAMESPACES in kind.watches
