"""Following the fix of a change removes its break: first of stored objects, then of clients."""

import copy
import re
from typing import Any

import pytest

from crdgen.diff import Break, Change, diff
from tests.crdgen.diff.builder import crd_with_field, definition, obj, version

S, C = Break.STORED, Break.CLIENTS
TEXT, INT = {"type": "string"}, {"type": "integer"}
RULES, OPEN = "x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields"
HOOK = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a/"}, "conversionReviewVersions": ["v1"]}}


def only(old: Any, new: Any) -> Change:
    (change,) = [change for change in diff(old, new) if change.breaks]
    return change


def with_rule(schema: Any, rule: str, *, optional: bool = False) -> Any:
    return schema | {RULES: [{"rule": rule} | ({"optionalOldSelf": True} if optional else {})]}


def in_a_new_version(old: Any, spec: Any, **more: Any) -> Any:
    """Return the old CRD with another version, which has this spec and is the storage version."""
    crd = copy.deepcopy(old)
    (before,) = crd["spec"]["versions"]
    crd["spec"] |= {"versions": [before | {"storage": False}, version("v2", spec)]} | more
    return crd


def template(change: Change) -> str:
    """Return the rule in the fix of a change, which contains `…`."""
    (rule,) = re.findall(r"`([^`]*…[^`]*)`", change.fix)
    return str(rule)


NEW_RULES = [
    ("self.x > 1", False),
    ("self.x > oldSelf.x", False),
    ("!oldSelf.hasValue() || self.x > oldSelf.value().x", True),
]


@pytest.mark.parametrize(("rule", "optional"), NEW_RULES)
def test_a_rule_that_breaks_stored_objects_is_fixed_in_two_steps(rule: str, optional: bool) -> None:
    spec = obj(("x",), x=INT)
    old = definition(version(spec=spec))
    first = only(old, definition(version(spec=with_rule(spec, rule, optional=optional))))
    assert set(first.breaks) == {S, C}
    fixed = with_rule(spec, template(first).replace("…", rule), optional="hasValue" in template(first) or optional)
    second = only(old, definition(version(spec=fixed)))
    assert set(second.breaks) == {C}
    assert "new version" in second.fix
    assert not any(change.breaks for change in diff(old, in_a_new_version(old, fixed)))


def test_a_rule_below_a_list_is_fixed_on_the_list() -> None:
    many = {"type": "array", "items": TEXT}
    first = only(crd_with_field(many), crd_with_field(many | {"items": with_rule(TEXT, "self != ''")}))
    fixed = with_rule(many, template(first).replace("…", "item != ''"), optional=True)
    assert set(only(crd_with_field(many), crd_with_field(fixed)).breaks) == {C}


#: Keywords that reject more values, and the equivalent rule.
TIGHTER = [
    (TEXT, {"maxLength": 5}, "self.size() <= 5"),
    (INT, {"maximum": 5}, "self <= 5"),
    (INT, {"multipleOf": 2}, "self % 2 == 0"),
    (TEXT, {"pattern": "^a"}, "self.matches('^a')"),
    (TEXT, {"enum": ["a"]}, "self in ['a']"),
    (TEXT, {"format": "uuid"}, "self.size() >= 32"),
    (INT, {"format": "int32"}, "self < 2147483648"),
    (TEXT, {"anyOf": [{"minLength": 2}]}, "self.size() >= 2"),
    (obj(a=TEXT, b=TEXT), {"maxProperties": 1}, "!has(self.a) || !has(self.b)"),
    (obj(a=TEXT), {"required": ["a"]}, "has(self.a)"),
]


@pytest.mark.parametrize(("field", "more", "rule"), TIGHTER, ids=[str(case[1]) for case in TIGHTER])
def test_a_rule_can_replace_a_keyword_that_rejects_more(field: Any, more: Any, rule: str) -> None:
    first = only(crd_with_field(field), crd_with_field(field | more))
    assert "optionalOldSelf" in first.fix
    fixed = with_rule(field, template(first).replace("…", rule), optional=True)
    assert set(only(crd_with_field(field), crd_with_field(fixed)).breaks) == {C}


