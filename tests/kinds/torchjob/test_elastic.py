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
         [f"{POLICY}: Required value: must be set when spec.enableTorchElastic is true"]),
        (job(enableTorchElastic=True, torchElasticPolicy={"rendezvousEndpoint": ""}),
         [f"{POLICY}.numMinReplicas: Required value: must be set: the operator scales the workers between the "
          "two bounds",
          f"{POLICY}.numMaxReplicas: Required value: must be set: the operator scales the workers between the "
          "two bounds",
          f"{POLICY}.rendezvousBackend: Required value: must be the rendezvous backend, such as c10d",
          f"{POLICY}.rendezvousEndpoint: Required value: must be the rendezvous endpoint, as host:port"]),
        (job(**elastic(numMinReplicas=9)),
         [f"{POLICY}.numMinReplicas: Invalid value: 9: must be at most {POLICY}.numMaxReplicas, which is 8"]),
        (job(**elastic(numMinReplicas=0)), [f"{POLICY}.numMinReplicas: Invalid value: 0: must be at least 1"]),
        (job(tasks(task(1)), **elastic()),
         [f"{TASKS}[Worker].numTasks: Invalid value: 1: must be at least {POLICY}.numMinReplicas, which is 2"]),
        (job(tasks(task(9)), **elastic()),
         [f"{TASKS}[Worker].numTasks: Invalid value: 9: must be at most {POLICY}.numMaxReplicas, which is 8"]),
        (job({"Master": task()}, **elastic()),
         [f"{TASKS}[Worker]: Required value: an elastic job needs a Worker task"]),
        (job(**elastic(rendezvousBackend="zeus")),
         [f'{POLICY}.rendezvousBackend: Unsupported value: "zeus": supported values: "c10d", "etcd", "etcd-v2", "static"']),
        *((job(**elastic(rendezvousEndpoint=endpoint)), []) for endpoint in ("10.0.0.1:1", "[::1]:65535", "job-master-0")),
        *((job(**elastic(rendezvousEndpoint=endpoint)),
           [f'{POLICY}.rendezvousEndpoint: Invalid value: "{endpoint}": must be host:port with a port between '
            "1 and 65535, such as job-master-0:29400"])
          for endpoint in ("junk no port", "a:", ":1", "a:b", "a:0", "a:65536", "http://a:1", "a b:1")),
        (job(**elastic(rendezvousBackend="static", rendezvousEndpoint="a")),
         [f'{POLICY}.rendezvousEndpoint: Invalid value: "a": must be host:port with a port between 1 and '
          "65535, such as job-master-0:29400"]),
        (job(**elastic(nprocPerNode=0)), [f"{POLICY}.nprocPerNode: Invalid value: 0: must be at least 1"]),
        (job(name="j" * 54, **elastic(numMaxReplicas=11)),
         [f"{POLICY}.numMaxReplicas: Invalid value: 11: pods are named <job>-<task>-<index>, and names with such long indices exceed 63 characters: use a shorter job name"]),
        (job(name="j" * 54, **elastic(numMaxReplicas=10)), []),
        (job(tasks(AIMaster=task()), annotations={ANNOTATION: "true"}, **elastic()),
         [f"spec.enableTorchElastic: Forbidden: may not be set together with the annotation {ANNOTATION}: "
          '"true", which lets the AIMaster scale the job']),
        (job(tasks(AIMaster=task()), annotations={ANNOTATION: "false"}, **elastic()), []),
    ],
)  # fmt: skip
def test_an_elastic_job_can_be_scaled(document: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(document)) == expected


def test_bounds_that_cross_otherwise_than_stored_are_rejected() -> None:
    stored = job(**elastic(numMinReplicas=6, numMaxReplicas=5))
    assert faults(validate(job(backoffLimit=2, **elastic(numMinReplicas=6, numMaxReplicas=5)), stored)) == []
    assert faults(validate(job(**elastic(numMinReplicas=6, numMaxReplicas=4)), stored)) == [
        f"{POLICY}.numMinReplicas: Invalid value: 6: must be at most {POLICY}.numMaxReplicas, which is 4"
    ]


def test_a_scaler_that_doubles_past_the_upper_bound_is_rejected() -> None:
    stored, doubled = job(tasks(task(6)), **elastic()), job(tasks(task(12)), **elastic())
    assert faults(validate(job(tasks(task(8)), **elastic()), stored)) == []
    assert faults(validate(doubled, stored)) == [
        f"{TASKS}[Worker].numTasks: Invalid value: 12: must be at most {POLICY}.numMaxReplicas, which is 8"
    ]
