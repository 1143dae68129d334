"""What every kind has: the shared rules, but those that a kind has a version of its own of."""

from typing import Any

import pytest

from jobgate.installation.handbook import title
from jobgate.kinds import built_in
from jobgate.kinds.common.ignored import WORDS
from jobgate.kinds.common.operator import Operator
from jobgate.kinds.common.rules import SHARED, shared_rules
from tests.kinds.mxjob import jobs as mxjobs
from tests.kinds.torchjob import jobs as torchjobs
from webhook import Kind

#: By kind, the shared rules that it does not have.
EXCEPTIONS = {
    "dijob": set[str](),
    "vcjob": {
        "derived_names_are_legal",
        "plugins_are_known",
        "plugins_understand_their_arguments",
        "plugins_can_be_carried_out",
        "plugins_reach_new_pods_only",
        "derived_objects_have_legal_names",
    },
    "mxjob": {
        "task_names_are_unique",
        "task_names_are_labels",
        "derived_names_are_legal",
        "a_gang_has_priorities_throughout",
    },
    "torchjob": {
        "task_names_are_unique",
        "task_names_are_labels",
        "minimum_is_at_most_the_pods",
        "task_minima_are_at_most_their_replicas",
        "minima_agree",
        "a_gang_has_priorities_throughout",
    },
}


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_a_kind_has_every_shared_rule_but_those_that_stand_here(kind: Kind) -> None:
    assert {rule.name for rule in SHARED if rule not in kind.rules} == EXCEPTIONS[title(kind)]
    assert len({id(rule) for rule in kind.rules}) == len(kind.rules)


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_an_operator_supports_words_that_are_asked_for(kind: Kind) -> None:
    assert isinstance(kind.operator, Operator)
    assert kind.operator.supports <= WORDS


def test_a_rule_is_replaced_where_it_stands() -> None:
    first, second, *_ = SHARED
    rules = shared_rules({second.name: (first, first)})
    assert rules == (first, first, first, *SHARED[2:])
    assert shared_rules() == SHARED


def test_a_rule_that_is_not_there_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="no shared rule is named nothing_is_wrong"):
        shared_rules({"nothing_is_wrong": ()})


MANY = 2**30


@pytest.mark.parametrize(
    "reported, place",
    [
        (mxjobs.faults(mxjobs.validate(mxjobs.dist(server={"replicas": MANY}, worker={"replicas": MANY}))),
         "spec.replicaSpecs[2].replicas"),
        (torchjobs.faults(torchjobs.validate(torchjobs.job(torchjobs.tasks(torchjobs.task(2 * MANY - 1))))),
         "spec.torchTaskSpecs[Worker].numTasks"),
    ],
)  # fmt: skip
def test_pods_are_counted_of_every_kind(reported: list[Any], place: str) -> None:
    detail = "the maximum is 2147483647"
    assert [one for one in reported if one.startswith(f"{place}: Invalid value: ") and one.endswith(detail)]
