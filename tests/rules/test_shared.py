"""Every kind has the shared rules, or a version of its own."""

from typing import Any

import pytest

from jobgate.installation.handbook import title
from jobgate.jobs.kind import JobKind
from jobgate.jobs.operator import Operator
from jobgate.kinds import built_in
from jobgate.plugins import BUILT_IN
from jobgate.rules.ignored import FIELDS
from jobgate.rules.shared import SHARED, shared_rules
from tests.kinds.mxjob import jobs as mxjobs
from tests.kinds.samples import sample_of
from tests.kinds.torchjob import jobs as torchjobs


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_a_kind_has_every_shared_rule_but_those_that_its_sample_names(kind: JobKind) -> None:
    assert {rule.name for rule in SHARED if rule not in kind.rules} == sample_of(kind).replaced
    assert len({id(rule) for rule in kind.rules}) == len(kind.rules)


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_an_operator_supports_words_that_are_asked_for(kind: JobKind) -> None:
    assert isinstance(kind.operator, Operator)
    assert kind.operator.supports <= FIELDS


def test_a_rule_is_replaced_where_it_stands() -> None:
    first, second, *_ = SHARED
    rules = shared_rules({second.name: (first, first)})
    assert rules == (first, first, first, *SHARED[2:])
    assert shared_rules() == SHARED


def test_a_rule_that_is_not_there_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match=r"no shared rule is named nothing_is_wrong; there are: .*minima_agree"):
        shared_rules({"nothing_is_wrong": ()})


@pytest.mark.parametrize("pattern", ["{job}-{trial}", "{job", "{}"])
def test_a_pattern_of_pods_names_job_task_and_index_alone(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"of sweeper may have \{job\}, \{task\}, \{index\} only"):
        Operator(name="sweeper", minor=31, pod_name=pattern)


MANY = 2**30


@pytest.mark.parametrize(
    "reported, place",
    [
        (mxjobs.faults(mxjobs.validate(mxjobs.dist(server={"replicas": MANY}, worker={"replicas": MANY}))),
         "spec.replicaSpecs[1].replicas"),
        (torchjobs.faults(torchjobs.validate(torchjobs.job(torchjobs.tasks(torchjobs.task(10_000))))),
         "spec.torchTaskSpecs[Worker].numTasks"),
    ],
)  # fmt: skip
def test_pods_are_counted_of_every_kind(reported: list[Any], place: str) -> None:
    detail = "jobs may have at most 10000: "
    assert [text for text in reported if text.startswith(f"{place}: Invalid value: ") and detail in text]


#: The plugins that jobs can ask for, as messages list them.
OFFERED = ", ".join(f'"{plugin.name}"' for plugin in BUILT_IN if not plugin.imposed)
ASKING = [(mxjobs, mxjobs.dist, {"RuntimeId": "a1b2"}), (torchjobs, torchjobs.job, {})]


@pytest.mark.parametrize("of_kind, asking, _", ASKING, ids=["mxjob", "torchjob"])
def test_plugins_are_checked_and_taken_whole(of_kind: Any, asking: Any, _: Any) -> None:
    assert of_kind.faults(of_kind.validate(asking(plugins={"env": ["--x"], "svcc": [], "svc": {"x": 1}}))) == [
        f'spec.plugins[svcc]: Unsupported value: "svcc": supported values: {OFFERED}',
        "spec.plugins[env][0]: Forbidden: env takes no arguments: remove it",
        'spec.plugins[svc].x: Unsupported value: "x": supported values: "publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"',
    ]  # fmt: skip
    good = asking(plugins={"env": None, "svc": {"disable-network-policy": True}})
    assert of_kind.faults(of_kind.mutate(good)) == of_kind.faults(of_kind.validate(good)) == []


@pytest.mark.parametrize("of_kind, asking, more", ASKING, ids=["mxjob", "torchjob"])
def test_a_write_of_the_operator_that_erases_plugins_is_taken(of_kind: Any, asking: Any, more: Any) -> None:
    (kind,) = of_kind.REVIEWS.kinds
    stored = kind.schema.default(asking(plugins={"env": []}))
    spec = {key: value for key, value in stored["spec"].items() if key != "plugins"}
    assert of_kind.faults(of_kind.validate({**stored, "spec": spec | more}, stored)) == []
