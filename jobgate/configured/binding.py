"""Creates the kind of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from jobgate.configured.entry import Entry, MembersEntry
from jobgate.configured.kind import ConfiguredKind, ConfiguredSpec, tasks_of
from jobgate.configured.rules import CLAIMS, CONFIG_MAPS, SECRETS, derived_names_are_valid, own_rules, with_places
from jobgate.configured.schema import ConfiguredSchema
from jobgate.jobs.binding import REVIEWED, looked_up
from jobgate.jobs.crew import PLUGINS
from jobgate.jobs.job import SHARED_FIELDS, Job
from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.plugins.queueing import Queueing
from jobgate.rules.ignored import FIELDS
from jobgate.rules.shared import shared_rules
from webhook.values import labels_of, mapping, metadata_of

#: Shared rules that are replaced, or left out because the operators know queues themselves.
_INSTEAD: Final = {"derived_names_are_legal": (derived_names_are_valid,), "kueue_counts_pods_once": ()}


def configured(entry: Entry, version: str = "") -> ConfiguredKind:
    """Return the kind that an entry describes, of one of its versions; by default of the preferred one."""
    version = version or entry.versions[0]
    rules = (*shared_rules(_INSTEAD), *own_rules(entry))
    paths = [path.partition(".metadata.labels[")[2] for path in entry.fields_.paths.values()]
    operator, members = entry.operator, entry.members
    return ConfiguredKind(
        group=entry.group,
        version=version,
        kind=entry.kind,
        plural=entry.plural,
        spec=ConfiguredSpec,
        schema=ConfiguredSchema(entry, None, version),
        view=Job,
        known_fields=SHARED_FIELDS,
        tasks=tasks_of,
        operator=Operator(
            name=operator.name,
            minor=int(operator.kubernetes.removeprefix("1.")),
            pod_name=operator.pod_name,
            overwrites=operator.overwrites,
            supports=FIELDS if entry.fields_.min_available else FIELDS - {"min_available"},
            members=None if members is None else _members(entry, members),
        ),
        rules=tuple(map(with_places, rules)),
        watches=looked_up(rules),
        reads=(CLAIMS, CONFIG_MAPS, SECRETS),
        reviewed={"annotations": (*REVIEWED, PLUGINS), "labels": tuple(path.rstrip("]") for path in paths if path)},
        entry=entry,
    )


def with_crd(kind: ConfiguredKind, crd: Mapping[str, Any]) -> ConfiguredKind:
    """Return a kind with the schema of its CRD."""
    return replace(kind, schema=ConfiguredSchema(kind.entry, crd, kind.version))


def _members(entry: Entry, members: MembersEntry) -> Members:
    return Members(
        selector={"matchExpressions": [{"key": key, "operator": "Exists"} for key in (members.job, members.task)]},
        claim=partial(_claim, entry, members),
        labels={members.job: "{job}"},
        provides=frozenset({Queueing.name}),
    )


def _claim(entry: Entry, members: MembersEntry, pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim in the labels of a pod."""
    index = labels_of(pod).get(members.index, mapping(metadata_of(pod).get("annotations")).get(members.index))
    return labelled_claim(pod, job=members.job, task=members.task, index=index, group=entry.group, kind=entry.kind)
