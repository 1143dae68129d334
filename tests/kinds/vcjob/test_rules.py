"""The rules of a Volcano Job: cases that pass, cases that fail, the message that the user reads."""

from typing import Any

import pytest

from tests.kinds.vcjob.jobs import faults, job, task, template, validate
from tests.messages import compare

LABEL = "must consist of lower case letters, digits and '-', and begin and end with a letter or a digit"
SERVICE = "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or a digit"


def partitions(total: int, size: int, **fields: Any) -> dict[str, Any]:
    """Return a partition policy."""
    return {"totalPartitions": total, "partitionSize": size, **fields}


def resources(**resources: Any) -> dict[str, Any]:
    """Return a template whose container has these resources."""
    return template(containers=[{"name": "main", "image": "i", "resources": resources}])


def mounting(path: str) -> dict[str, Any]:
    """Return a template that mounts a volume of its own."""
    mounts = [{"name": "own", "mountPath": path}]
    return template(
        containers=[{"name": "main", "image": "i", "volumeMounts": mounts}], volumes=[{"name": "own", "emptyDir": {}}]
    )


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


@pytest.mark.parametrize(
    "case, document",
    [
        ("a task says least", job(task())),
        ("a task without pods", job(task(replicas=None), task())),
        ("a name with dots", job(task("a"), name="my.job")),
        ("a name as long as its pods allow", job(task("t"), name="j" * 59)),
        ("a privileged container", job(task(template=template(containers=[
            {"name": "m", "image": "i", "securityContext": {"privileged": True}}])))),
        ("fewer pods than all", job(task("a", 5, minAvailable=2), minAvailable=2)),
        ("partitions that hold all pods", job(task("a", 6, partitionPolicy=partitions(3, 2)))),
        ("some of its partitions", job(task("a", 6, partitionPolicy=partitions(3, 2, minPartitions=2)))),
        ("as many pods as its partitions", job(
            task("a", 6, minAvailable=4, partitionPolicy=partitions(3, 2, minPartitions=2)))),
        ("a tier by its number", job(task(), networkTopology={"mode": "soft", "highestTierAllowed": 2})),
        ("a tier by its name", job(task(), networkTopology={"highestTierName": "rack"})),
        ("whole CPUs by requests", job(task(topologyPolicy="restricted", template=resources(requests={"cpu": "2"})))),
        ("whole CPUs by limits", job(task(topologyPolicy="restricted", template=resources(limits={"cpu": "2000m"})))),
        ("no policy of CPUs", job(task(topologyPolicy="none", template=resources(requests={"cpu": "1500m"})))),
        ("an existing claim", job(task(), volumes=[{"mountPath": "/data", "volumeClaimName": "data"}])),
        ("a claim to be made", job(task(), volumes=[{"mountPath": "/data", "volumeClaim": CLAIM}])),
        ("a mount beside the job's", job(task(template=mounting("/own")),
                                         volumes=[{"mountPath": "/data", "volumeClaimName": "data"}])),
        ("a policy for any event", job(task(), policies=[{"event": "*", "action": "RestartJob"}])),
        ("a task that waits", job(task("a"), task("b", dependsOn={"name": ["a"]}), minAvailable=1)),
        ("a queue and a class", job(task(), queue="research", priorityClassName="high")),
    ],
)  # fmt: skip
def test_what_is_sound_is_allowed(case: str, document: dict[str, object]) -> None:
    assert faults(validate(document)) == [], case


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(), ["spec.tasks: Invalid value"]),
        (job(task("a"), task("a")), ["spec.tasks[1].name: Duplicate value"]),
        (job(task("A_b")), ["spec.tasks[0].name: Invalid value"]),
        (job(task("a"), task("")), ["spec.tasks[1].name: Required value"]),
        (job(task("t" * 64)), ["spec.tasks[0].name: Too long"]),
        (job(task("t"), name="j" * 60), ["metadata.name: Too long"]),
        (job(task("t", 1001), name="j" * 58), ["metadata.name: Too long"]),
        (job(task("a", -1)), ["spec.tasks[0].replicas: Invalid value"]),
        (job(task(), networkTopology={"highestTierAllowed": 0, "highestTierName": "rack"}),
         ["spec.networkTopology.highestTierName: Forbidden"]),
        (job(task("a", 2, partitionPolicy=partitions(1, 2, networkTopology={"highestTierAllowed": 1, "highestTierName": "r"}))),
         ["spec.tasks[0].partitionPolicy.networkTopology.highestTierName: Forbidden"]),
        (job(task("a", 5, partitionPolicy=partitions(3, 2))), ["spec.tasks[0].replicas: Invalid value"]),
        (job(task("a", 6, partitionPolicy=partitions(3, 2, minPartitions=4))),
         ["spec.tasks[0].partitionPolicy.minPartitions: Invalid value"]),
        (job(task("a", 6, partitionPolicy=partitions(2**16, 2**16, minPartitions=2**15))),
         ["spec.tasks[0].partitionPolicy.partitionSize: Invalid value"]),
        (job(task("a", 6, minAvailable=5, partitionPolicy=partitions(3, 2, minPartitions=2))),
         ["spec.tasks[0].minAvailable: Invalid value"]),
        (job(task("a", 6, partitionPolicy=partitions(0, 2))),
         ["spec.tasks[0].partitionPolicy.totalPartitions: Invalid value"]),
        (job(task(topologyPolicy="restricted", template=resources(requests={"cpu": "1500m"}))),
         ["spec.tasks[0].template.spec.containers[0].resources.requests[cpu]: Invalid value"]),
        (job(task(topologyPolicy="best-effort", template=resources(limits={"cpu": "0"}))),
         ["spec.tasks[0].template.spec.containers[0].resources.limits[cpu]: Invalid value"]),
        (job(task(topologyPolicy="restricted", template=resources(requests={"memory": "1Gi"}, limits={"cpu": "1"}))),
         ["spec.tasks[0].template.spec.containers[0].resources.requests[cpu]: Required value"]),
        (job(task(topologyPolicy="restricted", template=template(
            containers=[{"name": "m", "image": "i", "resources": {"limits": {"cpu": 1}}}],
            initContainers=[{"name": "n", "image": "i"}]))),
         ["spec.tasks[0].template.spec.initContainers[0].resources.requests[cpu]: Required value"]),
        (job(task("a"), runningEstimate="soon"), ["spec.runningEstimate: Invalid value"]),
        (job(task("a", topologyPolicy="near")), ["spec.tasks[0].topologyPolicy: Unsupported value"]),
        (job(task(template=template(restartPolicy="Sometimes"))),
         ["spec.tasks[0].template.spec.restartPolicy: Unsupported value"]),
        (job(task(), queue=""), ["spec.queue: Required value"]),
        (job(task(), schedulerName=""), ["spec.schedulerName: Required value"]),
        (job(task(), queue="root"), ["spec.queue: Forbidden"]),
        (job(task(), queue="q" * 64), ["spec.queue: Too long"]),
    ],
)  # fmt: skip
def test_what_is_not_is_rejected_with_every_fault(document: dict[str, object], expected: list[str]) -> None:
    compare("kinds/vcjob", faults(validate(document)), expected)


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(task("a", 2**31 - 1), task("b")), ["spec.tasks[0].replicas: Invalid value: 2147483647"]),
        (job(task("a", 1, minAvailable=2)),
         ["spec.minAvailable: Invalid value: 2", "spec.tasks[0].minAvailable: Invalid value: 2"]),
        (job(task("a", 2), minAvailable=3), ["spec.minAvailable: Invalid value: 3"]),
        (job(task(), policies=[{"event": "PodFailed", "exitCode": 1, "action": "AbortJob"}]),
         ["spec.policies[0].exitCode: Forbidden"]),
        (job(task(), policies=[{"event": "PodRunning", "action": "AbortJob"}]),
         ['spec.policies[0].event: Unsupported value: "PodRunning"']),
        (job(task(), policies=[{"event": "PodFailed"}]), ["spec.policies[0].action: Required value"]),
        (job(task("a", policies=[{"exitCode": 0, "action": "AbortJob"}])),
         ["spec.tasks[0].policies[0].exitCode: Invalid value: 0"]),
        (job(task("a", dependsOn={"name": ["b", "b"]}), task("b", dependsOn={"name": ["a", "c"]})),
         ['spec.tasks[1].dependsOn.name[1]: Not found: "c"', 'spec.tasks[0].dependsOn.name[1]: Duplicate value: "b"',
          'spec.tasks[1].dependsOn.name[0]: Invalid value: "a"']),
        (job(task("a", dependsOn={"name": ["a"]})), ['spec.tasks[0].dependsOn.name[0]: Invalid value: "a"']),
        (job(task(), priorityClassName="High"), ['spec.priorityClassName: Invalid value: "High"']),
    ],
)  # fmt: skip
def test_the_rules_of_all_kinds_are_held(document: dict[str, object], expected: list[str]) -> None:
    """The messages have tests of their own."""
    reported = faults(validate(document))
    assert len(reported) == len(expected), reported
    assert all(fault.startswith(beginning) for fault, beginning in zip(reported, expected, strict=True)), reported


