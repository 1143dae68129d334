"""The labels and annotations of jobs that something uses: an update that changes one of them is reviewed."""

from collections.abc import Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from traceback import extract_stack
from typing import Any

import pytest

from crdgen.reading import read as read_file
from jobgate.controller.desired import desired
from jobgate.jobs.context import Context, Settings
from jobgate.jobs.erased import APPLIED
from jobgate.jobs.kind import JobKind
from jobgate.jobs.policies import COMMAND, USER_ACTIONS
from jobgate.jobs.prerequisites import wanted
from jobgate.jobs.status import taken_over
from jobgate.kinds import built_in
from jobgate.plugins import Crew
from jobgate.plugins.queueing import Grouping, System
from jobgate.pods import digest_of
from jobgate.prerequisites.reference import ANNOTATION
from jobgate.runner.plan import plan
from jobgate.runner.rendering import rendered
from jobgate.runner.subject import Observed, read
from tests.corpus import GOOD
from tests.kinds.reviews import request_of
from tests.prerequisites.items import Granted, Known, item, starts
from webhook import Phase, Registry, review
from webhook.review import defaulted

Json = dict[str, Any]
KINDS = {kind.kind: kind for kind in built_in() if isinstance(kind, JobKind)}

#: By this one kubectl remembers a file: it only gives a warning, and changes with nearly every apply.
ONLY_WARNS = {("annotations", APPLIED)}
ITEMS = Known([item("a", cmd=starts("ls"))])
SETTINGS = [Settings(), Settings(runs=frozenset(kind.qualified_plural for kind in KINDS.values()))]


#: Functions that check metadata, or copy it.
MAY_GO_THROUGH = {"_field_causes", "_parts", "taken_over", "_own"}


class Recording(dict[str, Any]):
    """Labels or annotations that record which keys are read; `*` where all are gone through."""

    def __init__(self, values: Mapping[str, Any], field: str, used: set[tuple[str, str]]) -> None:
        super().__init__(values)
        self._field, self._used = field, used

    def get(self, key: str, default: Any = None) -> Any:
        self._used.add((self._field, key))
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._used.add((self._field, key))
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._used.add((self._field, str(key)))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._all()
        return super().__iter__()

    def keys(self) -> Any:
        self._all()
        return super().keys()

    def items(self) -> Any:
        self._all()
        return super().items()

    def values(self) -> Any:
        self._all()
        return super().values()

    def _all(self) -> None:
        callers = {frame.name for frame in extract_stack(limit=4)}
        if callers.isdisjoint(MAY_GO_THROUGH):
            self._used.add((self._field, "*"))

    def __deepcopy__(self, _: Any) -> "Recording":
        return self


def examples(kind: JobKind) -> Iterator[Json]:
    for file in GOOD:
        for manifest in read_file(file.read_bytes(), file.name):
            if manifest.object.get("apiVersion") == kind.gvk.api_version and manifest.object["kind"] == kind.kind:
                yield manifest.object


