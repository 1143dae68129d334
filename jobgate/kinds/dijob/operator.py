"""The profile of DI-orchestrator v1.1: how it creates and labels pods, and the variables that DI-engine reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.plugins import Member, Variable
from webhook.values import metadata_of, text

#: The capability of an operator that does not crash on a preemptible job.
PREEMPTIBLE = "dijobs/preemptible"


#: The container that runs the training.
MAIN_CONTAINER = "di-container"

_GROUP, _KIND = "diengine.opendilab.org", "DIJob"
_JOB, _TASK, _OPERATOR = "diengine/job", "diengine/task-name", "diengine/operator"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim of a pod. Its index is the end of its name, because the operator does not update annotations."""
    index = text(metadata_of(pod).get("name")).rpartition("-")[2]
    return labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)


def contract(member: Member) -> Iterator[Variable]:
    """Yield the variables of DI-orchestrator, for containers that it ignores, and for pods of other programs.

    DI-engine uses entry `DI_RANK` of `DI_NODES` as its own address. The operator continues from the highest existing
    rank, which is the index in the list only for the pods of a new job: other ranks are corrected.
    """
    crew = member.crew
    nodes: list[str] = []
    by_type: dict[str, list[str]] = {}
    for part in crew.parts:
        hosts = [f"{host}.{crew.namespace}.{crew.domain}" for host in crew.hosts(part)]
        nodes += hosts
        by_type.setdefault(part.type, []).extend(hosts)

    rank = str(member.rank)
    yield Variable("DI_JOB_ID", f"{crew.namespace}/{crew.name}")
    yield Variable("DI_RANK", rank, wrong=lambda value: value != rank)
    yield Variable("DI_NODES", ",".join(nodes))
    lists = {role: ",".join(hosts) for role, hosts in by_type.items()}  # tasks of a type share a list
    for part in crew.parts:
        yield Variable(f"DI_{part.variable}_NODES", lists[part.type])


MEMBERS = Members(
    selector={"matchLabels": {_OPERATOR: "di-operator"}},
    claim=claim,
    labels={_OPERATOR: "di-operator", _JOB: "{job}"},
    contract=contract,
    corrects=frozenset({"DI_RANK"}),
    deletes_any=True,
)

DI_ORCHESTRATOR = Operator(
    name="DI-orchestrator",
    minor=21,
    pod_name="{job}-{task}-{index}",
    service_name="di-{job}",
    overwrites={"restartPolicy": "Never"},
    replaces=("hostname", "subdomain"),
    drops_metadata=True,
    adds_volumes=True,
    capabilities=frozenset({PREEMPTIBLE.partition("/")[2]}),
    members=MEMBERS,
)
