"""Quiet rules: what is not called for a plain job would find nothing in it, and every condition of that is needed."""

import marshal
from collections.abc import Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import replace
from functools import cache
from typing import Any
from zlib import crc32

import pytest

from crdgen.reading import read
from jobgate import plugins
from jobgate.jobs.binding import JobKind
from jobgate.jobs.prerequisites import NAMING
from jobgate.kinds import built_in, registry
from jobgate.kinds.vcjob.operator import QUEUES
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from jobgate.rules.pod_security import NAMESPACES
from tests.corpus import BROKEN, GOOD
from tests.kinds.reviews import request_of
from tests.podchecks.test_plain import ANYTHING, changed
from tests.rules.test_plain_jobs import parts
from webhook import Context, Job, Kind, NoObjects, Phase, Response, Rule, Settings, review
from webhook import rule as make_rule
from webhook.quiet import IMPOSED
from webhook.review import mutated

Json = dict[str, Any]
KINDS = {kind.kind: kind for kind in built_in() if isinstance(kind, JobKind)}

#: What words are set to: what rules of jobs tell apart, beside what is at the limits of anything.
VALUES: list[Any] = [
    *ANYTHING,
    *(
        "root",
        "default",
        "open",
        "learner",
        "a" * 63,
        "a" * 70,
        "a" * 254,
        [{"name": "x"}],
        [{"name": "x", "image": {"reference": "a"}}],
    ),
    *(2, 3, 5, 1000, 2_000_000, 2**31 - 1),
]
NAMES = ("a", "1-a", "a.b", "a" * 45, "a" * 63)


class Cluster:
    """A cluster with a namespace of a level, and queues of any name in a state; prerequisites are not known."""

    def __init__(self, level: str, state: str) -> None:
        self._objects = {
            NAMESPACES: {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}},
            QUEUES: {"status": {"state": state}} if state else None,
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        if resource not in self._objects:
            raise LookupError(resource)
        return self._objects[resource]


CLUSTERS = (NoObjects(), Cluster("privileged", "Open"), Cluster("restricted", "Closed"), Cluster("baseline", ""))
SETTINGS = (
    Settings(),
    Settings(runs=frozenset(kind.qualified_plural for kind in KINDS.values())),
    Settings(operator_can=frozenset(f"{kind.plural}/suspend" for kind in KINDS.values()) | {"dijobs/preemptible"}),
    Settings(plugins={Queueing.name: QueueingArguments(system=System.KUEUE)}),
)


@cache
def jobs(name: str) -> list[Json]:
    """Return the examples of a kind, good and broken, with their defaults."""
    kind, found = KINDS[name], []
    for file in (*GOOD, *BROKEN):
        for manifest in read(file.read_bytes(), file.name):
            document: Json = manifest.object
            if (document.get("apiVersion"), document.get("kind")) == (kind.gvk.api_version, kind.kind):
                found.append(mutated(kind, document, Context(namespace="default")).value)
    return found


def with_words(kind: JobKind, document: Json) -> Iterator[Json]:
    """Yield a job with each of its words, and each of its tasks' and templates', set to each value. It is always the same."""
    document = deepcopy(document)
    spec = document["spec"]
    shape = kind.schema.shape.below("spec")  # type: ignore[attr-defined]  # as of every built-in kind
    field = str(kind.plan.word(kind.parts).path).removeprefix("spec.")
    part = shape.below(field).below(0 if isinstance(spec[field], list) else "x")
    owners = [(document["metadata"], ("name", "generateName")), (spec, shape.node["properties"])]
    owners += [(one, part.node["properties"]) for one in parts(kind, document)]
    pod = part.below("template").below("spec").node["properties"]
    owners += [(one["template"]["spec"], pod) for one in parts(kind, document)]
    for owner, keys in owners:
        for key in keys:
            before, there = owner.get(key), key in owner
            for value in (*VALUES, *([[*before, *before]] if isinstance(before, list) else ())):
                owner[key] = value
                yield document
            owner.pop(key)
            yield document
            if there:
                owner[key] = before