def test_a_gang_that_its_dependencies_keep_from_starting_is_a_warning() -> None:
    response = validate(job(task("a"), task("b", dependsOn={"name": ["a"]})))
    assert faults(response) == []
    assert [warning for warning in response.warnings if warning.startswith("spec.minAvailable: ")]


@pytest.mark.parametrize(
    "volumes, expected",
    [
        ([{"mountPath": ""}], ["spec.volumes[0].mountPath: Invalid value", "spec.volumes[0]: Required value"]),
        ([{"volumeClaimName": "a"}], ["spec.volumes[0].mountPath: Required value"]),
        ([{"mountPath": "/a", "volumeClaimName": "a"}, {"mountPath": "/a", "volumeClaimName": "b"}],
         ["spec.volumes[1].mountPath: Duplicate value"]),
        ([{"mountPath": "/a"}], ["spec.volumes[0]: Required value"]),
        ([{"mountPath": "/a", "volumeClaimName": "a", "volumeClaim": CLAIM}],
         ["spec.volumes[0].volumeClaimName: Forbidden"]),
        ([{"mountPath": "/a", "volumeClaimName": "A"}], ["spec.volumes[0].volumeClaimName: Invalid value"]),
        ([{"mountPath": "/own", "volumeClaimName": "a"}],
         ["spec.tasks[0].template.spec.containers[0].volumeMounts[0].mountPath: Duplicate value"]),
    ],
)  # fmt: skip
def test_volumes_are_claims_at_places_of_their_own(volumes: list[Any], expected: list[str]) -> None:
    compare("kinds/vcjob", faults(validate(job(task(template=mounting("/own")), volumes=volumes))), expected)


