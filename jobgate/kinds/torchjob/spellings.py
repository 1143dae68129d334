"""The rules of words that are spelled in two ways: the operator's own slips, and what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

from jobgate.kinds.common.operator import runs_here
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import CANONICAL_SPELLINGS
from webhook import Cause, Context, Forbidden, Job, Notice, Path, readable, rule
from webhook.text import shown
from webhook.view import json_name

#: The words of a job, and of its elastic policy: the attribute that the operator reads, and the canonical one.
OF_JOBS = (
    ("clen_pod_policy", "clean_pod_policy"),
    ("old_ttl_seconds_after_finished", "ttl_seconds_after_finished"),
    ("active_durations", "active_deadline_seconds"),
)
OF_ELASTIC_POLICIES = (("num_workers_per_node_policy", "nproc_per_node"),)


class SpelledField(NamedTuple):
    """A field in one of its spellings; the value is None where the job does not have it."""

    path: Path
    name: str
    value: Any


_OLD = (*(old for old, _ in OF_JOBS), "torch_elastic_policy")
_CANONICAL = (*(canonical for _, canonical in OF_JOBS), "torch_elastic_policy")


@rule(reads=("torch_elastic_policy",), quiet=_OLD)
def a_word_is_spelled_in_one_way(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator reads only one of two spellings, which may not be the one that the user changes."""
    for old, canonical in _words(job):
        if old.value is not None and canonical.value is not None:
            other = "" if old.value == canonical.value else f" to {shown(canonical.value)}"
            yield Forbidden(old.path, f"same field as {canonical.path}, which is also set{other}: remove one of them")


@rule(reads=("torch_elastic_policy",), quiet=_OLD)
def old_spellings_are_deprecated(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The old spellings stay valid, with a warning."""
    for old, canonical in _words(job):
        if old.value is not None and canonical.value is None:
            yield Notice(old.path, f"deprecated spelling: use {canonical.name}")


@rule(reads=("torch_elastic_policy",), quiet=_CANONICAL)
def canonical_spellings_are_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """torch-on-k8s reads only the old spellings: a time limit in the canonical spelling has no effect."""
    if CANONICAL_SPELLINGS in context.settings.operator_can or runs_here(job, context):
        return
    for old, canonical in _words(job):
        if canonical.value is not None and old.value is None:
            yield Notice(
                canonical.path,
                f"torch-on-k8s reads only {old.name}: use that spelling. If the operator reads this one, an "
                f"administrator declares that with the setting operator-can: [{CANONICAL_SPELLINGS}]",
            )


def _words(job: Job[TorchJobSpec]) -> Iterator[tuple[SpelledField, SpelledField]]:
    """Yield the two fields of each word that can be read in both spellings: the old one, and the canonical one."""
    parts: list[tuple[BaseModel | None, Path, tuple[tuple[str, str], ...]]] = [
        (job.spec, Path("spec"), OF_JOBS),
        (job.spec.torch_elastic_policy, Path("spec") / "torchElasticPolicy", OF_ELASTIC_POLICIES),
    ]
    for part, path, spellings in parts:
        for old, canonical in spellings:
            for _, one in readable([part] if part is not None else (), old, canonical):
                fields = [(json_name(type(one), name), getattr(one, name)) for name in (old, canonical)]
                first, second = (SpelledField(path / name, name, value) for name, value in fields)
                yield first, second


#: The rules, in the order in which a reader wants to know.
spelling_rules = (
    a_word_is_spelled_in_one_way,
    old_spellings_are_deprecated,
    canonical_spellings_are_read,
)
