"""Policies at a real API server: what they say of a job is what the webhook says."""

from typing import Any

import pytest

from controlplane.client import Answer
from controlplane.plane import ControlPlane
from controlplane.policies import ALONE, BOTH, LABEL, install_policies
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.jobs.kind import JobKind
from tests.installation.test_twins import JOBS, by_policy, each_job, verdicts

WITHOUT = "without-policies"
_DISABLED = {"jobgate.dev/admission": "disabled"}
NAMESPACES = {WITHOUT: {}, ALONE: {**_DISABLED, LABEL: ALONE}, BOTH: {**_DISABLED, LABEL: BOTH}}


@pytest.fixture(scope="module")
def plane(controlplane: ControlPlane, webhook: InstalledWebhook) -> ControlPlane:
    """A control plane with a namespace for each way to review jobs."""
    for name, labels in NAMESPACES.items():
        controlplane.client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    install_policies(controlplane, webhook)
    # For each kind, a job that its policy denies.
    denied = (case for case in JOBS.values() if fits_but_is_denied(*case))
    faulty = {kind.kind: (kind, job) for kind, job in denied}
    wait_for(
        lambda: all(created(controlplane, *each, name)[0] == 422 for each in faulty.values() for name in NAMESPACES),
        what="the API server to follow the policies",
    )
    return controlplane


def fits_but_is_denied(kind: JobKind, job: dict[str, Any]) -> bool:
    """Whether the schema accepts a job, and the policy denies it."""
    after = by_policy(kind, kind.schema.prune(job))
    return kind.schema.fits(after) and bool(verdicts(kind, after)[1])


def created(plane: ControlPlane, kind: JobKind, job: dict[str, Any], namespace: str) -> Answer:
    """Create a job in a dry run."""
    path = f"/apis/{kind.gvk.api_version}/namespaces/{namespace}/{kind.plural}"
    metadata = {**job["metadata"], "namespace": namespace}
    return plane.client.post(path, {**job, "metadata": metadata}, {"dryRun": "All", "fieldValidation": "Ignore"})


@each_job
def test_a_job_is_stored_as_without_policies(plane: ControlPlane, kind: JobKind, job: dict[str, Any]) -> None:
    (status, with_policies), (expected, without) = (created(plane, kind, job, name) for name in (BOTH, WITHOUT))
    assert status == expected
    assert with_policies.get("spec") == without.get("spec")


@each_job
def test_policies_alone_do_what_they_say(plane: ControlPlane, kind: JobKind, job: dict[str, Any]) -> None:
    status, answer = created(plane, kind, job, ALONE)
    after = by_policy(kind, kind.schema.prune(job))
    if not kind.schema.fits(after):
        assert status == 422
        return
    denying, denied = verdicts(kind, after)
    assert (status == 422) is bool(denied), answer
    if status == 201:
        assert answer["spec"] == after["spec"]
    elif not denying - denied:
        assert created(plane, kind, job, WITHOUT)[0] == 422


@pytest.mark.parametrize(
    ("namespace", "more", "called"), [(WITHOUT, {}, 1), (BOTH, {}, 0), (BOTH, {"prerequisites": [{"name": "none"}]}, 1)]
)
def test_the_mutating_webhook_is_called_for_what_is_left(
    plane: ControlPlane, namespace: str, more: dict[str, Any], called: int
) -> None:
    kind, job = JOBS["dijob/minimal-0"]
    before = calls(plane)
    created(plane, kind, {**job, "spec": {**job["spec"], **more}}, namespace)
    assert calls(plane) - before == called


def calls(plane: ControlPlane) -> int:
    """Return the API server's count of calls of the mutating webhooks of DIJobs."""
    text = plane.client.get("/metrics")[1]["text"]
    sample = "apiserver_admission_webhook_admission_duration_seconds_count{"
    lines = [
        line for line in text.splitlines() if line.startswith(sample) and "dijobs.diengine.opendilab.org.mutate" in line
    ]
    return sum(int(float(line.rpartition(" ")[2])) for line in lines)


@pytest.mark.parametrize("value", ["text", 5, {"a": 1}, [5], [{"template": "text"}], [{"template": {"spec": []}}]])
def test_a_value_of_a_wrong_type_gets_the_answer_of_the_webhook(plane: ControlPlane, value: object) -> None:
    kind, job = JOBS["dijob/minimal-0"]
    wrong = {**job, "spec": {"tasks": value}}
    (status, answer), expected = (created(plane, kind, wrong, name) for name in (BOTH, WITHOUT))
    assert (status, answer["message"].partition("denied")[2]) == (
        expected[0],
        expected[1]["message"].partition("denied")[2],
    )