ONE = definition(version(spec=obj(a=TEXT)))
TWO = definition(version("v1", storage=False), version("v2"))
FOLLOWED: list[tuple[str, Any, Any, str, Any]] = [
    (
        "a field is kept",
        ONE,
        definition(version(spec=obj())),
        "keep it and describe it as deprecated",
        definition(version(spec=obj(a=TEXT | {"description": "Deprecated."}))),
    ),
    (
        "a webhook moves a field",
        ONE,
        definition(version(spec=obj(b=TEXT))),
        "add a version with a conversion webhook that moves the data",
        in_a_new_version(ONE, obj(b=TEXT), conversion=HOOK),
    ),
    (
        "a new field gets a default",
        ONE,
        definition(version(spec=obj(("b",), a=TEXT, b=TEXT))),
        "give it a default",
        definition(version(spec=obj(("b",), a=TEXT, b=TEXT | {"default": ""}))),
    ),
    (
        "a new field is not required",
        ONE,
        definition(version(spec=obj(("b",), a=TEXT, b=TEXT))),
        "do not require it",
        definition(version(spec=obj(a=TEXT, b=TEXT))),
    ),
    (
        "an old field gets a default",
        ONE,
        definition(version(spec=obj(("a",), a=TEXT))),
        "give it a default",
        definition(version(spec=obj(("a",), a=TEXT | {"default": ""}))),
    ),
    (
        "a default that a bound counts is not set",
        crd_with_field(obj(a=TEXT) | {"maxProperties": 1}),
        crd_with_field(obj(a=TEXT, b=TEXT | {"default": ""}) | {"maxProperties": 1}),
        "add it without a default",
        crd_with_field(obj(a=TEXT, b=TEXT) | {"maxProperties": 1}),
    ),
    (
        "a new field stays open if unknown fields were kept",
        crd_with_field(obj() | {OPEN: True}),
        crd_with_field(obj(("a",), a=TEXT) | {OPEN: True}),
        f"with {OPEN} and no type, and do not require it",
        crd_with_field(obj(a={OPEN: True}) | {OPEN: True}),
    ),
    (
        "unknown fields are kept",
        crd_with_field(obj() | {OPEN: True}),
        crd_with_field(obj()),
        f"keep {OPEN}",
        crd_with_field(obj() | {OPEN: True, "description": "x"}),
    ),
    (
        "another type, another field",
        crd_with_field(TEXT),
        crd_with_field(INT),
        "add one of another name",
        definition(version(spec=obj(x=TEXT, y=INT))),
    ),
    (
        "a wider type, another field",
        crd_with_field(INT),
        crd_with_field({"type": "number"}),
        "add a field of the wider type",
        definition(version(spec=obj(x=INT, y={"type": "number"}))),
    ),
    (
        "another default belongs to a new version",
        crd_with_field(TEXT | {"default": "a"}),
        crd_with_field(TEXT | {"default": "b"}),
        "change it in a new one",
        in_a_new_version(crd_with_field(TEXT | {"default": "a"}), obj(x=TEXT | {"default": "b"})),
    ),
    (
        "a value of an enum is kept",
        crd_with_field(TEXT | {"enum": ["a", "b"]}),
        crd_with_field(TEXT | {"enum": ["a"]}),
        "keep the value",
        crd_with_field(TEXT | {"enum": ["a", "b"], "description": "b is deprecated."}),
    ),
    (
        "a status subresource belongs to a new version",
        definition(version()),
        definition(version(subresources={"status": {}})),
        "add it to a new version",
        definition(version(storage=False), version("v2", subresources={"status": {}})),
    ),
    (
        "a version is still served",
        TWO,
        definition(version("v1", storage=False, served=False), version("v2")),
        "keep it served, marked deprecated",
        definition(version("v1", storage=False, deprecated=True), version("v2")),
    ),
    ("a version is kept", TWO, definition(version("v2")), "keep it, served or not", TWO),
]


@pytest.mark.parametrize(
    ("old", "new", "advice", "followed"), [case[1:] for case in FOLLOWED], ids=[case[0] for case in FOLLOWED]
)
def test_following_the_advice_breaks_nothing(old: Any, new: Any, advice: str, followed: Any) -> None:
    assert advice in only(old, new).fix
    assert [change for change in diff(old, followed) if change.breaks] == []


def test_the_crd_of_the_cluster_says_whether_a_version_is_stored() -> None:
    assert "kubectl get crd widgets.example.com -o yaml" in only(TWO, definition(version("v2"))).fix
    from_cluster = TWO | {"status": {"storedVersions": ["v2"]}}
    assert only(from_cluster, definition(version("v2"))).breaks == (C,)


def test_no_rule_is_advised_below_a_list() -> None:
    many = {"type": "array", "items": TEXT}
    (change,) = diff(crd_with_field(many), crd_with_field(many | {"items": TEXT | {"maxLength": 1}}))
    assert "rule" not in change.fix
