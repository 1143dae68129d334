"""The review of pasted YAML: what `jobgate review` and `jobgate explain` say of it, with places and differences."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crdgen.docs.editor import json_schemas
from crdgen.reading import Manifest, UnreadableManifest, read
from crdgen.reporting import Judged, Report, entries
from jobgate.configured.catalogue import Catalogued
from jobgate.console.lines import difference
from jobgate.installation.definitions import definition
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.offline.explanation import explain
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.offline.results import notes_of, results_of
from webhook import Registry
from webhook.values import metadata_of, text

#: Most bytes of a text, and most objects in it that are reviewed.
BYTES, OBJECTS = 256 * 1024, 50


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
        started, report, errors = time.monotonic(), Report("jobgate console", "object"), list[dict[str, Any]]()
        manifests: list[Manifest] = []
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
            "status": 2 if errors else int(any(entry["verdict"] == "denied" for entry in shown)),
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
        "index": manifest.index,
        "line": manifest.line,
        "apiVersion": manifest.object["apiVersion"],
        "kind": manifest.object["kind"],
        "name": text(metadata.get("name")) or text(metadata.get("generateName")),
        "verdict": "denied" if not verdict.allowed else "allowed" if verdict.reviewed else "not reviewed",
        "diff": difference(manifest.object, verdict.document) if verdict.allowed and verdict.patch else None,
        "explanation": explanation.to_json() if explanation is not None else None,
    }
    return judged
