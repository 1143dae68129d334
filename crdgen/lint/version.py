"""Rules for a version: its schema, status and scale, printer columns and selectable fields."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from crdgen.lint.fieldpath import PathError, column, resolve
from crdgen.lint.rule import Issue, error, warning
from crdgen.lint.versions import DecodedVersion
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE
from crdgen.schema.limits import (
    COLUMN_FORMATS,
    COLUMN_TYPES,
    DEPRECATION_WARNING,
    SELECTABLE_FIELDS,
    SELECTABLE_TYPES,
)
from crdgen.schema.look import utf8

#: Keywords that the root must not have if status is a subresource, because `properties.status` is then checked alone.
#: Go's zero value counts for these, but not for `_FLAGS_LOST_WITH_STATUS`.
_LOST_WITH_STATUS: Final[tuple[str, ...]] = (
    *("default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf", "not", "additionalProperties"),
    *(LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE),
)
_FLAGS_LOST_WITH_STATUS: Final = ("nullable", EMBEDDED, INT_OR_STRING)


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def version_has_a_schema(version: DecodedVersion) -> Iterator[Issue]:
    """Each version has a schema."""
    if version.schema is None:
        yield Issue("schema.openAPIV3Schema", "there is no schema", "write at least type: object")


@error("apiextensions validation.go, validateDeprecationWarning")
def deprecation_warning_is_printable(version: DecodedVersion) -> Iterator[Issue]:
    """The warning is sent as an HTTP header to clients of a deprecated version."""
    warning = version.written.get("deprecationWarning")
    if warning is None:
        return
    if not version.written.get("deprecated"):
        yield Issue("deprecationWarning", "the version is not deprecated", "write deprecated: true, or remove it")
    if not warning or len(utf8(warning)) > DEPRECATION_WARNING or not warning.isprintable():
        problem = f"a deprecationWarning has 1 to {DEPRECATION_WARNING} printable bytes"
        yield Issue("deprecationWarning", problem, "write one short line")


@error("apiextensions validation.go, allowedFieldsAtRootSchema")
def root_keeps_status_apart(version: DecodedVersion) -> Iterator[Issue]:
    """With a status subresource, status is validated on its own, so keywords about the whole object are not allowed."""
    schema = version.schema
    if schema is None or not version.status_enabled:
        return
    lost = [keyword for keyword in _LOST_WITH_STATUS if keyword in schema]
    lost += [keyword for keyword in _FLAGS_LOST_WITH_STATUS if schema.get(keyword)]
    for keyword in lost:
        problem = f"the root must not have {keyword} if the version has a status subresource"
        yield Issue(f"schema.openAPIV3Schema.{keyword}", problem, "write it below spec, or as a rule")


@warning("schema/pruning/algorithm.go")
def status_is_declared(version: DecodedVersion) -> Iterator[Issue]:
    """Without a schema for status, everything written to it is pruned."""
    schema = version.schema
    if schema is None:
        return
    keeps = schema.get(PRESERVE)
    if "status" in version.subresources and "status" not in schema.get("properties", {}) and not keeps:
        fix = "declare status in the schema"
        yield Issue(
            "subresources.status", "the schema does not declare status, so everything written to it is pruned", fix
        )


# Types of values that a column of a type prints; other values stay empty.
_PRINTED: Final = {
    "boolean": ("boolean",),
    "date": ("string",),
    "integer": ("integer", "number"),
    "number": ("integer", "number"),
}
_SCALE: Final = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}


@error("apiextensions validation.go, ValidateCustomResourceDefinitionSubresources")
def scale_paths_are_of_spec_and_status(version: DecodedVersion) -> Iterator[Issue]:
    """The paths of the scale subresource are in spec and status."""
    scale = version.subresources.get("scale")
    if scale is None:
        return
    for field, roots in _SCALE.items():
        path = scale.get(field, "")
        if (path or field != "labelSelectorPath") and not path.startswith(roots):
            expected = " or ".join(roots)
            yield Issue(f"subresources.scale.{field}", f"{field} {path!r} must begin with {expected}", "correct it")


@error("apiextensions validation.go, ValidateCustomResourceColumnDefinition")
def columns_are_complete(version: DecodedVersion) -> Iterator[Issue]:
    """A column has a name, one of five types and a path that begins with a dot."""
    for at, entry in _columns(version):
        if not entry.get("name"):
            yield Issue(f"{at}.name", "the column has no name", "write one")
        if entry.get("type") not in COLUMN_TYPES:
            fix = f"set type to one of {', '.join(COLUMN_TYPES)}"
            kind = entry.get("type")
            problem = f"there is no column type {kind!r}" if kind else "the column has no type"
            yield Issue(f"{at}.type", problem, fix)
        if entry.get("format") and entry["format"] not in COLUMN_FORMATS:
            fix = f"set format to one of {', '.join(COLUMN_FORMATS)}, or remove it"
            yield Issue(f"{at}.format", f"there is no column format {entry['format']!r}", fix)
        if not entry.get("jsonPath", "").startswith("."):
            path = entry.get("jsonPath", "")
            yield Issue(f"{at}.jsonPath", f"jsonPath {path!r} must begin with a dot", "write .spec.name or such")


@error("apiextensions validation.go, ValidateCustomResourceSelectableFields")
def selectable_fields_are_scalars(version: DecodedVersion) -> Iterator[Issue]:
    """Selectable fields are declared strings, integers or booleans outside of metadata."""
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(version.written.get("selectableFields", ())):
        path = field.get("jsonPath", "")
        at = f"selectableFields[{index}].jsonPath"
        try:
            names, schema = resolve(path, version.schema or {}, brackets=False) if path else ([], None)
        except PathError as error:
            yield Issue(at, f"jsonPath {path} {error}", "write .spec.name or such")
            continue
        if not names:
            yield Issue(at, "jsonPath is empty", "write .spec.name or such")
            continue
        if names[0] == "metadata":
            yield Issue(at, "metadata has selectors of its own", "write a field of spec or status")
        if schema is None or schema.get("type") not in SELECTABLE_TYPES:
            yield Issue(at, f"{path} must be a {', '.join(SELECTABLE_TYPES)}", "write the path of one")
        if tuple(names) in seen:
            yield Issue(at, f"{path} is there twice", "remove one")
        seen.add(tuple(names))
    if len(seen) > SELECTABLE_FIELDS:
        yield Issue("selectableFields", f"{len(seen)} fields: {SELECTABLE_FIELDS} is the most", "remove some")


@warning("k8s.io/api, admissionregistration/v1, Rule.resources: `jobs` does not match `jobs/scale`")
def scale_is_bounded_by_the_schema(version: DecodedVersion) -> Iterator[Issue]:
    """Writes to the scale subresource are validated by the schema only; webhooks for the resource do not see them."""
    scale = version.subresources.get("scale", {})
    path = scale.get("specReplicasPath", "")
    schema = None
    with suppress(PathError):
        schema = resolve(path, version.schema or {}, brackets=False)[1] if path.startswith(".") else None
    if schema is not None and not {"minimum", "maximum"} <= schema.keys():
        missing = [keyword for keyword in ("minimum", "maximum") if keyword not in schema]
        fix = f"write {' and '.join(missing)} for it, or let the webhook match the resource with /scale too"
        problem = (
            f"{path} has no {' and no '.join(missing)}, and the scale subresource bypasses a webhook that bounds it"
        )
        yield Issue("subresources.scale", problem, fix)


@warning("pkg/registry/customresource/etcd.go, ScaleREST")
def scale_paths_are_declared(version: DecodedVersion) -> Iterator[Issue]:
    """The paths of the scale subresource are declared fields."""
    expected_types = {"specReplicasPath": "integer", "statusReplicasPath": "integer", "labelSelectorPath": "string"}
    for field, kind in expected_types.items():
        path, at = version.subresources.get("scale", {}).get(field, ""), f"subresources.scale.{field}"
        if not path.startswith(_SCALE[field]) or version.schema is None:
            continue
        try:
            field_schema = column(path, version.schema)
        except PathError as error:
            yield Issue(at, f"{path} {error}", "declare the field, or correct the path")
            continue
        if "[" in path:
            yield Issue(at, f"{path} must be names after dots", "write the path of a field that is in no list")
        elif field_schema is not None and field_schema.get("type") != kind:
            yield Issue(at, f"{path} is {field_schema.get('type', 'no type')}, and must be {kind}", "correct the path")


@warning("pkg/registry/customresource/tableconvertor/tableconvertor.go")
def columns_print_something(version: DecodedVersion) -> Iterator[Issue]:
    """A column shows a declared field. Its type is that of the field, or string, which prints any value."""
    for at, entry in _columns(version):
        path, column_type = entry.get("jsonPath", ""), entry.get("type", "")
        if not path.startswith(".") or version.schema is None:
            continue
        try:
            field_schema = column(path, version.schema) or {}
        except PathError as error:
            fix = "declare the field, or correct the path"
            yield Issue(f"{at}.jsonPath", f"the column stays empty: {path} {error}", fix)
            continue
        kind = "string" if field_schema.get(INT_OR_STRING) else field_schema.get("type", "")
        if kind and kind not in _PRINTED.get(column_type, (kind,)):
            problem = f"{path} is of type {kind}, which a column of type {column_type} never prints"
            yield Issue(f"{at}.type", problem, "write the type of the field, or string, which prints any value")


def _columns(version: DecodedVersion) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, entry in enumerate(version.written.get("additionalPrinterColumns", ())):
        yield f"additionalPrinterColumns[{index}]", entry
