"""Following the fixes clears the findings."""

import re
from copy import deepcopy
from typing import Any

import pytest

from crdgen.lint import Finding, lint
from tests.differential.crds.definitions import FIELDS, Definition, plain
from tests.differential.crds.edits import DROP, Edit, broken

_NEW = (*FIELDS, "new")
_VERSION = ("spec", "versions", 0)
_STEP = re.compile(r"([\w-]+)|(\[\])|(\.\*)")
_DEFAULTED = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _map(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _with_rule(schema: dict[str, Any], rule: str) -> dict[str, Any]:
    return schema | {"x-kubernetes-validations": [{"rule": rule}]}


def _place(definition: Definition, field: str, start: str = "") -> dict[str, Any]:
    """Return the schema of a field such as `spec.tasks[].name`; `self` stands for the field `start`, which has a rule."""
    path = f"{start}{field.removeprefix('self')}" if field.startswith("self") else field
    schema: dict[str, Any] = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for name, item, _ in _STEP.findall(path):
        schema = schema["properties"][name] if name else schema["items" if item else "additionalProperties"]
    return schema


def _fields(text: str) -> list[str]:
    return re.split(r", | and ", text)


def _follow(definition: Definition, fix: str, start: str) -> Definition:
    """Return the definition with the fix applied."""
    fixed = deepcopy(definition)
    if match := re.match(r"write default: \{\} for (.*), or require it;", fix):
        _place(fixed, match[1])["default"] = {}
    elif match := re.match(r"require it: (.*);", fix):
        parent, _, name = match[1].rpartition(".")
        _place(fixed, parent).setdefault("required", []).append(name)
    elif match := re.match(r"give (.*), directly and not in allOf$", fix):
        for bound in _fields(match[1]):
            field, keyword = bound.split(" ")
            _place(fixed, field, start)[keyword] = 5
    elif match := re.match(r"write metadata.name: (.*)$", fix):
        fixed["metadata"]["name"] = match[1]
    elif fix.startswith("declare the fields, or write properties: {}"):
        _place(fixed, start)["properties"] = {}
    else:
        pytest.fail(f"cannot follow {fix!r}")
    return fixed


#: Broken definitions, and the field that is `self` in the fix.
CASES: list[tuple[str, Edit, str]] = [
    ("an absent object", Edit(_NEW, _DEFAULTED), ""),
    ("nested absent objects", Edit(_NEW, _object(b=_object(c=_DEFAULTED))), ""),
    (
        "several absent objects",
        Edit(_NEW, _object(b=_DEFAULTED, c=_DEFAULTED, d={"type": "integer", "default": 1})),
        "",
    ),
    ("an absent object in an entry of a map", Edit(_NEW, _map(_object(b=_DEFAULTED))), ""),
    ("an absent object in an item of a list", Edit(_NEW, _list(_object(b=_DEFAULTED))), ""),
    (
        "an absent object with a rule that an empty object violates",
        Edit(_NEW, _with_rule(_DEFAULTED, "has(self.a) && self.a != 'x'")),
        "",
    ),
    ("a text for each of a map", Edit(_NEW, _map(_with_rule({"type": "string"}, "self == oldSelf"))), "spec.new.*"),
    (
        "a list is gone through",
        Edit(_NEW, _with_rule(_list({"type": "string"}), "self.all(x, x.matches('abc'))")),
        "spec.new",
    ),
    (
        "lists within lists are",
        Edit(
            _NEW, _with_rule(_list(_object(b=_list({"type": "string"}))), "self.all(x, x.b.all(y, y.matches('abc')))")
        ),
        "spec.new",
    ),
    ("a pattern is long", Edit(_NEW, _with_rule({"type": "string"}, "self.matches('[a-z]+[a-z]+[a-z]+')")), "spec.new"),
    ("the name is another", Edit(("metadata", "name"), "w.lint.example.com"), ""),
    ("the name is missing", Edit(("metadata",), {}), ""),
    ("an object is bare", Edit(_NEW, {"type": "object"}), "spec.new"),
]


@pytest.mark.parametrize("edit, start", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_following_the_fixes_clears_the_findings(edit: Edit, start: str) -> None:
    before = set(lint(plain()))
    definition = broken(edit)
    findings = [finding for finding in lint(definition) if finding not in before]
    assert findings
    # The inner of nested objects is reported first.
    for _ in range(5):
        if findings:
            definition = _follow(definition, findings[0].fix, start)
            findings = [finding for finding in lint(definition) if finding not in before]
    assert findings == []


@pytest.mark.parametrize(
    "schema",
    [
        _map(_DEFAULTED),
        _map(_map(_DEFAULTED)),
        _list(_DEFAULTED),
        _DEFAULTED | {"nullable": True},
        _object(),
        _map(_object()),
    ],
    ids=["an entry of a map", "of a map in a map", "an item", "what may be null", "no fields", "entries of no fields"],
)
def test_there_are_no_findings_without_a_fix(schema: dict[str, Any]) -> None:
    before = set(lint(plain()))
    assert [finding for finding in lint(broken(Edit(_NEW, schema))) if finding not in before] == []


def _of_rule(definition: Definition, rule: str) -> list[Finding]:
    return [finding for finding in lint(definition) if finding.rule == rule]


_COLUMN = {"name": True, "type": "string", "jsonPath": ".spec.text"}

#: Definitions that cannot be decoded.
UNREADABLE = [
    ("a column of YAML's y", Edit((*_VERSION, "additionalPrinterColumns"), [_COLUMN])),
    ("versions that are a text", Edit(("spec", "versions"), "v1")),
    ("two types", Edit(_NEW, {"type": ["string", "null"]})),
    ("two types of what has a rule", Edit(_NEW, _with_rule({"type": ["string", "null"]}, "self != ''"))),
    ("two types of a list", Edit(_NEW, _list({"type": "string"}) | {"type": ["array", "null"]})),
    ("a kind of YAML's yes", Edit(("spec", "names", "kind"), True)),
    ("a plural that is a number", Edit(("spec", "names", "plural"), 1)),
    ("a group that is a number", Edit(("spec", "group"), 1)),
    ("names that are a text", Edit(("spec", "names"), "widgets")),
    ("a spec that is a text", Edit(("spec",), "widgets")),
    ("a storage that is a text", Edit((*_VERSION, "storage"), "yes")),
    ("a served that is a text", Edit((*_VERSION, "served"), "yes")),
    ("a schema that is a text", Edit((*_VERSION, "schema"), "x")),
    ("a rule that is a boolean", Edit(_NEW, {"type": "string", "x-kubernetes-validations": [{"rule": True}]})),
    ("int-or-string that is a text", Edit(_NEW, {"x-kubernetes-int-or-string": "true"})),
    ("preserve that is a text", Edit(_NEW, {"type": "object", "x-kubernetes-preserve-unknown-fields": "true"})),
]


@pytest.mark.parametrize("edit", [case[1] for case in UNREADABLE], ids=[case[0] for case in UNREADABLE])
def test_a_decoding_error_is_reported_once(edit: Edit) -> None:
    (finding,) = [finding for finding in lint(broken(edit)) if finding not in lint(plain())]
    assert finding.rule == "value-has-the-right-type"


def test_definitions_with_decoding_errors_are_not_validated() -> None:
    first, second = Edit(("spec", "scope"), 1), Edit(("spec", "names", "plural"), "Widgets!")
    assert {finding.path for finding in lint(broken(first, second))} == {"spec.scope"}


def test_the_fix_for_several_types_is_nullable() -> None:
    (finding,) = lint(broken(Edit(_NEW, {"type": ["string", "null"]})))
    assert finding.fix == "write one type, and nullable: true if null is allowed"


@pytest.mark.parametrize(
    "spec, metadata, fix",
    [
        ({"group": "c"}, {}, "correct spec.names.plural and spec.group first: the name is made of them"),
        ({"group": "a.b", "names": {}}, {}, "correct spec.names.plural and spec.group first: the name is made of them"),
        ({"group": "a.b", "names": {"plural": "ws"}}, {}, "write metadata.name: ws.a.b"),
        ({"group": "a.b", "names": {"plural": "ws"}}, {"name": "a"}, "write metadata.name: ws.a.b"),
    ],
)
def test_the_fix_for_a_name_depends_on_plural_and_group(
    spec: dict[str, Any], metadata: dict[str, Any], fix: str
) -> None:
    definition = plain() | {"metadata": metadata, "spec": spec}
    (finding,) = _of_rule(definition, "name-is-plural-and-group")
    assert finding.fix == fix


def test_a_missing_kind_is_reported_once() -> None:
    paths = [finding.path for finding in lint(broken(Edit(("spec", "names", "kind"), DROP)))]
    assert paths == ["spec.names.kind"]
