"""The scale subresource, columns of `kubectl get`, and selectable fields: paths into the object."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.lint.fieldpath import PathError, resolve
from crdgen.lint.rule import Found, refused, surprising
from crdgen.lint.version import Version
from crdgen.schema import PRESERVE, Schema
from crdgen.schema.limits import COLUMN_FORMATS, COLUMN_TYPES, SELECTABLE_FIELDS, SELECTABLE_TYPES

_SCALE: Final = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}


def scale_paths_are_of_spec_and_status(version: Version) -> Iterator[Found]:
    """Scaling writes a number of spec and reads one of status.

    Source: apiextensions validation.go, ValidateCustomResourceDefinitionSubresources
    """
    scale = version.subresources.get("scale")
    if scale is None:
        return
    for field, roots in _SCALE.items():
        path = scale.get(field, "")
        if (path or field != "labelSelectorPath") and not path.startswith(roots):
            wanted = " or ".join(roots)
            yield Found(f"subresources.scale.{field}", f"{field} {path!r} must begin with {wanted}", "correct it")


def columns_are_complete(version: Version) -> Iterator[Found]:
    """A column has a name, one of five types and a path that begins with a dot.

    Source: apiextensions validation.go, ValidateCustomResourceColumnDefinition
    """
    for at, column in _columns(version):
        if not column.get("name"):
            yield Found(f"{at}.name", "the column has no name", "write one")
        if column.get("type") not in COLUMN_TYPES:
            fix = f"write one of {', '.join(COLUMN_TYPES)}"
            yield Found(f"{at}.type", f"there is no column type {column.get('type', '')!r}", fix)
        if column.get("format") and column["format"] not in COLUMN_FORMATS:
            fix = f"write one of {', '.join(COLUMN_FORMATS)}, or remove it"
            yield Found(f"{at}.format", f"there is no column format {column['format']!r}", fix)
        if not column.get("jsonPath", "").startswith("."):
            path = column.get("jsonPath", "")
            yield Found(f"{at}.jsonPath", f"jsonPath {path!r} must begin with a dot", "write .spec.name or such")


def selectable_fields_are_scalars(version: Version) -> Iterator[Found]:
    """Field selectors compare texts, numbers and booleans that are declared, of spec or status.

    Source: apiextensions validation.go, ValidateCustomResourceSelectableFields
    """
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(version.written.get("selectableFields", ())):
        path = field.get("jsonPath", "")
        at = f"selectableFields[{index}].jsonPath"
        try:
            names, schema = resolve(path, version.schema or {}, brackets=False) if path else ([], None)
        except PathError as error:
            yield Found(at, f"jsonPath {path} {error}", "write .spec.name or such")
            continue
        if not names:
            yield Found(at, "jsonPath is empty", "write .spec.name or such")
            continue
        if names[0] == "metadata":
            yield Found(at, "metadata has selectors of its own", "write a field of spec or status")
        if schema is None or schema.get("type") not in SELECTABLE_TYPES:
            yield Found(at, f"{path} must be a {', '.join(SELECTABLE_TYPES)}", "write the path of one")
        if tuple(names) in seen:
            yield Found(at, f"{path} is there twice", "remove one")
        seen.add(tuple(names))
    if len(seen) > SELECTABLE_FIELDS:
        yield Found("selectableFields", f"{len(seen)} fields: {SELECTABLE_FIELDS} is the most", "remove some")


def scale_is_bounded_by_the_schema(version: Version) -> Iterator[Found]:
    """A write to the scale subresource meets the schema and no webhook of the kind: a bound in a webhook is passed by.

    Source: k8s.io/api, admissionregistration/v1, Rule.resources: `jobs` does not match `jobs/scale`
    """
    scale = version.subresources.get("scale", {})
    path = scale.get("specReplicasPath", "")
    schema = _declared(path, version.schema)
    if schema is not None and not {"minimum", "maximum"} <= schema.keys():
        missing = [keyword for keyword in ("minimum", "maximum") if keyword not in schema]
        fix = f"write {' and '.join(missing)} for it, or let the webhook match the resource with /scale too"
        problem = (
            f"{path} has no {' and no '.join(missing)}, and the scale subresource bypasses a webhook that bounds it"
        )
        yield Found("subresources.scale", problem, fix)


def scale_paths_are_declared(version: Version) -> Iterator[Found]:
    """Scaling a field that is pruned does nothing.

    Source: pkg/registry/customresource/etcd.go, ScaleREST
    """
    wanted = {"specReplicasPath": "integer", "statusReplicasPath": "integer", "labelSelectorPath": "string"}
    for field, kind in wanted.items():
        path = version.subresources.get("scale", {}).get(field, "")
        if path and path.startswith(_SCALE[field]) and _is_missing(path, version.schema):
            yield Found(
                f"subresources.scale.{field}", f"{path} is no declared field", "declare it, or correct the path"
            )
            continue
        schema = _declared(path, version.schema)
        if schema is not None and schema.get("type") != kind:
            found = schema.get("type", "no type")
            yield Found(f"subresources.scale.{field}", f"{path} is {found}, and must be {kind}", "correct the path")


def columns_are_declared(version: Version) -> Iterator[Found]:
    """A column of a field that is not declared is always empty.

    Source: pkg/registry/customresource/tableconvertor/tableconvertor.go
    """
    for at, column in _columns(version):
        path = column.get("jsonPath", "")
        if path.startswith(".") and _is_missing(path, version.schema):
            yield Found(f"{at}.jsonPath", f"{path} is no declared field: the column stays empty", "correct the path")


def _columns(version: Version) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, column in enumerate(version.written.get("additionalPrinterColumns", ())):
        yield f"additionalPrinterColumns[{index}]", column


def _is_missing(path: str, schema: Schema | None) -> bool:
    """Tell whether a plain path leads to nothing; one with brackets may lead anywhere."""
    names = path.split(".")[1:]
    if not all(name.replace("-", "").replace("_", "").isalnum() for name in names):
        return False
    current: Any = schema
    for index, name in enumerate(names):
        if not isinstance(current, dict) or current.get(PRESERVE) or "additionalProperties" in current:
            return False
        if index == 0 and name in {"metadata", "apiVersion", "kind"}:
            return False
        if name not in current.get("properties", {}):
            return True
        current = current["properties"][name]
    return False


def _declared(path: str, schema: Schema | None) -> Schema | None:
    try:
        return resolve(path, schema or {}, brackets=False)[1] if path.startswith(".") else None
    except PathError:
        return None


REFUSED_OF_ONE = refused(scale_paths_are_of_spec_and_status, columns_are_complete, selectable_fields_are_scalars)
SURPRISING_OF_ONE = surprising(scale_is_bounded_by_the_schema, scale_paths_are_declared, columns_are_declared)
