"""Creates the kind of an entry."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from jobgate.configured.entry import Entry, MembersEntry
from jobgate.configured.kind import ConfiguredKind, ConfiguredSpec, tasks_of
from jobgate.configured.rules import CLAIMS, CONFIG_MAPS, SECRETS, derived_names_are_valid, own_rules, with_places
from jobgate.configured.schema import ConfiguredSchema
from jobgate.jobs.binding import REVIEWED, looked_up
from jobgate.jobs.crew import PLUGINS
from jobgate.jobs.job import SHARED_FIELDS, Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.members import Claim, Members, index_of, owners
from jobgate.jobs.operator import Operator
from jobgate.plugins.queueing import Queueing
from jobgate.rules.ignored import FIELDS
from jobgate.rules.shared import shared_rules
from webhook.values import labels_of, mapping, metadata_of

_GANG: Final = "min_available"
#: Shared rules that are replaced, or left out because the operators know queues themselves.
_INSTEAD: Final = {"derived_names_are_legal": (derived_names_are_valid,), "kueue_counts_pods_once": ()}


def configured(
    entry: Entry, version: str = "", *, crd: Mapping[str, Any] | None = None, enforced: bool = True
) -> ConfiguredKind:
    """Return the kind that an entry describes.

    Args:
        entry: the entry.
        version: one of its versions; by default the preferred one.
        crd: the CRD of the kind, if it is known.
        enforced: whether objects with faults are denied.
    """
    version = version or entry.versions[0]
    rules = (*shared_rules(_INSTEAD), *own_rules(entry))
    return ConfiguredKind(
        group=entry.group,
        version=version,
        kind=entry.kind,
        plural=entry.plural,
        spec=ConfiguredSpec,
        schema=ConfiguredSchema(entry, crd, version),
        view=Job,
        known_fields=SHARED_FIELDS,
        tasks=tasks_of,
        operator=_operator(entry),
        rules=tuple(map(with_places, rules)),
        watches=looked_up(rules),
        reads=(CLAIMS, CONFIG_MAPS, SECRETS),
        reviewed={"annotations": (*REVIEWED, PLUGINS), "labels": _labels(entry)},
        enforced=enforced,
        entry=entry,
    )


def versions_of(entry: Entry) -> Iterator[ConfiguredKind]:
    """Yield the kind of each version of an entry, the preferred first."""
    return (configured(entry, version) for version in entry.versions)


def installable(kinds: Iterable[JobKind], deny: Collection[str] = ()) -> list[JobKind]:
    """Return the kinds for a cluster: of configured ones the preferred version, which only warn if not in `deny`.

    The API server converts objects of other versions.

    Raises:
        ValueError: `deny` names another kind.
    """
    chosen = {kind.qualified_plural: kind for kind in reversed([*kinds])}
    known = [name for name, kind in chosen.items() if isinstance(kind, ConfiguredKind)]
    if unknown := sorted(set(deny) - set(known)):
        raise ValueError(f"--deny {unknown[0]}: must be a kind of --kinds: {', '.join(sorted(known)) or '(none)'}")
    return [
        replace(kind, enforced=name in deny) if isinstance(kind, ConfiguredKind) else kind
        for name, kind in reversed(chosen.items())
    ]


def _labels(entry: Entry) -> tuple[str, ...]:
    """Return the labels that rules read."""
    steps = [path.partition(".metadata.labels[")[2] for path in vars(entry.fields_).values() if path]
    return tuple(label.removesuffix("]") for label in steps if label)


def _operator(entry: Entry) -> Operator:
    operator = entry.operator
    return Operator(
        name=operator.name,
        minor=operator.minor,
        pod_name=operator.pod_name,
        overwrites=operator.overwrites,
        supports=FIELDS if entry.fields_.min_available else FIELDS - {_GANG},
        members=None if entry.members is None else _members(entry, entry.members),
    )


def _members(entry: Entry, members: MembersEntry) -> Members:
    keys = [key for key in (members.job, members.task) if key]
    return Members(
        selector={"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]},
        claim=partial(_claim, entry, members),
        labels={members.job: "{job}"},
        provides=frozenset({Queueing.name}),
    )


def _claim(entry: Entry, members: MembersEntry, pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim in the labels of a pod."""
    labels = labels_of(pod)
    job = labels.get(members.job)
    task = labels.get(members.task) if members.task else ""
    if not isinstance(job, str) or not isinstance(task, str):
        return None
    index = labels.get(members.index, mapping(metadata_of(pod).get("annotations")).get(members.index))
    owner = next(owners(pod, entry.group, entry.kind), {})
    return Claim(job, task, index_of(index), uid=str(owner.get("uid") or ""), owned=bool(owner))
