"""The rules of words that are spelled in two ways: the operator's own slips, and what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel

from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import CANONICAL_SPELLINGS
from webhook import Cause, Context, Forbidden, Job, Notice, Path, readable, rule
from webhook.text import shown


class Spelling(NamedTuple):
    """A word, by the attributes of the two fields that say it; the operator reads the old one."""

    old: str
    canonical: str


#: The words of a job, and of its elastic policy.
OF_JOBS = (
    Spelling("clen_pod_policy", "clean_pod_policy"),
    Spelling("old_ttl_seconds_after_finished", "ttl_seconds_after_finished"),
    Spelling("active_durations", "active_deadline_seconds"),
)
OF_ELASTIC_POLICIES = (Spelling("num_workers_per_node_policy", "nproc_per_node"),)


@rule(reads=("torch_elastic_policy",))
def a_word_is_spelled_in_one_way(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Of two spellings of one word the operator reads one, and not always the one that the user changes."""
    for part, path, spelling in _words(job):
        old, canonical = getattr(part, spelling.old), getattr(part, spelling.canonical)
        if old is not None and canonical is not None:
            place = path / _json_name(part, spelling.canonical)
            other = "" if old == canonical else f" to {shown(canonical)}"
            detail = f"same field as {place}, which is also set{other}: remove one of them"
            yield Forbidden(path / _json_name(part, spelling.old), detail)


@rule(reads=("torch_elastic_policy",))
def old_spellings_are_deprecated(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The old spellings stay valid, with a warning."""
    for part, path, spelling in _words(job):
        if getattr(part, spelling.old) is not None and getattr(part, spelling.canonical) is None:
            name = _json_name(part, spelling.canonical)
            yield Notice(path / _json_name(part, spelling.old), f"deprecated spelling: use {name}")


@rule(reads=("torch_elastic_policy",))
def canonical_spellings_are_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """torch-on-k8s reads the old spellings only: a time limit that it does not see must not be lost in silence."""
    if CANONICAL_SPELLINGS in context.settings.operator_can:
        return
    for part, path, spelling in _words(job):
        if getattr(part, spelling.canonical) is not None and getattr(part, spelling.old) is None:
            yield Notice(
                path / _json_name(part, spelling.canonical),
                f"torch-on-k8s reads only {_json_name(part, spelling.old)}: use that spelling. If the operator "
                "reads this one, an administrator declares that with the setting operator-can: "
                f"[{CANONICAL_SPELLINGS}]",
            )


def _words(job: Job[TorchJobSpec]) -> Iterator[tuple[BaseModel, Path, Spelling]]:
    """Yield each word that can be read in both spellings, with the part that holds it and where that stands."""
    yield from _readable_words(job.spec, Path("spec"), OF_JOBS)
    if job.spec.torch_elastic_policy is not None:
        yield from _readable_words(
            job.spec.torch_elastic_policy, Path("spec") / "torchElasticPolicy", OF_ELASTIC_POLICIES
        )


def _readable_words(
    part: BaseModel, path: Path, spellings: tuple[Spelling, ...]
) -> Iterator[tuple[BaseModel, Path, Spelling]]:
    for spelling in spellings:
        for _, one in readable([part], *spelling):
            yield one, path, spelling


def _json_name(part: BaseModel, attribute: str) -> str:
    return type(part).model_fields[attribute].alias or attribute


#: The rules, in the order in which a reader wants to know.
spelling_rules = (
    a_word_is_spelled_in_one_way,
    old_spellings_are_deprecated,
    canonical_spellings_are_read,
)
