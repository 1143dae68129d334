"""When the rules of a kind are called, and what they see of a job."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.webhook.kind import API_VERSION, RULES, crew, parts
from webhook import Cause, Context, Job, Notice, Operation, Phase, Registry, Request, Rule, UnknownWord, review, rule

Json = dict[str, Any]
PART = {"name": "a", "role": "none", "replicas": 1}


def seen(made: Rule, document: Json, old: Json | None = None) -> list[str]:
    """Return what a rule says of a job, beside what others do."""
    request = Request(
        uid="1",
        api_version=API_VERSION,
        kind="Crew",
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        document=document,
        old_document=old,
    )
    return [notice.message for notice in review(request, Phase.VALIDATE, Registry([crew(rules=(made,))], {})).notices]


def lists_its_tasks(job: Job[Any], _: Context) -> Iterator[Notice]:
    yield Notice("", f"called with {[task.get('name') for task in job.tasks]}")


BROKEN = PART | {"name": "b", "replicas": "x"}


@pytest.mark.parametrize(
    "case, made, document, expected",
    [
        ("a rule without words is always called", rule(), parts(PART), ["called with ['a']"]),
        ("a word that the job has", rule("bounds.most"), parts(PART, bounds={"most": 3}), ["called with ['a']"]),
        ("a word that the job has not", rule("bounds.most"), parts(PART), []),
        ("one of two words is enough", rule("bounds.most", "parts"), parts(PART), ["called with ['a']"]),
        ("a word of a task", rule("tasks.type"), parts(PART), ["called with ['a']"]),
        ("a word that no task has", rule("tasks.policies"), parts(PART), []),
        ("a word of other kinds", rule("queue"), parts(PART), []),
        ("a word that does not fit counts as absent", rule("max_parts"), parts(PART, maxParts="x"), []),
        ("a word that it relies on does not fit", rule(reads=("max_parts",)), parts(PART, maxParts="x"), []),
        ("tasks that it cannot read are left out", rule(reads=("tasks.replicas",)), parts(PART, BROKEN), ["called with ['a']"]),
        ("others are not", rule(reads=("tasks.name",)), parts(PART, BROKEN), ["called with ['a', 'b']"]),
        ("a sum needs all tasks", rule(whole=("tasks.replicas",)), parts(PART, BROKEN), []),
        ("a word of the job that is wanted whole", rule(whole=("max_parts",)), parts(PART, maxParts="x"), []),
        ("without tasks there are none to read", rule(reads=("tasks.name",)), parts(PART) | {"spec": {"parts": 3}}, []),
        ("a rule of updates is not called for a new job", rule(updates=True), parts(PART), []),
    ],
)  # fmt: skip
def test_the_plan_decides_whether_a_rule_is_called(case: str, made: Any, document: Json, expected: list[str]) -> None:
    assert seen(made(lists_its_tasks), document) == expected, case


def test_a_rule_of_updates_is_called_for_an_update() -> None:
    assert seen(rule(updates=True)(lists_its_tasks), parts(PART, PART | {"name": "b"}), parts(PART)) == [
        "called with ['a', 'b']"
    ]


@pytest.mark.parametrize(
    "word, hint",
    [
        ("queuee", ": did you mean queue?"),
        ("tasks.repilcas", ": did you mean tasks.replicas?"),
        ("parts.replicas", ": did you mean tasks.replicas?"),
        ("zzz", ""),
    ],
)
def test_a_word_that_is_none_is_an_error_when_the_kind_is_made(word: str, hint: str) -> None:
    with pytest.raises(UnknownWord) as error:
        crew(rules=(*RULES, rule(word)(lists_its_tasks)))
    assert str(error.value) == f"the rule lists_its_tasks reads {word}, which is no word of Crew or its tasks{hint}"


def test_parts_that_are_no_field_are_an_error_when_the_kind_is_made() -> None:
    with pytest.raises(
        UnknownWord, match=r"parts of Crew is 'prats', which is no field of its spec; there are: .*parts"
    ):
        crew(parts="prats")


def test_what_a_rule_yields_must_be_a_finding() -> None:
    @rule()
    def says_it_in_a_text(_: Any, __: Any) -> Any:
        return ["too many"]

    with pytest.raises(TypeError, match="the rule says_it_in_a_text must yield a Cause or a Notice, not str"):
        seen(says_it_in_a_text, parts(PART))


def test_a_function_that_is_no_rule_is_an_error_when_the_kind_is_made() -> None:
    with pytest.raises(TypeError, match=r"lists_its_tasks is a function and no rule: put @rule\(…\) before it"):
        crew(rules=(lists_its_tasks,))


def test_a_rule_without_parentheses_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"@rule\(…\) with parentheses"):
        rule(lists_its_tasks)  # type: ignore[arg-type]  # what is tried


def test_a_rule_has_the_name_and_the_docstring_of_its_function() -> None:
    def names_are_short(job: Job[Any], _: Context) -> Iterator[Cause]:
        """Long names
        are cut.
        """
        del job
        return iter(())

    made = rule("tasks.name", reads=("bounds",))(names_are_short)
    assert (made.name, made.about, made.words) == ("names_are_short", "Long names are cut.", ("tasks.name", "bounds"))


def test_a_review_whose_time_is_over_says_so_and_rejects() -> None:
    request = Request(
        uid="1", api_version=API_VERSION, kind="Crew", operation=Operation.CREATE, document=parts(PART, PART)
    )
    answer = review(request, Phase.VALIDATE, Registry([crew()], {}), spent=lambda: True)
    assert [str(cause) for cause in answer.causes][-1] == (
        "it takes too long to judge: make it smaller, for example with fewer tasks"
    )
