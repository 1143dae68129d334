"""The pods of Volcano Jobs: whose they are by their labels. Volcano carries out its plugins by itself."""

from typing import Any

import pytest

from jobgate.jobs.members import Claim
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flags import PLUGINS
from jobgate.kinds.vcjob.operator import MEMBERS, claim
from tests.kinds.vcjob.jobs import faults, job, task, template, validate
from tests.messages import compare
from tests.plugins.crews import drafted, of_job, pod

LABELS = {
    "volcano.sh/job-name": "spark",
    "volcano.sh/job-namespace": "team",
    "volcano.sh/task-spec": "driver",
    "volcano.sh/task-index": "2",
}
OWNER = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "spark", "uid": "1-2-3"}


@pytest.mark.parametrize(
    "labels, owners, expected",
    [
        ({}, [OWNER], Claim("spark", "driver", 2, uid="1-2-3", owned=True)),
        ({}, [OWNER | {"apiVersion": "batch/v1"}], Claim("spark", "driver", 2)),
        ({"volcano.sh/task-index": None}, [], Claim("spark", "driver", None)),
        ({"volcano.sh/task-spec": None}, [OWNER], None),
        ({"volcano.sh/job-name": 1}, [OWNER], None),
    ],
)
def test_whose_a_pod_is(labels: dict[str, Any], owners: Any, expected: Claim | None) -> None:
    assert claim({"metadata": {"labels": LABELS | labels, "ownerReferences": owners}}) == expected


def test_pods_are_known_by_labels_that_all_pods_of_volcano_jobs_have() -> None:
    keys = [expression["key"] for expression in MEMBERS.selector["matchExpressions"]]
    assert set(keys) <= LABELS.keys()
    assert of_job(VCJOB, job(task("driver"))).labels == {
        "volcano.sh/job-name": "job",
        "volcano.sh/job-namespace": "team",
    }


def test_volcano_sees_to_all_its_plugins_and_to_queues_itself() -> None:
    result = of_job(VCJOB, job(task("driver"), plugins={"env": [], "svc": [], "ssh": []}))
    assert set(result.plugins) == {"env", "svc", "ssh"}
    assert result.provided == {*PLUGINS, "queueing"}
    assert drafted(pod(), result, "driver").patch == []


MOUNTED = template(
    containers=[{"name": "main", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/etc//volcano/x"}]}],
    volumes=[{"name": "v", "emptyDir": {}}],
)
CLAIMED: dict[str, Any] = {"template": {"spec": {"containers": [{"name": "main", "image": "i"}], "volumes": [{"name": "job-svc", "emptyDir": {}}]}}}  # fmt: skip


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(task("driver", replicas=3), plugins={"svc": []}), []),
        (job(task("driver", **CLAIMED)), []),
        (job(task("driver", **CLAIMED), plugins={"svc": []}), ["spec.plugins[svc]: Forbidden"]),
        (job(task("driver", template=MOUNTED), plugins={"svc": []}), ["spec.plugins[svc]: Forbidden"]),
        (job(task("driver" + "r" * 45, replicas=10_000), plugins={"svc": ["--disable-network-policy"]}),
         ["spec.plugins[svc]: Forbidden"]),
    ],
)  # fmt: skip
def test_what_svc_makes_must_have_room(document: Any, expected: list[str]) -> None:
    compare("kinds/vcjob", faults(validate(document)), expected)


@pytest.mark.parametrize(
    "document, warning",
    [
        (job(task("driver", replicas=2, template=template(hostname="own")), plugins={"svc": []}),
         "spec.plugins[svc]: task driver sets hostname: all 2 pods have the host name own"),
        (job(task("driver", replicas=9000), plugins={"svc": []}), "are too large for the environment"),
    ],
)  # fmt: skip
def test_host_lists_that_help_nobody_are_a_warning(document: Any, warning: str) -> None:
    response = validate(document)
    assert (faults(response), len(response.warnings)) == ([], 1)
    assert warning in response.warnings[0]
