"""What the commands `review`, `explain`, `audit` and `doctor` say."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crdgen.docs.editor import json_schemas
from crdgen.reading import Manifest, UnreadableManifest, read
from crdgen.reporting import Judged, Report, entries
from jobgate.cluster.client import Client
from jobgate.configured.catalogue import Catalogued
from jobgate.console.jobs import Jobs
from jobgate.console.reviews import difference
from jobgate.doctor import diagnose
from jobgate.doctor import document_of as findings_of
from jobgate.doctor.look import ServerAccess, look
from jobgate.installation.definitions import definition
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.offline.audit import Audited, ListedObjects, audit_stored, document_of
from jobgate.offline.explanation import explain
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.offline.results import notes_of, results_of
from webhook import Registry
from webhook.values import metadata_of, text

#: Most bytes of a text, most objects in it that are reviewed, and most stored jobs with findings that are shown.
BYTES, OBJECTS, JOBS = 256 * 1024, 50, 500


@dataclass(frozen=True)
class Trial:
    """Reviews texts by the settings of an installation."""

    kinds: Registry[CustomKind]
    settings: Settings

    def options(self, documents: Iterable[Mapping[str, Any]] = (), namespace: str = "default") -> ReviewOptions:
        """Return the options of a review; the documents are looked up by each other."""
        objects = FileObjects(documents, namespace, kinds=self.kinds)
        return ReviewOptions(Catalogued(self.kinds, {}), namespace=namespace, settings=self.settings, objects=objects)

    def review(self, written: str, namespace: str) -> dict[str, Any]:
        """Return the verdict on each object in a text."""
        started, report = time.monotonic(), Report("jobgate console", "object")
        manifests, errors = list[Manifest](), list[dict[str, Any]]()
        try:
            manifests = read(written.encode("utf-8", "replace"), "pasted")
        except UnreadableManifest as error:
            errors = [{"line": error.line, "column": error.column, "message": error.message}]
        options = self.options([manifest.object for manifest in manifests], namespace)
        report.items += [_judged(manifest, options, report) for manifest in manifests[:OBJECTS]]
        report.locate()
        shown = entries(report)
        for finding in (finding for entry in shown for finding in entry["findings"]):
            finding["message"] = finding["problem"]
        if (left := len(manifests) - OBJECTS) > 0:
            report.notes.append(f"{left} more objects are not reviewed")
        return {
            "milliseconds": round((time.monotonic() - started) * 1000, 1),
            "notes": report.notes,
            "errors": errors,
            "objects": shown,
        }

    @cached_property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of the kinds with CRDs of ours, by file name."""
        of_ours = [kind for kind in self.kinds if kind.resource is not None]
        return dict(named for kind in of_ours for named in json_schemas(definition(kind)))


def _judged(manifest: Manifest, options: ReviewOptions, report: Report) -> Judged:
    verdict = judge(manifest.object, options)
    report.notes += [note for note in notes_of(manifest, verdict) if note not in report.notes]
    explanation = explain(manifest.object, options) if verdict.allowed else None
    metadata = metadata_of(manifest.object)
    judged = Judged(manifest, "", results_of(manifest.object, verdict, options))
    judged.entry = {
        "line": manifest.line,
        "kind": manifest.object["kind"],
        "name": text(metadata.get("name")) or text(metadata.get("generateName")),
        "verdict": "denied" if not verdict.allowed else "allowed" if verdict.reviewed else "not reviewed",
        "diff": difference(manifest.object, verdict.document) if verdict.allowed and verdict.patch else None,
        "explanation": explanation.to_json() if explanation is not None else None,
    }
    return judged


async def audited(client: Client, jobs: Jobs, trial: Trial, namespace: str) -> dict[str, Any]:
    """Return what would be denied of the stored jobs, in a namespace or in all that are watched, by kinds."""
    looked_up = {name for kind in jobs.kinds for name in (*kind.watches, *kind.reads)}
    objects, unlisted = await ListedObjects.read(client, looked_up)
    found, missing = list[Audited](), list[str]()
    for place in (namespace,) if namespace else jobs.places:
        listing = client.within(place)
        more, missing, faults = await audit_stored(listing, jobs.kinds, trial.kinds, trial.settings, objects)
        found += more
        unlisted |= faults
    faulty = sorted((each for each in found if each.faults or each.notices), key=lambda each: not each.faults)
    return {
        **document_of(faulty[:JOBS], missing),
        "notListed": [{"what": what, "why": why} for what, why in unlisted.items()],
        "reviewed": len(found),
        "denied": sum(bool(each.faults) for each in found),
        "left": max(0, len(faulty) - JOBS),
    }


async def diagnosis(client: Client, trial: Trial, name: str, namespace: str) -> dict[str, Any]:
    """Return what `jobgate doctor` finds with the rights of the caller, without the settings: variables may be secret.

    Raises:
        CannotDiagnose: the installation cannot be examined.
    """
    observed, expected = await look(client, trial.kinds, {"name": name, "namespace": namespace}, ServerAccess())
    document = findings_of(diagnose(observed, expected), observed, expected)
    return {key: document[key] for key in ("healthy", "findings", "notChecked")}
