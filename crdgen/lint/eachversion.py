"""Rules for single versions: schema, deprecation, the root of the schema."""

from collections.abc import Iterator
from typing import Final

from crdgen.lint.rule import Found, error, warning
from crdgen.lint.version import DecodedVersion
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, PRESERVE
from crdgen.schema.limits import DEPRECATION_WARNING
from crdgen.utf8 import utf8

#: What the root must not say where status is a subresource, because `properties.status` is then checked alone. The
#: others count where they have another value than Go's zero value.
_LOST_WITH_STATUS: Final[tuple[str, ...]] = (
    *("default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf", "not", "additionalProperties"),
    *(LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE),
)
_FLAGS_LOST_WITH_STATUS: Final = ("nullable", EMBEDDED, INT_OR_STRING)


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def version_has_a_schema(version: DecodedVersion) -> Iterator[Found]:
    """Each version has a schema."""
    if version.schema is None:
        yield Found("schema.openAPIV3Schema", "there is no schema", "write at least type: object")


@error("apiextensions validation.go, validateDeprecationWarning")
def deprecation_warning_is_printable(version: DecodedVersion) -> Iterator[Found]:
    """The warning is sent as an HTTP header to clients of a deprecated version."""
    warning = version.written.get("deprecationWarning")
    if warning is None:
        return
    if not version.written.get("deprecated"):
        yield Found("deprecationWarning", "the version is not deprecated", "write deprecated: true, or remove it")
    if not warning or len(utf8(warning)) > DEPRECATION_WARNING or not warning.isprintable():
        problem = f"a deprecationWarning has 1 to {DEPRECATION_WARNING} printable bytes"
        yield Found("deprecationWarning", problem, "write one short line")


@error("apiextensions validation.go, allowedFieldsAtRootSchema")
def root_keeps_status_apart(version: DecodedVersion) -> Iterator[Found]:
    """With a status subresource, status is validated on its own, so keywords about the whole object are not allowed."""
    schema = version.schema
    if schema is None or not version.status_enabled:
        return
    lost = [keyword for keyword in _LOST_WITH_STATUS if keyword in schema]
    lost += [keyword for keyword in _FLAGS_LOST_WITH_STATUS if schema.get(keyword)]
    for keyword in lost:
        problem = f"the root must not have {keyword} if the version has a status subresource"
        yield Found(f"schema.openAPIV3Schema.{keyword}", problem, "write it below spec, or as a rule")


@warning("schema/pruning/algorithm.go")
def status_is_declared(version: DecodedVersion) -> Iterator[Found]:
    """Without a schema for status, everything written to it is pruned."""
    schema = version.schema
    if schema is None:
        return
    keeps = schema.get(PRESERVE)
    if "status" in version.subresources and "status" not in schema.get("properties", {}) and not keeps:
        fix = "declare status in the schema"
        yield Found(
            "subresources.status", "the schema does not declare status, so everything written to it is pruned", fix
        )
