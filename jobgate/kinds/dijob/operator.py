"""The profile of DI-orchestrator v1.1: what it makes of a DIJob, its labels of pods, and what DI-engine reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.plugins import Member, Variable
from webhook.values import metadata_of, text

#: What an installation says whose operator does not die of a preemptible job.
PREEMPTIBLE = "dijobs/preemptible"

#: The service account of DI-orchestrator as its own manifests install it: it writes back jobs without what it does not
#: know.
ACCOUNT = "system:serviceaccount:di-system:di-orchestrator"

#: The container that the operator takes for the one that trains.
MAIN_CONTAINER = "di-container"

_GROUP, _KIND = "diengine.opendilab.org", "DIJob"
_JOB, _TASK, _OPERATOR = "diengine/job", "diengine/task-name", "diengine/operator"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod of DI-orchestrator is. Its index is the end of its name: the annotations are not kept up."""
    index = text(metadata_of(pod).get("name")).rpartition("-")[2]
    return labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)


def contract(member: Member) -> Iterator[Variable]:
    """Yield what DI-orchestrator sets in containers, for those that it ignores, and for pods that it did not make.

    DI-engine takes the entry number `DI_RANK` of `DI_NODES` for its own address. The operator counts on from the
    highest rank that is there, which only for the pods of a new job is the place in the list: all others are corrected.
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
    lists = {role: ",".join(hosts) for role, hosts in by_type.items()}  # tasks of one type have the list in common
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
