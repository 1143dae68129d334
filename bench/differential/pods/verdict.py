"""What we say: the structural schema of the CRD's pod template, and the rules on pods."""

from __future__ import annotations

from typing import Any

from bench.differential.pods.answer import Answer, PodFault
from bench.differential.pods.case import Pod, written
from crdgen.evaluate import Evaluator
from crdgen.podtemplate import load
from jobgate.kinds.common import pod as rules
from webhook.cause import Cause
from webhook.path import Path

# The template is in an object that has no metadata of its own, so that the schema prunes the template's.
_EVALUATOR = Evaluator({"type": "object", "properties": {"template": load()["PodTemplateSpec"]}})


def judge(pod: Pod) -> Answer:
    """Return our answer to the Pod: what the schema refuses, and what the rules refuse of the pruned Pod."""
    template, refused = _by_schema(pod)
    found = [PodFault(*finding, "schema") for finding in refused]
    causes = (notice for notice in rules.check(template, Path()) if isinstance(notice, Cause))
    found.extend(PodFault(str(cause.path), cause.message, "rules") for cause in causes)
    return Answer(tuple(found))


def _by_schema(pod: Pod) -> tuple[Any, list[tuple[str, str]]]:
    """Return the Pod as the API server would hand its template to us, and what the schema says against it."""
    held = _EVALUATOR.default(_EVALUATOR.prune({"template": pod}))
    violations = _EVALUATOR.validate(held)
    return held["template"], [(written(violation.path[1:]), violation.message) for violation in violations]