def with_annotations(kind: JobKind, document: Json) -> Iterator[Json]:
    """Yield a job with annotations that rules read, in its own metadata and in that of its templates."""
    for key, text in (
        ("jobgate.dev/prerequisites", "data"),
        ("distributed.io/network-mode", "pod"),
        ("jobgate.dev/command", "Resume"),
        ("kubectl.kubernetes.io/last-applied-configuration", '{"spec": {"plugins": {"env": null}}}'),
    ):
        made = deepcopy(document)
        made["metadata"].setdefault("annotations", {})[key] = text
        yield made
    for labels in ({"a": "b"}, {}):
        made = deepcopy(document)
        for part in parts(kind, made):
            part["template"]["metadata"] = {"labels": labels, "annotations": {"jobgate.dev/prerequisites": "data"}}
        yield made


#: Fields of a spec, those of one kind or another, that mean something only together.
TOGETHER: list[Json] = [
    {"RuntimeId": "a"},
    {"clenPodPolicy": "All"},
    {"clenPodPolicy": "All", "cleanPodPolicy": "All"},
    {"TTLSecondsAfterFinished": 1, "ttlSecondsAfterFinished": 1},
    {"activeDurations": 1, "activeDeadlineSeconds": 1},
    {"torchElasticPolicy": {"numWorkersPerNodePolicy": 1, "nprocPerNode": 1}},
    {"torchElasticPolicy": {"nprocPerNode": 1}},
]


def with_more_changes(kind: JobKind, document: Json) -> Iterator[Json]:
    """Yield a job with changes that mean something only together."""
    made = deepcopy(document)
    for part in parts(kind, made):
        containers = part["template"]["spec"]["containers"]
        containers.append({**containers[0], "name": "another", "ports": []})
    yield made
    made = deepcopy(document)
    for part in parts(kind, made):
        part |= {"name": "", "type": "none"}
    yield made
    for words in TOGETHER:
        made = deepcopy(document)
        made["spec"] |= words
        for part in parts(kind, made):
            part.pop("PsRootPort", None)
            part["template"]["spec"]["containers"][0]["env"] = [{"name": "RANK"}, {"name": "DMLC_ROLE"}]
        yield made


def variants(name: str, step: int = 1) -> Iterator[Json]:
    """Yield the examples of a kind, and one in `step` of what becomes of them by changes."""
    kind = KINDS[name]
    yield from jobs(name)
    for document in filter(kind.plain, jobs(name)):
        yield from with_annotations(kind, document)
        yield from with_more_changes(kind, document)
        yield from sampled(with_words(kind, document), step)
        yield from sampled(changed(document), step * 5)


def sampled(documents: Iterator[Json], step: int) -> Iterator[Json]:
    """Yield one document in `step`: the same ones whatever stands before them, so that another value changes no other."""
    return (one for one in documents if crc32(marshal.dumps(one, 0)) % step == 0)


def contexts() -> Iterator[Context]:
    for place, settings in enumerate(SETTINGS):
        yield Context(
            namespace="default",
            name=NAMES[place % len(NAMES)],
            settings=settings,
            objects=CLUSTERS[place % len(CLUSTERS)],
            plugins=plugins.installed(),
        )


def answer(kind: Kind, document: Json, old: Json | None, settings: Settings, objects: Any) -> Response:
    return review(request_of(kind, document, old), Phase.VALIDATE, registry([kind]), settings, objects)


def with_all_rules(kind: JobKind) -> JobKind:
    """Return a kind of which no job is known to be plain, so that all rules are called."""
    made = copy(kind)
    object.__setattr__(made, "plain", lambda _: False)
    return made


@pytest.mark.parametrize("name", KINDS)
def test_defaults_add_nothing_where_they_say_so(name: str) -> None:
    kind, context = KINDS[name], Context(namespace="default")
    for document in variants(name, 11):
        if kind.plain(document) and kind.plan.quiet.defaulted(Job(kind, document, plain=True), context):
            assert mutated(kind, document, context).patch == []


