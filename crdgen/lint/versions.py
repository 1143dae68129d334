"""Versions: names, which one is stored, what is deprecated, what the root of each schema may say."""

from collections.abc import Iterator
from typing import Final

from crdgen.dns import LABEL, is_label
from crdgen.lint.node import Node
from crdgen.lint.rule import Found, refused, surprising
from crdgen.lint.version import Definition, Version
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


def one_version_is_stored(definition: Definition) -> Iterator[Found]:
    """Objects are stored in one version.

    Source: apiextensions validation.go, validateCustomResourceDefinitionSpec
    """
    stored = [version.name for version in definition.versions if version.written.get("storage")]
    if len(stored) != 1:
        problem = f"exactly one version is stored, and these have storage: true: {', '.join(stored) or 'none'}"
        yield Found("spec.versions", problem, "write storage: true for one version, and false for all others")


def version_names_are_labels(definition: Definition) -> Iterator[Found]:
    """The name of a version is a part of its URL, and there once.

    Source: apiextensions validation.go, validateCustomResourceDefinitionSpec
    """
    seen: set[str] = set()
    for version in definition.versions:
        if not is_label(version.name):
            yield Found(
                f"{version.path}.name", f"{version.name!r} must be a label: {LABEL}", "write v1, v1beta1 or such"
            )
        if version.name in seen:
            yield Found(f"{version.path}.name", f"there are two versions {version.name}", "rename one")
        seen.add(version.name)


def version_has_a_schema(version: Version) -> Iterator[Found]:
    """Without a schema all fields would be pruned.

    Source: apiextensions validation.go, validateCustomResourceDefinitionSpec
    """
    if version.schema is None:
        yield Found("schema.openAPIV3Schema", "there is no schema", "write at least type: object")


def fields_are_pruned(definition: Definition) -> Iterator[Found]:
    """Unknown fields of whole kinds are no longer kept.

    Source: apiextensions validation.go, validatePreserveUnknownFields
    """
    if definition.spec.get("preserveUnknownFields"):
        fix = "remove it, and write x-kubernetes-preserve-unknown-fields: true in the schema where fields are kept"
        yield Found("spec.preserveUnknownFields", "preserveUnknownFields must not be true", fix)


def deprecation_warning_is_printable(version: Version) -> Iterator[Found]:
    """The warning is sent as an HTTP header to clients of a deprecated version.

    Source: apiextensions validation.go, validateDeprecationWarning
    """
    warning = version.written.get("deprecationWarning")
    if warning is None:
        return
    if not version.written.get("deprecated"):
        yield Found("deprecationWarning", "the version is not deprecated", "write deprecated: true, or remove it")
    if not warning or len(utf8(warning)) > DEPRECATION_WARNING or not warning.isprintable():
        problem = f"a deprecationWarning has 1 to {DEPRECATION_WARNING} printable bytes"
        yield Found("deprecationWarning", problem, "write one short line")


def root_keeps_status_apart(version: Version) -> Iterator[Found]:
    """With a status subresource properties.status is checked alone, so what the root says of the whole is not allowed.

    Source: apiextensions validation.go, allowedFieldsAtRootSchema
    """
    schema = version.schema
    if schema is None or not version.status_enabled:
        return
    lost = [keyword for keyword in _LOST_WITH_STATUS if keyword in schema]
    lost += [keyword for keyword in _FLAGS_LOST_WITH_STATUS if schema.get(keyword)]
    for keyword in lost:
        problem = f"the root must not have {keyword} where status is a subresource"
        yield Found(f"schema.openAPIV3Schema.{keyword}", problem, "write it below spec, or as a rule")


def status_is_declared(version: Version) -> Iterator[Found]:
    """What is written to status is pruned like anything else that the schema does not know.

    Source: schema/pruning/algorithm.go
    """
    schema = version.schema
    if schema is None:
        return
    keeps = schema.get(PRESERVE)
    if "status" in version.subresources and "status" not in schema.get("properties", {}) and not keeps:
        fix = "declare status in the schema"
        yield Found("subresources.status", "the schema has no status, so all that is written there is pruned", fix)