def test_a_claim_that_the_api_server_would_reject_is_rejected() -> None:
    reported = faults(validate(job(task(), volumes=[{"mountPath": "/a", "volumeClaim": {"accessModes": ["Some"]}}])))
    assert [fault.split(": ")[:2] for fault in reported] == [
        ["spec.volumes[0].volumeClaim.accessModes[0]", "Unsupported value"],
        ["spec.volumes[0].volumeClaim.resources.requests[storage]", "Required value"],
    ]


def test_a_claim_is_mounted_once() -> None:
    volumes = [{"mountPath": "/a", "volumeClaimName": "data"}, {"mountPath": "/own", "volumeClaimName": "data"}]
    response = validate(job(task(template=mounting("/own")), volumes=volumes))
    assert (faults(response), response.warnings) == (
        [],
        ["spec.volumes[1].volumeClaimName: not mounted: a claim is mounted once, and spec.volumes[0] comes first"],
    )


@pytest.mark.parametrize(
    "name, words, expected",
    [
        ("0job", {"plugins": {"env": []}}, []),
        ("0job", {"plugins": {"ssh": []}}, []),
        ("0job", {"plugins": {"svc": []}}, ["metadata.name: Invalid value"]),
        ("0job", {"plugins": {"tensorflow": []}}, ["metadata.name: Invalid value"]),
        ("a.b", {"plugins": {"ssh": []}}, ["metadata.name: Invalid value"]),
        ("j" * 51, {"volumes": [{"mountPath": "/a", "volumeClaimName": "a"}]}, ["metadata.name: Too long"]),
        ("j" * 55, {"plugins": {"ray": ["--head=t"]}}, ["metadata.name: Too long"]),
    ],
)  # fmt: skip
def test_what_is_called_by_the_job_can_be_called_so(name: str, words: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/vcjob", faults(validate(job(task("t"), name=name, **words))), expected)


def test_a_generated_name_leaves_room_for_its_suffix() -> None:
    document = job(task("t"), metadata={"generateName": "g" * 50 + "-"}, plugins={"ray": ["--head=t"]})
    assert faults(validate(document)) == [
        f'metadata.generateName: Too long: "{"g" * 50}-": may not be more than 49 characters: plugin ray '
        "creates a Service named <job>-head-svc, which may have at most 63 characters"
    ]


def test_a_task_without_pods_is_a_warning() -> None:
    assert (
        "spec.tasks[1].replicas: the task has no pods: set at least 1"
        in validate(job(task("a"), task("b", None))).warnings
    )


@pytest.mark.parametrize("wanted, reported", [(1, False), (3, False), (4, True)])
def test_more_successes_than_pods_are_a_warning(wanted: int, reported: bool) -> None:
    response = validate(job(task("a", 1), task("b", 2), minSuccess=wanted))
    warning = "spec.minSuccess: must be at most 3, the total replicas of all tasks"
    assert (faults(response), response.warnings) == ([], [warning] if reported else [])