@pytest.mark.parametrize("name", KINDS)
def test_the_verdict_is_that_of_all_rules(name: str) -> None:
    kind = KINDS[name]
    every, old = with_all_rules(kind), jobs(name)[0]
    plain = 0
    for place, document in enumerate(variants(name, 29)):
        if not kind.plain(document):
            continue
        plain += 1
        settings, objects = SETTINGS[place % len(SETTINGS)], CLUSTERS[place // 4 % len(CLUSTERS)]
        # The JSON of a request has no half characters.
        stored = old if place % 3 == 0 and "\\ud800" not in repr(document) else None
        expected = answer(every, document, stored, settings, objects)
        assert answer(kind, document, stored, settings, objects) == expected
    assert plain > 100, f"no {name} is plain: does a `quiet` or a default leave out the values of the examples?"


def quieter(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Yield a rule with each condition of its quiet left out, and a word for it."""
    for word in rule.without:
        left = tuple(one for one in rule.without if one != word)
        yield f"also with {word}", replace(rule, without=left) if left else replace(rule, without=(), quiet=always)
    for word, schema in (rule.values or {}).items():
        for keyword in schema:
            narrower = {key: value for key, value in schema.items() if key != keyword}
            yield f"{word} without {keyword}", replace(rule, values={**(rule.values or {}), word: narrower})
    if rule.quiet is not UNQUIET.quiet:
        yield "always", replace(rule, quiet=always)


def always(_: Job[Any], __: Context) -> bool:
    return True


UNQUIET = make_rule()(lambda _, __: ())


@cache
def faulty(name: str) -> Mapping[str, list[tuple[Json, Context]]]:
    """Return plain jobs, as far as no rule narrows that, by the name of each rule that finds something in them."""
    kind = KINDS[name]
    anything = replace(kind, rules=(), defaults=())
    rules = [rule for rule in kind.plan.rules if any(quieter(rule))]
    found: dict[str, list[tuple[Json, Context]]] = {rule.name: [] for rule in rules}
    for document in variants(name, 5):
        if not anything.plain(document) or "\\ud800" in repr(document):
            continue
        kept: Json = {}
        for context in contexts():
            job: Job[Any] = Job(kind, document)
            called = {rule.name for rule, _ in kind.plan.calls(job, whole=True, updates=False)}
            for rule in rules:
                if rule.name in called and len(found[rule.name]) < 500 and any(rule.check(job, context)):
                    kept = kept or deepcopy(document)
                    found[rule.name].append((kept, context))
    return found


#: What names prerequisites is judged where a cluster has them: tests/prerequisites/test_jobs.py shows it.
IN_A_CLUSTER = {*NAMING, IMPOSED}

#: By rule and condition, each kind that has it, with the rule without the condition.
CONDITIONS: dict[str, list[tuple[str, Rule]]] = {}
for _name, _kind in KINDS.items():
    for _rule in _kind.plan.rules:
        for _what, _made in quieter(_rule):
            if not _made.updates and _what.removeprefix("also with ") not in IN_A_CLUSTER:
                CONDITIONS.setdefault(f"{_made.name} {_what}", []).append((_name, _made))


def is_not_called(rule: Rule, name: str) -> Iterator[bool]:
    """Yield of each job of a kind in which a rule finds something whether the rule is quiet in it."""
    alone = replace(KINDS[name], rules=(rule,), defaults=())
    for document, context in faulty(name)[rule.name]:
        job: Job[Any] = Job(alone, document, plain=True)
        yield alone.plain(document) and not alone.plan.quiet.calls(job, context)


@pytest.mark.parametrize("name", KINDS)
def test_no_rule_is_quiet_in_a_job_in_which_it_finds_something(name: str) -> None:
    kind = KINDS[name]
    rules = [rule for rule in kind.plan.rules if rule.name in faulty(name)]
    assert [rule.name for rule in rules if any(is_not_called(rule, name))] == []


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_condition_of_quiet_is_needed(condition: str) -> None:
    if any(any(is_not_called(made, name)) for name, made in CONDITIONS[condition]):
        return
    if not any(faulty(name)[made.name] for name, made in CONDITIONS[condition]):
        pytest.fail("no job among the variants makes the rule find anything: add one to `with_more_changes`")
    pytest.fail("no job shows that the condition is needed")
