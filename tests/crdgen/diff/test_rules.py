"""Breaks by new rules: rules that accept unchanged values only break clients."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdgen.diff import Break, diff
from crdgen.evaluate import Evaluator
from tests.crdgen.diff.builder import crd_with_field, obj

S, C = Break.STORED, Break.CLIENTS
TEXT, INT = {"type": "string", "maxLength": 9}, {"type": "integer"}
SELF = obj(
    ("must", "list"),
    must=INT,
    may=INT,
    filled=INT | {"default": 1},
    null=INT | {"nullable": True},
    word=TEXT,
    flag={"type": "boolean"},
    list={"type": "array", "maxItems": 9, "items": obj(("n",), n=TEXT, m=TEXT)},
    map={"type": "object", "maxProperties": 9, "additionalProperties": TEXT},
    open={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
)


def with_rules(*rules: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    return (schema or SELF) | {"x-kubernetes-validations": [{"rule": rule} | more for rule in rules]}


def broken(rule: str, *, schema: Any = None, **more: Any) -> set[Break]:
    (change,) = diff(crd_with_field(schema or SELF), crd_with_field(with_rules(rule, schema=schema, **more)))
    assert "is new" in change.what
    assert change.fix
    return set(change.breaks)


FOR_NEW = [
    "oldSelf.hasValue() || self.must > 1",
    "self.must > 1 || oldSelf.hasValue()",
    "oldSelf.hasValue() || self.may > 1 && has(self.word)",
    "!oldSelf.hasValue() || self.must == oldSelf.value().must",
    "!oldSelf.hasValue() || oldSelf.value() == self",
    "self == oldSelf.orValue(self) || self.must > 1",
    "!oldSelf.hasValue() || !has(oldSelf.value().may) || has(self.may)",
]
FOR_NEW_AND_STORED = [
    "oldSelf.hasValue() ? true : self.must > 1",
    "oldSelf.optMap(old, old.must <= self.must).orValue(self.must == 0)",
    "self.must > 1 || !oldSelf.hasValue()",
    "oldSelf.hasValue() && self.must > 1",
    "!oldSelf.hasValue() || self.must > 1",
    "!oldSelf.hasValue() || self.must > oldSelf.value().must",
    "!oldSelf.hasValue() || self.may == oldSelf.value().may",
    "oldSelf.orValue(self).must > 1",
    "oldSelf.optMap(o, self.list.all(o, has(o.m) && o.n == self.word)).orValue(true)",
    "'oldSelf.hasValue()' == '' || self.must > 1",
    "oldSelf == self",
]
OF_CHANGES = [
    "self == oldSelf",
    "self.must >= oldSelf.must",
    "self.filled == oldSelf.filled",
    "!(self.must < oldSelf.must)",
    "!has(oldSelf.may) || has(self.may) && self.may == oldSelf.may",
    "has(self.may) == has(oldSelf.may)",
    "oldSelf.must == 0 || self.must == oldSelf.must",
    "has(oldSelf.open) == has(self.open)",
    "size(self.list) >= size(oldSelf.list)",
]
OF_CHANGES_AND_STORED = [
    "oldSelf.must == 3 ? self.must == 3 : true",
    "has(oldSelf.may) ? has(self.may) && self.may >= oldSelf.may : true",
    "!oldSelf.flag || self.flag",
    "!has(self.word) || !has(oldSelf.word) || self.word.startsWith(oldSelf.word)",
    "oldSelf.list.all(old, self.list.exists(new, new.n == old.n))",
    "self.list.all(new, new in oldSelf.list)",
    "!has(self.map) || !has(oldSelf.map) || self.map.all(k, !(k in oldSelf.map) || self.map[k] == oldSelf.map[k])",
    "self.must > oldSelf.must",
    "self.must != oldSelf.must",
    "self.may >= oldSelf.may",
    "!has(oldSelf.may) || self.must == oldSelf.may",
    "self.null >= oldSelf.null",
    "has(self.null) && self.null >= oldSelf.null",
    "!has(self.may) || has(oldSelf.word)",
    "self.list.exists(new, new in oldSelf.list)",
    "oldSelf.list.all(old, self.list.exists(new, new.m == old.m))",
    "oldSelf.list.all(old, self.list.exists_one(new, new.n == old.n))",
    "!has(self.map) || !has(oldSelf.map) || self.map.all(k, self.map[k] == oldSelf.map[k + 'a'])",
    "self.must / oldSelf.must == self.must / oldSelf.must",
    "oldSelf.list.all(self, self == self) && oldSelf.must > 1",
    "!has(self.open) || !has(oldSelf.open) || self.open >= oldSelf.open",
    "oldSelf.",
]


@pytest.mark.parametrize("rule", FOR_NEW)
def test_a_rule_that_accepts_stored_objects_only_breaks_clients(rule: str) -> None:
    assert broken(rule, optionalOldSelf=True) == {C}


@pytest.mark.parametrize("rule", FOR_NEW_AND_STORED)
def test_a_rule_that_may_reject_stored_objects_breaks_both(rule: str) -> None:
    assert broken(rule, optionalOldSelf=True) == {S, C}


@pytest.mark.parametrize("rule", OF_CHANGES)
def test_a_transition_rule_that_accepts_unchanged_values_only_breaks_clients(rule: str) -> None:
    assert broken(rule) == {C}


@pytest.mark.parametrize("rule", OF_CHANGES_AND_STORED)
def test_a_transition_rule_that_may_reject_unchanged_values_breaks_both(rule: str) -> None:
    assert broken(rule) == {S, C}


NAMED = obj(
    ("on", "x-y", "__namespace__"),
    on={"type": "boolean"},
    namespace=TEXT,
    **{"x-y": TEXT, "__namespace__": TEXT},
)


@pytest.mark.parametrize(
    ("rule", "breaks"),
    [
        ("!oldSelf.on || self.on", {C}),
        ("self.x__dash__y == oldSelf.x__dash__y", {C}),
        ("self.__namespace__ == oldSelf.__namespace__", {S, C}),
        ("self.__underscores__namespace__underscores__ == oldSelf.__underscores__namespace__underscores__", {C}),
    ],
)
def test_a_transition_rule_reads_fields_by_escaped_names(rule: str, breaks: set[Break]) -> None:
    assert broken(rule, schema=NAMED) == breaks


LIST = {"type": "array", "items": obj(("k",), k=TEXT)}
MAP_LIST = LIST | {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


@pytest.mark.parametrize(("parent", "breaks"), [(LIST, {S, C}), (MAP_LIST, {C})], ids=["atomic", "map"])
def test_below_an_atomic_list_rules_have_no_old_self(parent: Any, breaks: Any) -> None:
    for text, expected in (("self == oldSelf", breaks), ("self.k != ''", {S, C})):
        (change,) = diff(
            crd_with_field(parent), crd_with_field(parent | {"items": with_rules(text, schema=parent["items"])})
        )
        assert set(change.breaks) == expected
        assert ("the list around it" in change.fix) == (parent is LIST)


def test_a_change_says_what_a_rule_breaks() -> None:
    def consequence(rule: str, **more: Any) -> str:
        (change,) = diff(crd_with_field(SELF), crd_with_field(with_rules(rule, **more)))
        return change.what.partition(" is new: ")[2]

    assert consequence("self.must > 1") == "previously valid objects may be rejected"
    assert consequence("self == oldSelf") == "changes that were allowed may be rejected; stored objects stay valid"
    assert consequence("self != oldSelf").startswith(
        "previously valid updates may be rejected, even if the value does not change, for example if"
    )
    assert (
        consequence("oldSelf.hasValue() || self.must > 1", optionalOldSelf=True)
        == "new objects and changes that were allowed may be rejected; stored objects stay valid"
    )
    assert (
        consequence("!oldSelf.hasValue() || self == oldSelf.value()", optionalOldSelf=True)
        == "new objects and changes that were allowed may be rejected; stored objects stay valid"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("self.must > 1", "self.must>1", "means the same"),
        ("self.must > 1 && true", "(self.must > 1)\n  && true // of old", "means the same"),
        ("has(self.may)", "( has( self.may ) )", "means the same"),
        ("self.must == 1", "1 == self.must", "is new"),
        ("self.open.a == 1", "self.open.a == true", "is new"),
        (
            "google.protobuf.Int64Value{value: 9} > self.must",
            "google.protobuf.Int64Value{value: 1} > self.must",
            "is new",
        ),
    ],
)
def test_a_rule_that_is_only_written_differently_is_not_new(old: str, new: str, message: str) -> None:
    changes = diff(crd_with_field(with_rules(old)), crd_with_field(with_rules(new)))
    assert message in changes[0].what
    assert [bool(change.breaks) for change in changes] == ([False] if message == "means the same" else [True, False])


def test_a_rule_that_holds_for_new_objects_too_breaks_clients() -> None:
    rule = "oldSelf == oldSelf"
    (change,) = diff(crd_with_field(with_rules(rule)), crd_with_field(with_rules(rule, optionalOldSelf=True)))
    assert "now holds also for new objects" in change.what
    assert C in change.breaks
    (change,) = diff(crd_with_field(with_rules(rule, optionalOldSelf=True)), crd_with_field(with_rules(rule)))
    assert (change.breaks, "now holds for changes only" in change.what) == ((C,), True)


def test_without_the_library_no_rule_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdgen.cel.available", lambda: False)
    monkeypatch.setattr("crdgen.diff.rules.available", lambda: False)
    (change,) = diff(crd_with_field(SELF), crd_with_field(with_rules("self == oldSelf")))
    assert set(change.breaks) == {S, C}
    assert "extra `cel`" in change.what


TERMS = [
    "self.must",
    "self.may",
    "self.filled",
    "self.word",
    "self.list",
    "self.map",
    "self.null",
    "self.open",
    "1",
    "self",
]
BOTH = st.sampled_from(TERMS).flatmap(
    lambda term: st.tuples(st.just(term), st.sampled_from([term.replace("self", "oldSelf"), "self.must"]))
)
ATOMS = st.one_of(
    st.sampled_from(
        [
            f"has({which}.{name})"
            for which in ("self", "oldSelf")
            for name in ("may", "word", "must", "map", "null", "open")
        ]
    ),
    st.tuples(BOTH, st.sampled_from(["==", "!=", "<=", "<", ">="])).map(
        lambda parts: f"{parts[0][0]} {parts[1]} {parts[0][1]}"
    ),
    st.sampled_from(
        [
            "true",
            "false",
            "self.flag",
            "size(self.list) >= size(oldSelf.list)",
            "self.list.all(x, x in oldSelf.list)",
            "self.map.all(k, k in oldSelf.map && self.map[k] == oldSelf.map[k])",
            "oldSelf.list.all(x, self.list.exists(y, x.n == y.n && x.m == y.m))",
            "self.list.all(x, !has(x.m) || self.list.exists(y, has(y.m) && y.m == x.m))",
        ]
    ),
)
RULES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda rule: f"!({rule})"),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda part: f"({part[0]}) {part[1]} ({part[2]})"),
        st.tuples(inner, inner, inner).map(lambda part: f"({part[0]}) ? ({part[1]}) : ({part[2]})"),
    ),
    max_leaves=5,
)
VALUES = st.fixed_dictionaries(
    {
        "must": st.integers(0, 2),
        "list": st.lists(st.fixed_dictionaries({"n": st.just("a")}, optional={"m": st.just("b")}), max_size=2),
    },
    optional={
        "may": st.integers(0, 2),
        "null": st.none() | st.integers(0, 2),
        "word": st.sampled_from(["", "a"]),
        "flag": st.booleans(),
        "map": st.dictionaries(st.sampled_from("ab"), st.just("c"), max_size=2),
        "open": st.sampled_from([{}, {"a": 1}, {"a": [None]}]),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(RULES.filter(lambda rule: "oldSelf" in rule), st.lists(VALUES, min_size=4, max_size=4), st.booleans())
def test_rules_that_should_accept_stored_objects_accept_them(rule: str, values: list[Any], optional: bool) -> None:
    text = rule.replace("oldSelf", "oldSelf.value()") if optional else rule
    more = {"optionalOldSelf": True} if optional else {}
    crd = crd_with_field(with_rules(text, **more))
    (change,) = diff(crd_with_field(SELF), crd)
    if S in change.breaks:
        return
    evaluator = Evaluator(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    for value in values:
        stored = evaluator.default(evaluator.prune({"spec": {"x": value}}))
        assert evaluator.validate(stored, old=stored) == []


def test_nested_alternatives_are_evaluated_once() -> None:
    """Twice per level would be 10^12 times."""
    rule = "self.must == oldSelf.must + 1"
    for number in range(40):
        rule = f"({rule} && self.must != {number}) || self.must == {number}"
    assert broken(rule) == {Break.STORED, Break.CLIENTS}
