"""Compares our verdict on a CustomResourceDefinition with the API server's."""

import http.client
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from controlplane import ClusterApi
from crdgen.lint import Finding, Severity, lint
from tests.differential.crds.cases import Case

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_COST = re.compile(r"exceeds budget|cost limit")
_UNKNOWN = "field-is-known"
_COSTLY = "rules-are-cheap"
# If all versions agree, the API server stores schema, columns and similar fields once, and reports faults there.
_SHARED = re.compile(r"^spec\.(validation|subresources|additionalPrinterColumns|selectableFields)\b")


@dataclass(frozen=True)
class Answer:
    """The API server's response to a dry-run create."""

    accepted: bool
    messages: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def is_about_cost(self) -> bool:
        """Whether it rejects only the cost of rules."""
        return not self.accepted and all(_COST.search(message) for message in self.messages)


Oracle = Callable[[Any, bool], Answer]


@dataclass(frozen=True)
class Comparison:
    """Both verdicts on a case, with strict or lenient decoding."""

    case: Case
    strict: bool
    answer: Answer
    findings: list[Finding] = field(repr=False)

    @property
    def rejected(self) -> list[Finding]:
        """Our errors: what the API server rejects according to us."""
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]

    @property
    def agrees(self) -> bool:
        """Whether the verdicts agree; if only the cost is wrong, a warning about it is required."""
        if self.answer.is_about_cost:
            return any(finding.rule == _COSTLY for finding in self.findings)
        return (not self.rejected) == self.answer.accepted

    @property
    def names_the_place(self) -> bool:
        """Whether a finding is at a path that the API server reports, or above or below it."""
        reported = [_SHARED.sub(lambda match: _PLACES[match[1]], place) for place in self.answer.fields]
        paths = [re.sub(r"versions\[\d+\]", "versions[0]", finding.path) for finding in self.rejected]
        return any(place.startswith(path) or path.startswith(place) for place in reported for path in paths if path)

    def __str__(self) -> str:
        how = "strictly" if self.strict else "leniently"
        ours = [f"{finding.path}: {finding.problem} [{finding.rule}]" for finding in self.rejected]
        return (
            f"{self.case.name} ({how})\n  API server: {'accepted' if self.answer.accepted else self.answer.messages[:2]}"
            f"\n  linter: {ours[:3] or 'accepted'}"
        )


_PLACES = {
    "validation": "spec.versions[0].schema",
    "subresources": "spec.versions[0].subresources",
    "additionalPrinterColumns": "spec.versions[0].additionalPrinterColumns",
    "selectableFields": "spec.versions[0].selectableFields",
}


def asking(api: ClusterApi) -> Oracle:
    """Return an oracle that asks a running API server."""

    def ask(definition: Any, strict: bool) -> Answer:
        parameters = {"dryRun": "All", "fieldValidation": "Strict" if strict else "Ignore"}
        try:
            status, answer = api.post(_CRDS, definition, parameters)
        except http.client.HTTPException as error:
            # It panics for some paths below untyped maps, and closes the connection.
            return Answer(accepted=False, messages=(f"no answer: {error}",))
        # A conflict is detected after validation: a test may have installed the same kind.
        if status in {201, 409}:
            return Answer(accepted=True)
        causes = answer.get("details", {}).get("causes", [])
        messages = [cause.get("message", "") for cause in causes] or [answer.get("message", "")]
        return Answer(False, tuple(messages), tuple(cause.get("field", "") for cause in causes))

    return ask


def compare(cases: Iterable[Case], oracle: Oracle) -> Iterator[Comparison]:
    """Compare each case with strict decoding, as kubectl requests; also with lenient decoding if that matters."""
    for case in cases:
        findings = lint(case.definition)
        yield Comparison(case, strict=True, answer=oracle(case.definition, True), findings=findings)
        if any(finding.rule == _UNKNOWN for finding in findings):
            lenient = lint(case.definition, strict=False)
            yield Comparison(case, strict=False, answer=oracle(case.definition, False), findings=lenient)
