"""The rules of words that are spelled in two ways: the operator's own slips, and what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.operator import runs_here
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import CANONICAL_SPELLINGS
from webhook import Cause, Context, Forbidden, Job, Notice, Path, rule
from webhook.text import shown

_POLICY = "torch_elastic_policy"

#: The words with two spellings: the one that the operator reads, and the canonical one.
_SPELLINGS = (
    ("clen_pod_policy", "clean_pod_policy"),
    ("old_ttl_seconds_after_finished", "ttl_seconds_after_finished"),
    ("active_durations", "active_deadline_seconds"),
    (f"{_POLICY}.num_workers_per_node_policy", f"{_POLICY}.nproc_per_node"),
)
_OLD, _CANONICAL = zip(*_SPELLINGS, strict=True)


@rule(reads=(_POLICY,), quiet=_OLD)
def a_word_is_spelled_in_one_way(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator reads only one of two spellings, which may not be the one that the user changes."""
    for old, value, canonical, other in _words(job):
        if value is not None and other is not None:
            to = "" if value == other else f" to {shown(other)}"
            yield Forbidden(old, f"same field as {canonical}, which is also set{to}: remove one of them")


@rule(reads=(_POLICY,), quiet=_OLD)
def old_spellings_are_deprecated(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The old spellings stay valid, with a warning."""
    for old, value, canonical, other in _words(job):
        if value is not None and other is None:
            yield Notice(old, f"deprecated spelling: use {canonical.steps[-1]}")


@rule(reads=(_POLICY,), quiet=_CANONICAL)
def canonical_spellings_are_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """torch-on-k8s reads only the old spellings: a time limit in the canonical spelling has no effect."""
    if CANONICAL_SPELLINGS in context.settings.operator_can or runs_here(job, context):
        return
    for old, value, canonical, other in _words(job):
        if other is not None and value is None:
            yield Notice(
                canonical,
                f"torch-on-k8s reads only {old.steps[-1]}: use that spelling. If the operator reads this one, an "
                f"administrator declares that with the setting operator-can: [{CANONICAL_SPELLINGS}]",
            )


def _words(job: Job[TorchJobSpec]) -> Iterator[tuple[Path, Any, Path, Any]]:
    """Yield the places and values of each word that can be read in both spellings: the old one, and the canonical one.

    A value is None where the job does not have it.
    """
    for old, canonical in _SPELLINGS:
        if all(job.kind.plan.word(word).fits(job.spec) for word in (old, canonical)):
            yield job.at(old), job.word(old), job.at(canonical), job.word(canonical)


#: The rules, in the order in which a reader wants to know.
spelling_rules = (
    a_word_is_spelled_in_one_way,
    old_spellings_are_deprecated,
    canonical_spellings_are_read,
)