def some_version_is_served(definition: Definition) -> Iterator[Found]:
    """A kind of which no version is served has no objects that anybody can reach.

    Source: apiextensions types.go, CustomResourceDefinitionVersion
    """
    if definition.versions and not any(version.written.get("served") for version in definition.versions):
        yield Found("spec.versions", "no version is served", "write served: true for one at least")


def stored_versions_stay(definition: Definition) -> Iterator[Found]:
    """A version in which objects may still be stored cannot be removed: the next update of the object is refused.

    Source: apiextensions validation.go, ValidateCustomResourceDefinitionStoredVersions
    """
    names = {version.name for version in definition.versions}
    for index, name in enumerate(definition.decoded.get("status", {}).get("storedVersions", ())):
        if name not in names:
            fix = "keep the version, rewrite all objects, remove it from status.storedVersions, and then from here"
            yield Found(f"status.storedVersions[{index}]", f"objects may be stored as {name}, which is no version", fix)


def versions_hold_the_same_fields(definition: Definition) -> Iterator[Found]:
    """Without a conversion only apiVersion changes: what one version does not declare is lost when it is written there.

    Source: apiextensions types.go, NoneConverter
    """
    if definition.spec.get("conversion", {}).get("strategy", "None") != "None":
        return
    served = [version for version in definition.versions if version.written.get("served") and version.schema]
    if len(served) < 2:
        return
    first, *others = served
    fields = _fields(first)
    for other in others:
        differing = sorted(fields ^ _fields(other))
        if differing:
            more = "" if len(differing) == 1 else f" and {len(differing) - 1} more"
            problem = f"{first.name} and {other.name} differ in {differing[0]}{more}: written in one, lost in the other"
            yield Found(f"{other.path}.schema", problem, "declare the fields in both, or write a conversion webhook")


def versions_agree_on_types(definition: Definition) -> Iterator[Found]:
    """Without a conversion only apiVersion changes: a value of one version's type is read as one of the other's.

    Source: apiextensions types.go, NoneConverter
    """
    if definition.spec.get("conversion", {}).get("strategy", "None") != "None":
        return
    served = [version for version in definition.versions if version.written.get("served")]
    first, others = (served[0], served[1:]) if served else (None, [])
    types = _types(first) if first and others else {}
    for other in others:
        found = _types(other)
        differing = [field for field in types if field in found and types[field] != found[field]]
        if first and differing:
            field, more = differing[0], "" if len(differing) == 1 else f", and so with {len(differing) - 1} more"
            problem = f"{field} is {types[field]} in {first.name}, and {found[field]} in {other.name}{more}"
            fix = "give it another name in one of them, or write a conversion webhook"
            yield Found(f"{other.path}.schema", f"{problem}: what is written in one cannot be read in the other", fix)


def _types(version: Version) -> dict[str, str]:
    """Return the type of each place of an object where the schema tells one."""
    told = {node.field: _type(node) for node in version.nodes if node.field and not node.branch}
    return {field: kind for field, kind in told.items() if kind}


def _type(node: Node) -> str:
    return "integer or string" if node.flag(INT_OR_STRING) else node.type


def _fields(version: Version) -> set[str]:
    return {node.field for node in version.nodes if not node.branch and node.name and not _is_open(node)}


def _is_open(node: Node) -> bool:
    around = node.parent
    while around is not None:
        if around.flag(PRESERVE):
            return True
        around = around.parent
    return False


REFUSED = refused(one_version_is_stored, version_names_are_labels, fields_are_pruned)
REFUSED_OF_ONE = refused(version_has_a_schema, deprecation_warning_is_printable, root_keeps_status_apart)
SURPRISING = surprising(
    some_version_is_served, stored_versions_stay, versions_hold_the_same_fields, versions_agree_on_types
)
SURPRISING_OF_ONE = surprising(status_is_declared)
