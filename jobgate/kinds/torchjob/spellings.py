"""Rules for fields with two spellings: the operator's own misspellings, and the canonical spellings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import CANONICAL_SPELLINGS
from webhook import Cause, Forbidden, Notice, rule
from webhook.text import shown

_POLICY = "torch_elastic_policy"

#: The fields with two spellings: the operator's, and the canonical one.
_OF_JOB = (
    ("clen_pod_policy", "clean_pod_policy"),
    ("old_ttl_seconds_after_finished", "ttl_seconds_after_finished"),
    ("active_durations", "active_deadline_seconds"),
)
_OF_POLICY = (("num_workers_per_node_policy", "nproc_per_node"),)


@rule()
def a_word_is_spelled_in_one_way(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator reads only one of two spellings, which may not be the one that the user changes."""
    for old, old_value, canonical, value in _spellings(job):
        if old_value is not None and value is not None:
            to = "" if old_value == value else f" to {shown(value)}"
            yield Forbidden(
                job.at(old), f"same field as {job.at(canonical)}, which is also set{to}: remove one of them"
            )


@rule()
def old_spellings_are_deprecated(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The old spellings stay valid, with a warning."""
    for old, old_value, canonical, value in _spellings(job):
        if old_value is not None and value is None:
            yield Notice(job.at(old), f"deprecated spelling: use {job.at(canonical).steps[-1]}")


@rule()
def canonical_spellings_are_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """torch-on-k8s reads only the old spellings: a time limit in the canonical spelling has no effect."""
    if CANONICAL_SPELLINGS in context.settings.operator_can or runs_here(job, context):
        return
    for old, old_value, canonical, value in _spellings(job):
        if value is not None and old_value is None:
            yield Notice(
                job.at(canonical),
                f"torch-on-k8s reads only {job.at(old).steps[-1]}: use that spelling. If the operator reads this one, "
                f"an administrator declares that with the setting operator-can: [{CANONICAL_SPELLINGS}]",
            )


def _spellings(job: Job[TorchJobSpec]) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield each field whose two spellings are both readable: the old and the canonical one, each with its value."""
    spec = job.spec
    for part, prefix, spellings in ((spec, "", _OF_JOB), (spec.torch_elastic_policy, f"{_POLICY}.", _OF_POLICY)):
        read = {} if part is None else part.__dict__
        for old, canonical in spellings:
            if old in read and canonical in read:
                yield prefix + old, read[old], prefix + canonical, read[canonical]


#: The rules, in the order of the documentation.
spelling_rules = (
    a_word_is_spelled_in_one_way,
    old_spellings_are_deprecated,
    canonical_spellings_are_read,
)
