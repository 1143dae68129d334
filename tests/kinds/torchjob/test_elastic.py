"""The rules of elastic training."""

from typing import Any

import pytest

from tests.kinds.torchjob.jobs import TASKS, elastic, faults, job, task, tasks, validate

POLICY = "spec.torchElasticPolicy"
ANNOTATION = "distributed.io/enable-elastic-training"


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(enableTorchElastic=True),
         [f"{POLICY}: Required value: spec.enableTorchElastic needs bounds and a rendezvous"]),
        (job(enableTorchElastic=True, torchElasticPolicy={"rendezvousEndpoint": ""}),
         [f"{POLICY}.numMinReplicas: Required value: the operator scales between two bounds",
          f"{POLICY}.numMaxReplicas: Required value: the operator scales between two bounds",
          f"{POLICY}.rendezvousBackend: Required value: the workers find each other by it, as by c10d",
          f"{POLICY}.rendezvousEndpoint: Required value: the workers find each other there, as host:port"]),
        (job(**elastic(numMinReplicas=9)),
         [f"{POLICY}.numMinReplicas: Invalid value: 9: must be at most {POLICY}.numMaxReplicas, which is 8"]),
        (job(**elastic(numMinReplicas=0)), [f"{POLICY}.numMinReplicas: Invalid value: 0: must be at least 1"]),
        (job(tasks(task(1)), **elastic()),
         [f"{TASKS}[Worker].numTasks: Invalid value: 1: must be at least {POLICY}.numMinReplicas, which is 2"]),
        (job(tasks(task(9)), **elastic()),
         [f"{TASKS}[Worker].numTasks: Invalid value: 9: must be at most {POLICY}.numMaxReplicas, which is 8"]),
        (job({"Master": task()}, **elastic()),
         [f"{TASKS}[Worker]: Required value: an elastic job scales its workers: it has some"]),
        (job(**elastic(rendezvousBackend="zeus")),
         [f'{POLICY}.rendezvousBackend: Unsupported value: "zeus": supported values: "c10d", "etcd", "etcd-v2", "static"']),
        *((job(**elastic(rendezvousEndpoint=endpoint)), []) for endpoint in ("10.0.0.1:1", "[::1]:65535", "job-master-0")),
        *((job(**elastic(rendezvousEndpoint=endpoint)),
           [f'{POLICY}.rendezvousEndpoint: Invalid value: "{endpoint}": must be host:port, as job-master-0:29400, with a port '
            "between 1 and 65535"])
          for endpoint in ("junk no port", "a:", ":1", "a:b", "a:0", "a:65536", "http://a:1", "a b:1")),
        (job(**elastic(rendezvousBackend="static", rendezvousEndpoint="a")),
         [f'{POLICY}.rendezvousEndpoint: Invalid value: "a": must be host:port, as job-master-0:29400, with a port between 1 and '
          "65535"]),
        (job(**elastic(nprocPerNode=0)), [f"{POLICY}.nprocPerNode: Invalid value: 0: must be at least 1"]),
        (job(name="j" * 54, **elastic(numMaxReplicas=11)),
         [f"{POLICY}.numMaxReplicas: Invalid value: 11: pods are called <job>-<task>-<index>, and with so many the name is longer than 63: "
          "call the job something shorter"]),
        (job(name="j" * 54, **elastic(numMaxReplicas=10)), []),
        (job(tasks(AIMaster=task()), annotations={ANNOTATION: "true"}, **elastic()),
         [f'spec.enableTorchElastic: Forbidden: the annotation {ANNOTATION}: "true" has the AIMaster scale the job: use one of the two']),
        (job(tasks(AIMaster=task()), annotations={ANNOTATION: "false"}, **elastic()), []),
    ],
)  # fmt: skip
def test_an_elastic_job_can_be_scaled(document: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(document)) == expected


def test_bounds_that_cross_otherwise_than_stored_are_refused() -> None:
    stored = job(**elastic(numMinReplicas=6, numMaxReplicas=5))
    assert faults(validate(job(backoffLimit=2, **elastic(numMinReplicas=6, numMaxReplicas=5)), stored)) == []
    assert faults(validate(job(**elastic(numMinReplicas=6, numMaxReplicas=4)), stored)) == [
        f"{POLICY}.numMinReplicas: Invalid value: 6: must be at most {POLICY}.numMaxReplicas, which is 4"
    ]


def test_a_scaler_that_doubles_past_the_upper_bound_is_refused() -> None:
    stored, doubled = job(tasks(task(6)), **elastic()), job(tasks(task(12)), **elastic())
    assert faults(validate(job(tasks(task(8)), **elastic()), stored)) == []
    assert faults(validate(doubled, stored)) == [
        f"{TASKS}[Worker].numTasks: Invalid value: 12: must be at most {POLICY}.numMaxReplicas, which is 8"
    ]
