"""JSON Schemas accept what the API server accepts, by a real validator of JSON Schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from crdgen import crd, to_yaml
from crdgen.docs.editor import every_kind, json_schemas
from crdgen.evaluate import evaluate
from crdgen.reading import read
from jobgate.kinds import built_in
from tests.crdgen.cases.test_suite import CRD, WIDGET
from tests.crdgen.cli.conftest import Crdgen, crdgen, folder
from tests.crdgen.cli.shop import ORDER
from tests.crdgen.diff.builder import crd_with_field, definition, obj, version
from tests.crdgen.diff.test_promises import SCHEMAS, VALUES, values, without_invalid_defaults

__all__ = ["crdgen", "folder"]
EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = {key: value for key, value in WIDGET.items() if key != "spec"}
NULL = {"type": "string", "nullable": True}
EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
DEFAULTED = obj(k={"type": "string", "default": "a"}, v={"type": "string"}) | {
    "oneOf": [
        {"properties": {"k": {"enum": ["a"]}, "v": {"enum": ["x"]}}},
        {"properties": {"k": {"not": {"enum": ["a"]}}}},
    ]
}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

#: A field's schema, values that fit it, and values that do not.
FIELDS: list[tuple[str, dict[str, Any], list[Any], list[Any]]] = [
    ("a string", {"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd", 1]),
    ("an enum", {"type": "string", "enum": ["a", "b"]}, ["a", None], ["c"]),
    ("an exclusive bound", {"type": "integer", "minimum": 1, "exclusiveMinimum": True}, [2], [1, 0, "2"]),
    ("32 bits", {"type": "integer", "format": "int32"}, [2**31 - 1], [2**31, 0.5]),
    ("an integer or a string", EITHER, [1, "1"], [0.5, [], True]),
    ("null", {"type": "object", "additionalProperties": NULL}, [{"a": None}, {"a": "b"}], [{"a": 1}]),
    ("null in a list", {"type": "array", "items": NULL}, [[None]], [[1]]),
    ("a list of strings", {"type": "array", "items": {"type": "string"}, "maxItems": 1}, [["a"], []], [["a", "b"], [None], [1], "a"]),
    ("a set", {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, [["a", "b"]], [["a", "a"]]),
    ("a misspelt field", obj(a={"type": "string"}), [{"a": "b"}, {}], [{"b": "b"}]),
    ("an open object", OPEN | {"properties": {"a": {"type": "string"}}}, [{"b": 1}, {"a": "b"}], [{"a": 1}, []]),
    ("anything", {"x-kubernetes-preserve-unknown-fields": True}, [1, "a", [1], {"a": {}}], []),
    ("a required field", obj(("a",), a={"type": "string"}), [{"a": ""}], [{}, {"a": None}]),
    ("a required field with a default", obj(("a",), a={"type": "string", "default": "b"}), [{"a": None}, {}], [{"a": 1}]),
    ("branches", obj(a=NULL, b=NULL) | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": "x"}, {"b": "x"}], [{}, {"a": "x", "b": "x"}]),
    ("null beside branches", obj(a=obj(b=NULL) | {"not": {"required": ["b"]}}), [{"a": None}, {"a": {}}], [{"a": {"b": "x"}}]),
    ("branches of a field with a default", DEFAULTED, [{}, {"k": "b"}, {"k": "a", "v": "x"}], [{"v": "y"}, {"k": "a", "v": "y"}]),
    ("branches that require a field with a default", obj(k={"type": "string", "default": "a"}) | {"anyOf": [{"required": ["k"]}]}, [{}, {"k": "b"}], [{"k": 1}]),
    ("a branch that no default fits", obj(k={"type": "string", "default": "a"}) | {"not": {"properties": {"k": {"enum": ["b"]}}}}, [{}, {"k": "a"}], [{"k": "b"}]),
    ("not", {"type": "string", "not": {"enum": ["a"]}}, ["b"], ["a"]),
    ("an object in an object", OPEN | {"x-kubernetes-embedded-resource": True}, [{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "b": 1}], [{"kind": "A"}, {"apiVersion": "v1", "kind": 1}]),
]  # fmt: skip


def validator(definition_: Any) -> Draft7Validator:
    ((_, schema),) = json_schemas(definition_)
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize(("schema", "fit", "unfit"), [each[1:] for each in FIELDS], ids=[each[0] for each in FIELDS])
def test_a_field_accepts_what_fits_it(schema: dict[str, Any], fit: list[Any], unfit: list[Any]) -> None:
    definition_ = crd_with_field(schema)
    accepts = validator(definition_).is_valid
    for value, fits in (*((value, True) for value in fit), *((value, False) for value in unfit)):
        written = HEAD | {"spec": {"x": value}}
        result = evaluate(definition_, written)
        assert (not result.violations and not result.pruned) == fits, value
        assert accepts(written) == fits, value


#: Cases that a JSON Schema cannot express.
WITHOUT = {"format", "multipleOf", "pattern", "minimum", "maximum"}


def plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: plain(value) for key, value in schema.items() if key not in WITHOUT}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS.map(plain).map(without_invalid_defaults), st.data())
def test_what_the_api_server_accepts_without_pruning_is_valid(schema: dict[str, Any], data: st.DataObject) -> None:
    definition_ = definition(version(spec=schema))
    is_valid = validator(definition_).is_valid
    for _ in range(3):
        written = HEAD | {"spec": data.draw(values(schema) | VALUES)}
        result = evaluate(definition_, written)
        if not result.violations and not result.pruned:
            assert is_valid(result.object), result.object


def test_the_examples_of_all_kinds_are_valid() -> None:
    kinds = [(kind, kind.resource) for kind in built_in() if kind.resource is not None]
    schemas = {name: schema for _, resource in kinds for name, schema in json_schemas(crd(resource))}
    seen = 0
    for kind, resource in kinds:
        name = f"{kind.group}/{kind.kind.lower()}_{kind.gvk.api_version.rpartition('/')[2]}.json"
        check = Draft7Validator(schemas[name])
        for file in sorted((EXAMPLES / (*resource.names.short_names, kind.kind.lower())[0]).glob("*.yaml")):
            for manifest in read(file.read_bytes(), file.name):
                if manifest.object["kind"] == kind.kind:
                    seen += 1
                    assert [error.message for error in check.iter_errors(manifest.object)] == [], file
                    typo = manifest.object | {"spec": manifest.object["spec"] | {"unknown": 1}}
                    assert not check.is_valid(typo)
    assert seen > 10


def test_rules_are_in_the_description_and_patterns_are_those_of_javascript() -> None:
    rule = {"rule": "self != 'x'", "message": "must not be x"}
    fields = obj(
        a={"type": "string", "description": "A.", "x-kubernetes-validations": [rule], "pattern": "^a$"},
        b={"type": "string", "pattern": "(?i)^b"},
        c={"type": "string", "pattern": "^[[:alpha:]]"},
    )
    ((_, schema),) = json_schemas(definition(version(spec=fields)))
    properties = schema["properties"]["spec"]["properties"]
    assert (properties["a"]["description"], properties["a"]["pattern"]) == ("A.\n\nRule: must not be x", "^a$")
    assert "pattern" not in properties["b"] | properties["c"]


def test_one_schema_judges_objects_by_their_kind() -> None:
    schemas = dict(json_schemas(CRD))
    assert list(schemas) == ["example.com/widget_v1.json"]
    schema = every_kind(schemas)
    (choice,) = schema["allOf"]
    assert choice["then"] == {"$ref": "example.com/widget_v1.json"}
    check = Draft7Validator(choice["if"])
    assert check.is_valid(WIDGET)
    assert not check.is_valid(WIDGET | {"kind": "ConfigMap"})


def test_the_command_writes_the_files_where_editors_look(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crd.json").write_text(json.dumps(CRD))
    assert crdgen("schema crd.json --output-dir schemas") == (0, "", "")
    files = sorted(str(file.relative_to(folder)) for file in (folder / "schemas").rglob("*.json"))
    assert files == ["schemas/all.json", "schemas/example.com/widget_v1.json"]
    assert json.loads(crdgen("schema crd.json").out) == json.loads((folder / files[1]).read_text())
    two = CRD | {"spec": CRD["spec"] | {"versions": [version("v1"), version("v2", storage=False)]}}
    (folder / "two.json").write_text(json.dumps(two))
    assert crdgen("schema two.json") == (
        2,
        "",
        "crdgen schema: two.json: has 2 versions of kinds: add --output-dir DIR\n",
    )


@pytest.mark.parametrize("group", ["../../escape", "..", "a/b"])
def test_no_file_is_written_outside_of_the_directory(crdgen: Crdgen, folder: Path, group: str) -> None:
    text = to_yaml(crd(ORDER)).replace("group: shop.example.com", f"group: {group}")
    (folder / "crd.yaml").write_text(text)
    answer = crdgen("schema crd.yaml --output-dir deep/er")
    assert (answer.status, "must be DNS names" in answer.err) == (2, True), answer
    assert [file.name for file in folder.iterdir()] == ["crd.yaml"]