def used_by(kind: JobKind, document: Json, annotations: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the labels and annotations of a job that anything reads which acts on it, or reviews it."""
    used: set[tuple[str, str]] = set()
    marks = {"labels": Recording({}, "labels", used), "annotations": Recording(annotations, "annotations", used)}
    metadata = {**document["metadata"], "name": "train", "namespace": "team", "uid": "1", **marks}
    document = {**document, "metadata": Recording(metadata, "metadata", used)}
    every = copy(kind)
    vars(every)["accepted"] = lambda _: None  # so that all rules are called
    kinds = Registry([every])
    for settings in SETTINGS:
        for phase in Phase:
            for old in (None, {**document, "spec": {**document["spec"], "x": 1}}):
                review(request_of(every, document, old), phase, kinds, settings, ITEMS, access=Granted({}))
    wanted(kind, request_of(kind, document, None), ITEMS)
    crew = digest_of(kind, document, Settings(plugins={"env": ()}))
    if isinstance(crew, Crew):
        desired(crew)
    for groups in (None, Grouping(System.KUBERNETES, "scheduling.k8s.io/v1alpha2")):
        subject = read(kind, document, groups=groups)
        if subject is not None:
            plan(subject, Observed(datetime(2026, 1, 1, tzinfo=UTC)))
            plan(replace(subject, verdict="wait"), Observed(datetime(2026, 1, 1, tzinfo=UTC)))
        rendered(kind, document, "team", "cluster.local", groups)
    return used


@pytest.mark.parametrize("name", KINDS)
def test_each_label_and_annotation_that_is_used_is_reviewed_and_no_other(name: str) -> None:
    kind, used = KINDS[name], set[tuple[str, str]]()
    for document in examples(kind):
        for annotations in ({}, {ANNOTATION: "ClusterPrerequisite/a"}):
            used |= used_by(kind, deepcopy(document), annotations)
            used |= used_by(kind, taken_over(deepcopy(document)), annotations)
    reviewed = {(field, key) for field, keys in kind.reviewed.items() for key in keys}
    assert {each for each in used if each[0] != "metadata"} - ONLY_WARNS == reviewed
    assert {key for field, key in used if field == "metadata"} - {"*"} <= SERVERS


#: Metadata that no user changes in a stored object, and finalizers, because their type is checked.
SERVERS = {
    "annotations", "creationTimestamp", "deletionTimestamp", "finalizers", "generateName", "generation", "labels", "name",
    "namespace", "resourceVersion", "uid",
}  # fmt: skip


def job(name: str, **annotations: str) -> Json:
    """The first example of a kind, as it is stored, with annotations."""
    kind = KINDS[name]
    document = deepcopy(next(examples(kind)))
    metadata = {"name": "train", "namespace": "default", "uid": "1", "annotations": annotations}
    return defaulted(kind, {**document, "metadata": metadata}, Context(namespace="default", name="train")).value


@pytest.mark.parametrize("name", KINDS)
def test_an_update_of_one_of_them_alone_is_reviewed(name: str) -> None:
    kind, old = KINDS[name], job(name)
    for field, key, reviewed in (
        *((field, key, True) for field, keys in kind.reviewed.items() for key in keys),
        ("annotations", APPLIED, False),
        ("annotations", "mine", False),
        ("labels", "mine", False),
    ):
        new = {**old, "metadata": {**old["metadata"], field: {**old["metadata"].get(field, {}), key: "x"}}}
        for document, before in ((new, old), (old, new)):
            answer = review(request_of(kind, document, before), Phase.VALIDATE, Registry([kind]), Settings())
            assert bool(answer.subject[0]) == reviewed, (field, key)


RUN = Settings(runs=frozenset(kind.qualified_plural for kind in KINDS.values()))
UNKNOWN = 'metadata.annotations[jobgate.dev/command]: Unsupported value: "resume": supported values: "AbortJob", "Res'


@pytest.mark.parametrize(
    ("case", "command", "before", "settings", "expected"),
    [
        *((f"{each} is known", each, "", RUN, "") for each in USER_ACTIONS),
        ("an unknown one", "resume", "", RUN, UNKNOWN),
        ("one of a pod", "RestartPod", "", RUN, "Unsupported value"),
        ("nothing", "", "", RUN, ""),
        ("nobody reads it", "resume", "", Settings(), ""),
        ("it was there before", "resume", "resume", RUN, ""),
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_an_unknown_command_is_denied(
    name: str, case: str, command: str, before: str, settings: Settings, expected: str
) -> None:
    new, kinds = job(name, **{COMMAND: command}), Registry([KINDS[name]])
    for old in (job(name, **{COMMAND: before}), *([] if before else [None])):
        answer = review(request_of(KINDS[name], new, old), Phase.VALIDATE, kinds, settings)
        causes = [str(cause) for cause in answer.causes if "command" in str(cause)]
        assert bool(causes) == bool(expected), case
        assert all(expected in cause for cause in causes)


def test_a_stored_fault_is_a_warning_when_an_annotation_changes() -> None:
    old = job("DIJob")
    old["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["name"] = "No name"
    new = {**old, "metadata": {**old["metadata"], "annotations": {COMMAND: "AbortJob"}}}
    for phase in Phase:
        answer = review(request_of(KINDS["DIJob"], new, old), phase, Registry([KINDS["DIJob"]]), RUN)
        assert answer.allowed
        assert phase is Phase.MUTATE or "already stored; not enforced" in str(answer.notices)
