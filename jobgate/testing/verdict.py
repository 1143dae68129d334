"""What becomes of a write: as it is judged, and as a test expects it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from crdgen.cases.model import patched
from crdgen.reading import read
from jobgate.jobs.context import Settings
from jobgate.jobs.crew import crew_of
from jobgate.jobs.job import job_of
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.operator import operator_of
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins import Member, Pod, wire
from webhook import Draft, Operation, Registry
from webhook.values import difference_lines

#: An object: as YAML or JSON, as the file that has it, or as it is.
Source: TypeAlias = str | Path | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a write.

    Attributes:
        faults: why it is denied, as `kubectl` prints it: `spec.replicas: Invalid value: 0: must be at least 1`.
        warnings: the warnings that the user gets.
        changes: the changes of the spec and the labels before it is stored: `+ spec.replicas: 1`.
        document: the object as it is stored; if it is denied, as far as it came.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    changes: tuple[str, ...]
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Expected:  # noqa: PLW1641 - equality is a comparison with patterns
    """An expected outcome; it equals outcomes that have these texts, in any order, and no others.

    A text is a fault or a warning of a field: `field: words`, with any words of it. Without a field, any words count.
    """

    faults: tuple[str, ...]
    warnings: tuple[str, ...] | None

    def __eq__(self, other: object) -> bool:
        """Return whether an outcome is as expected."""
        return not list(self.differences(other)) if isinstance(other, Outcome) else NotImplemented

    def differences(self, outcome: Outcome) -> Iterator[str]:
        """Yield how an outcome differs."""
        yield from _differences("fault", self.faults, outcome.faults)
        if self.warnings is not None:
            yield from _differences("warning", self.warnings, outcome.warnings)


def allowed(*, warnings: Iterable[str] = ()) -> Expected:
    """Expect that a write is allowed, with these warnings and no others."""
    return Expected((), tuple(warnings))


def denied(*faults: str, warnings: Iterable[str] | None = None) -> Expected:
    """Expect that a write is denied for these faults and no others; with any warnings, if none are given."""
    assert faults, "name the faults for which it is denied"
    return Expected(faults, None if warnings is None else tuple(warnings))


def verdict(
    kind: CustomKind,
    source: Source,
    *,
    old: Source | None = None,
    context: Iterable[Source] = (),
    user: str = "",
    settings: Settings | None = None,
) -> Outcome:
    """Return what becomes of an object that is created, or that replaces an `old` one, without a cluster.

    Args:
        kind: the kind of the object.
        source: the object.
        old: the stored object, for an update.
        context: other objects of the cluster, which rules look up.
        user: the name of the user.
        settings: the settings of the installation.
    """
    document = loaded(source)
    kinds = Registry([kind])
    options = ReviewOptions(
        kinds=kinds,
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        user=user,
        settings=settings or Settings(),
        stored=() if old is None else (loaded(old),),
        objects=FileObjects(context=[each for source_ in context for each in _objects(source_)], kinds=kinds),
    )
    judged = judge(document, options)
    assert judged.reviewed, f"{document.get('apiVersion')} {document.get('kind')} is no object of {kind.kind}"
    return outcome(document, judged.document, judged.status, judged.warnings)


def pods(kind: JobKind, source: Source, settings: Settings | None = None) -> dict[str, dict[str, Any]]:
    """Return the first pod of each task of a job, by the name of the task, as the pod webhook changes it."""
    document = dict(verdict(kind, source, settings=settings).document)
    job = job_of(kind, document)
    operator = operator_of(job)
    crew = crew_of(job, "default", str(document["metadata"]["name"]), "uid")
    wired = {}
    for task in job.tasks:
        name = operator.task_name(task)
        draft = Draft(dict(operator.known(operator.pod(job, task))))
        wire(Pod(draft, Member(crew, next(part for part in crew.parts if part.name == name), 0)))
        wired[name] = draft.value
    return wired


def changed(source: Source, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with changes: null removes a field, and indexes change items, as `{"tasks": {0: {…}}}`."""
    result: dict[str, Any] = patched(loaded(source), changes)
    return result


def loaded(source: Source) -> dict[str, Any]:
    """Return an object, read as `kubectl` reads it."""
    objects = _objects(source)
    assert len(objects) == 1, f"{source} has {len(objects)} objects: give one"
    return objects[0]


def _objects(source: Source) -> list[dict[str, Any]]:
    if isinstance(source, Mapping):
        return [dict(source)]
    name, text = (str(source), source.read_bytes()) if isinstance(source, Path) else ("YAML", source.encode())
    return [manifest.object for manifest in read(text, name)]


def outcome(
    sent: Mapping[str, Any], document: Mapping[str, Any], status: Mapping[str, Any] | None, warnings: Iterable[str]
) -> Outcome:
    """Return the outcome of a review; `status` is the Status of a denial."""
    faults = []
    if status is not None:
        causes = status.get("details", {}).get("causes") or [{"message": status.get("message", "")}]
        faults = [": ".join(filter(None, (cause.get("field"), cause.get("message")))) for cause in causes]
    lines = difference_lines(_reviewed(sent), _reviewed(document))
    return Outcome(tuple(faults), tuple(warnings), tuple(f"{sign} {text}" for sign, text in lines), document)


def _reviewed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec and the labels: the rest is the API server's."""
    labels = (document.get("metadata") or {}).get("labels")
    return {"spec": document.get("spec"), **({"metadata": {"labels": labels}} if labels else {})}


def _differences(what: str, expected: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    left = list(texts)
    for wanted in expected:
        match = next((text for text in left if _matches(wanted, text)), None)
        if match is None:
            yield f"missing {what}: {wanted}"
        else:
            left.remove(match)
    yield from (f"unexpected {what}: {text}" for text in left)


def _matches(wanted: str, text: str) -> bool:
    field, colon, words = wanted.partition(": ")
    return text.startswith(f"{field}: ") and words in text if colon else wanted in text
