"""The objects of a file of OpenPAI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from jobgate import podchecks
from jobgate.importing.document import documents
from jobgate.importing.item import CLUSTER, prerequisite
from jobgate.importing.job import ImportedKind, jobs
from jobgate.importing.notes import Notes, OutputBudget, length, word
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from webhook import Cause, Path


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported job or marketplace item.

    Attributes:
        where: the file, and the position in it.
        objects: the objects, in the order in which they must be applied.
        changes: each change and its reason, in a sentence.
        faults: the parts that cannot be imported; if there are any, the objects must not be used.
    """

    where: str
    objects: tuple[dict[str, Any], ...]
    changes: tuple[str, ...]
    faults: tuple[str, ...]


def imported(text: str, file: str, target: ImportedKind | None = None) -> Iterator[Imported]:
    """Import the jobs and items of a YAML text; `file` is for messages, and names a job without a name.

    Raises:
        InvalidDocument: the text is not valid YAML, or contains something else.
    """
    budget, options = OutputBudget(text, file), ReviewOptions(kinds=installed())
    for where, entry in documents(text, file):
        budget.spend(len(where))
        notes = Notes(budget)
        if word(entry, "task_roles") is not None:
            objects = tuple(jobs(entry, PurePath(file).stem, target, notes))
        else:
            objects = (_item(entry, notes),)
        budget.spend(sum(map(length, objects)))
        for document in objects if not notes.faults else ():
            for fault in _denials(document, options):
                notes.fault(f"{document['kind']} {document['metadata']['name']}", fault)
        yield Imported(where, objects, tuple(notes.changes), tuple(notes.faults))


def _denials(document: dict[str, Any], options: ReviewOptions) -> Iterator[str]:
    """Yield the reasons why a cluster would deny an object or its pods."""
    if document["kind"] == ImportedKind.JOB:
        findings = podchecks.check(document["spec"]["template"], Path("spec") / "template")
        return (str(finding) for finding in findings if isinstance(finding, Cause))
    status = judge(document, options).status
    causes = status["details"]["causes"] if status else ()
    return (f"{cause['field']}: {cause['message']}" for cause in causes)


def _item(entry: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    name = notes.name(entry.get("name"), "name")

    def marketplace(written: str) -> Mapping[str, str]:
        """Return the marketplace item with this name: an item has no job that could define another."""
        return {"kind": CLUSTER, "name": notes.name(written, "require")}

    return prerequisite(entry, CLUSTER, name, name, notes, marketplace)
