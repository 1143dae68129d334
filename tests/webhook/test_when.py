"""Which rules of a kind are called, and what they see of an object that does not fit its schema."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.webhook.kind import API_VERSION, RULES, Spec, crew, parts
from webhook import (
    Cause,
    Context,
    Notice,
    Object,
    Operation,
    Phase,
    Registry,
    Request,
    Rule,
    Settings,
    UnknownField,
    review,
    rule,
)

Json = dict[str, Any]
Crew = Object[Spec]
Circumstances = Context[Settings]
PART = {"name": "a", "role": "none", "replicas": 1}


def seen(rule_: Rule, document: Json, old: Json | None = None) -> list[str]:
    """Return the warnings of a rule, without those of others."""
    request = Request(
        uid="1",
        api_version=API_VERSION,
        kind="Crew",
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        document=document,
        old_document=old,
    )
    kinds = Registry([crew(rules=(rule_,), known_fields=frozenset({"queue", "parts.policies"}))])
    return [notice.message for notice in review(request, Phase.VALIDATE, kinds, Settings()).notices]


def is_called(_: Crew, __: Circumstances) -> Iterator[Notice]:
    yield Notice("", "called")


def lists_names(crew: Crew, _: Circumstances) -> Iterator[Notice]:
    yield Notice("", f"{[part.name for _, part in crew.each('parts')]}")


def adds_replicas(crew: Crew, _: Circumstances) -> Iterator[Notice]:
    yield Notice("", f"{sum(part.replicas for part in crew.spec.parts)}")


def lists_replicas(crew: Crew, _: Circumstances) -> Iterator[Notice]:
    for _path, part in crew.each("parts"):
        yield Notice("", f"{part.name}: {part.replicas}")


def reads_the_limit(crew: Crew, _: Circumstances) -> Iterator[Notice]:
    yield Notice("", f"at most {crew.spec.max_parts}")


BROKEN = PART | {"name": "b", "replicas": "x"}


@pytest.mark.parametrize(
    "case, rule_, document, expected",
    [
        ("a rule about nothing special is always called", rule()(is_called), parts(PART), ["called"]),
        ("a field that the object has", rule("bounds.most")(is_called), parts(PART, bounds={"most": 3}), ["called"]),
        ("a field that the object does not have", rule("bounds.most")(is_called), parts(PART, bounds={}), []),
        ("a field that is null", rule("bounds.most")(is_called), parts(PART, bounds={"most": None}), []),
        ("one of two fields is enough", rule("bounds.most", "parts")(is_called), parts(PART), ["called"]),
        ("a field with a default", rule("max_parts")(is_called), parts(PART), ["called"]),
        ("a field of an item", rule("parts.role")(is_called), parts(PART), ["called"]),
        ("a field below plain JSON", rule("parts.template.image")(is_called), parts(PART), []),
        ("which an item has", rule("parts.template.image")(is_called), parts(PART | {"template": {"image": "a:1"}}), ["called"]),
        ("a field of other kinds", rule("queue")(is_called), parts(PART), []),
        ("a field of items of other kinds", rule("parts.policies")(is_called), parts(PART), []),
        ("an annotation", rule("annotations.a.b/c")(is_called), parts(PART) | {"metadata": {"annotations": {"a.b/c": ""}}}, ["called"]),
        ("a field that does not fit counts as absent", rule("max_parts")(is_called), parts(PART, maxParts="x"), []),
        ("a rule that reads a field that does not fit", rule()(reads_the_limit), parts(PART, maxParts="x"), []),
        ("items that it cannot read are left out", rule()(lists_replicas), parts(PART, BROKEN), ["a: 1"]),
        ("others are not", rule()(lists_names), parts(PART, BROKEN), ["['a', 'b']"]),
        ("a sum needs all items", rule()(adds_replicas), parts(PART, BROKEN), []),
        ("no items can be read", rule()(lists_names), parts(PART) | {"spec": {"parts": 3}}, []),
        ("a rule of updates is not called for a new object", rule(updates=True)(is_called), parts(PART), []),
    ],
)  # fmt: skip
def test_a_rule_is_called_for_what_it_is_about(case: str, rule_: Rule, document: Json, expected: list[str]) -> None:
    assert seen(rule_, document) == expected, case


def test_a_rule_of_updates_is_called_for_an_update() -> None:
    assert seen(rule(updates=True)(is_called), parts(PART, PART | {"name": "b"}), parts(PART)) == ["called"]


@pytest.mark.parametrize(
    "field, hint",
    [
        ("queuee", ": did you mean queue?"),
        ("parts.repilcas", ": did you mean parts.replicas?"),
        ("zzz", ""),
    ],
)
def test_a_field_that_no_kind_has_is_an_error_when_the_kind_is_created(field: str, hint: str) -> None:
    with pytest.raises(UnknownField) as error:
        crew(rules=(*RULES, rule(field)(is_called)), known_fields=frozenset({"queue"}))
    assert str(error.value) == f"the rule is_called is about {field}, which is no field of Crew{hint}"


def test_what_a_rule_yields_must_be_a_finding() -> None:
    @rule()
    def says_it_in_a_text(_: Any, __: Any) -> Any:
        return ["too many"]

    with pytest.raises(TypeError, match="the rule says_it_in_a_text must yield a Cause or a Notice, not str"):
        seen(says_it_in_a_text, parts(PART))


def test_a_function_that_is_no_rule_is_an_error_when_the_kind_is_created() -> None:
    with pytest.raises(TypeError, match=r"is_called is a function, not a rule: put @rule\(…\) before it"):
        crew(rules=(is_called,))


def test_a_rule_without_parentheses_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"@rule\(…\) with parentheses"):
        rule(is_called)  # type: ignore[arg-type]  # the mistake that is tried


def test_a_rule_has_the_name_and_the_docstring_of_its_function() -> None:
    def names_are_short(crew: Crew, _: Circumstances) -> Iterator[Cause]:
        """Long names
        are cut.
        """
        del crew
        return iter(())

    short = rule("parts.name")(names_are_short)
    assert (short.name, short.about, short.when) == ("names_are_short", "Long names are cut.", ("parts.name",))


def test_a_review_whose_time_is_over_says_so_and_rejects() -> None:
    request = Request(
        uid="1", api_version=API_VERSION, kind="Crew", operation=Operation.CREATE, document=parts(PART, PART)
    )
    answer = review(request, Phase.VALIDATE, Registry([crew()]), Settings(), spent=lambda: True)
    assert [str(cause) for cause in answer.causes][-1] == ("it takes too long to judge: make it smaller")
