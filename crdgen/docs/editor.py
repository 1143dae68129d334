"""JSON Schemas of custom resources, for editors and validators of files.

A schema accepts what the API server accepts, except that it knows no CEL rules and no metadata beyond its types, and
rejects unknown fields, which the API server prunes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.evaluate.validation import checker
from crdgen.schema import BRANCHES, EMBEDDED, INT_OR_STRING, LIST_TYPE, PRESERVE, VALIDATIONS
from crdgen.schema.limits import RANGES
from crdgen.schema.look import branches, mapping, named, schema_of, words

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
_KEPT: Final = (
    *(
        "type",
        "description",
        "title",
        "default",
        "enum",
        "required",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
    ),
    *("maxItems", "minProperties", "maxProperties", "minimum", "maximum", "pattern", "format"),
)
#: Formats that mean the same in JSON Schema.
_FORMATS: Final = frozenset({"date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"})
#: Parts of RE2 patterns that JavaScript, in which editors match, does not know.
_NOT_JAVASCRIPT: Final = re.compile(r"\(\?[^:=!]|\\[AzZpPQCaE]|\[\[:|\[\]")
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_TEXTS: Final[dict[str, Any]] = {"type": ["object", "null"], "additionalProperties": _TEXT}
_METADATA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace"), _TEXT),
        **dict.fromkeys(("labels", "annotations"), _TEXTS),
        "finalizers": {"type": ["array", "null"], "items": _TEXT},
    },
}


def json_schemas(crd: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON Schema of each version with its file name, `GROUP/KIND_VERSION.json`.

    So `yaml.kubernetesCRDStore.url` of yaml-language-server and `-schema-location` of kubeconform find it.
    """
    spec = mapping(crd, "spec")
    group, kind = str(spec.get("group")), str(mapping(spec, "names").get("kind"))
    for name, version in named(spec.get("versions")).items():
        schema = _converted({**schema_of(version), EMBEDDED: True})
        schema["properties"]["apiVersion"] = {"type": "string", "enum": [f"{group}/{name}"]}
        schema["properties"]["kind"] = {"type": "string", "enum": [kind]}
        schema["required"] = sorted({*schema["required"], "metadata"})
        yield f"{group}/{kind.lower()}_{name}.json", {"$schema": _DRAFT} | schema


def every_kind(schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a schema that judges each object by the schema of its kind, and accepts objects of other kinds."""
    choices = []
    for file, schema in schemas.items():
        constants = {key: {"const": schema["properties"][key]["enum"][0]} for key in ("apiVersion", "kind")}
        condition = {"properties": constants, "required": [*constants]}
        choices.append({"if": condition, "then": {"$ref": file}})
    return {"$schema": _DRAFT, "type": "object", "allOf": choices}


def _converted(
    schema: Mapping[str, Any], around: Mapping[str, Any] | None = None, *, optional: bool = False
) -> dict[str, Any]:
    """Return a structural schema as JSON Schema; the value of an optional field may be null, which is dropped.

    `around` is the schema that has the defaults of fields, if this is a branch.
    """
    around = around or schema
    result = {keyword: schema[keyword] for keyword in _KEPT if keyword in schema}
    if schema.get(INT_OR_STRING):
        result["type"] = ["integer", "string"]
    if schema.get("format") not in _FORMATS:
        result.pop("format", None)
    if _NOT_JAVASCRIPT.search(str(schema.get("pattern", ""))):
        del result["pattern"]
    _set_bounds(result, schema)
    if schema.get("nullable") or optional:
        _accept_null(result, listed=not schema.get("nullable"))
    if schema.get(LIST_TYPE) == "set":
        result["uniqueItems"] = True
    if "example" in schema:
        result["examples"] = [schema["example"]]
    rules = [f"Rule: {rule.get('message') or text}" for text, rule in named(schema.get(VALIDATIONS), "rule").items()]
    if rules:
        result["description"] = "\n\n".join(filter(None, [schema.get("description"), *rules]))
    checks = _branches(schema, around)
    if checks and (schema.get("nullable") or optional):  # null has no branches
        checks = {"if": {"not": {"type": "null"}}, "then": checks}
    return result | checks | _fields(schema, around)


def _set_bounds(result: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Set the bounds of a number, also those of its format."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) and bound in schema:
            result[exclusive] = result.pop(bound)
    if schema.get("type") == "integer" and schema.get("format") == "int32":
        least, most = RANGES["int32"]
        result["minimum"] = max(result.get("minimum", least), least)
        result["maximum"] = min(result.get("maximum", most), most)


def _accept_null(result: dict[str, Any], *, listed: bool) -> None:
    """Let a schema accept null. An enum rejects null, unless it is dropped before (`listed`)."""
    if "type" in result:
        types = result["type"] if isinstance(result["type"], list) else [result["type"]]
        result["type"] = [*types, "null"]
    if listed and "enum" in result:
        result["enum"] = [*result["enum"], None]


def _branches(schema: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for keyword in BRANCHES:
        if checks := [_branch(branch, around) for branch in branches(schema, keyword)]:
            result[keyword] = checks
    if isinstance(schema.get("not"), Mapping):
        result["not"] = _branch(schema["not"], around)
    return result


def _branch(schema: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    """Return a branch, which does not say which fields there are."""
    return _converted({**schema, PRESERVE: True}, around)


def _fields(schema: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    # The API server sets defaults before it checks the object.
    declared = mapping(around, "properties")
    defaults = {name: declared[name]["default"] for name in declared if declared[name].get("default") is not None}
    required = [name for name in words(schema.get("required")) if name not in defaults]
    is_branch = schema.get(PRESERVE) is True and "type" not in schema
    if isinstance(schema.get("items"), Mapping):
        items = schema["items"]
        result["items"] = _branch(items, mapping(around, "items")) if is_branch else _converted(items)
    extra = schema.get("additionalProperties")
    fields = mapping(schema, "properties")
    properties = {
        name: _branch(child, mapping(around, "properties", name))
        if is_branch
        else _converted(child, optional=name not in required)
        for name, child in fields.items()
    }
    if is_branch:  # without the field, its default does not fit
        required += [name for name in fields if name in defaults and checker(fields[name])(defaults[name])]
    if required or "required" in schema:
        result["required"] = required
    if schema.get(EMBEDDED):
        given = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
        properties = given | {name: child for name, child in properties.items() if name not in given}
        result["required"] = sorted({*required, "apiVersion", "kind"})
    if isinstance(extra, Mapping):
        result["additionalProperties"] = _converted(extra)
    elif schema.get("type") == "object" and not schema.get(PRESERVE) and not extra:
        result["additionalProperties"] = False
    return result | ({"properties": properties} if properties else {})
