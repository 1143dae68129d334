"""Verdicts that are Volcano's own: what its webhook says of these jobs, ours says too."""

from typing import Any

import pytest

from tests.kinds.vcjob.jobs import faults, job, task, template, validate

PARTITIONS = {"totalPartitions": 2, "partitionSize": 2}
CPU = template(containers=[{"name": "main", "image": "busybox", "resources": {"limits": {"cpu": "2"}}}])


@pytest.mark.parametrize(
    "allowed, document",
    [
        (True, job(task("a"), policies=[{"event": "PodFailed", "events": ["PodFailed"], "action": "AbortJob"}])),
        (True, job(task("a"), policies=[{"exitCode": -1, "action": "RestartJob"}])),
        (True, job(task("a"), name="1.b")),
        (True, job(task("a", dependsOn={"name": ["b"]}), task("b"))),
        (True, job(task("a", 4, partitionPolicy=PARTITIONS, minAvailable=1))),
        (True, job(task("a", topologyPolicy="restricted", template=CPU))),
        (True, job(task("a"), networkTopology={"highestTierAllowed": 2, "highestTierName": ""})),
        (False, job(task("a"), policies=[{"events": ["*", "PodFailed"], "action": "AbortJob"}])),
        (False, job(task("a"), policies=[{"events": [], "action": "AbortJob"}])),
        (False, job(task("a", dependsOn={"name": ["a"]}))),
        (False, job(task("default1"), task())),
        (False, job(task("a", topologyPolicy="restricted"))),
        (False, job(task("a", 5, partitionPolicy=PARTITIONS))),
        (False, job(task("a"), networkTopology={"highestTierAllowed": 0, "highestTierName": "rack"})),
        (False, job(task("a"), plugins={"mpi": ["--foo", "--master=a"]})),
    ],
)
def test_the_verdict_is_volcanos(allowed: bool, document: dict[str, Any]) -> None:
    assert (not faults(validate(document))) is allowed
