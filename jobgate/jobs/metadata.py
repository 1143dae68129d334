"""The checks of an object's own metadata that the API server makes before it calls a validating webhook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from jobgate.names import GENERATED_LIMIT
from jobgate.podchecks.fitting import TYPE, Never
from jobgate.podchecks.metadata import RULES
from jobgate.podchecks.shapes import DnsLabel, DnsSubdomain, Labels, QualifiedName, whole_text
from webhook import Cause, Path, Required, TypeInvalid

#: The schema of metadata in all custom resources.
_ANY: Final = {"type": "object"}

#: Maximum number of causes for a field, the same as for a schema.
ENOUGH: Final = 1000

#: The types of the fields. The API server cannot decode other types, but files for `jobgate` commands may have them.
_STRING = (str, "must be a string")
_MAP = (dict, "must be a map of strings")
_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    **dict.fromkeys(("name", "generateName", "namespace"), _STRING),
    **dict.fromkeys(("labels", "annotations"), _MAP),
    "finalizers": (list, "must be a list of strings"),
}


class OrdinaryMetadata(Struct, rename="camel", gc=False):
    """Metadata in which `metadata_causes` surely finds no fault."""

    name: DnsSubdomain | None = None
    generate_name: Annotated[str, Meta(pattern=whole_text("[a-z0-9][-a-z0-9]*"), max_length=GENERATED_LIMIT)] | None = (
        None
    )
    namespace: DnsLabel | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    annotations: dict[QualifiedName, str] | UnsetType = UNSET
    finalizers: list[QualifiedName] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if not (self.name or self.generate_name):
            raise ValueError("no name")


def with_ordinary_metadata(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an object that accepts only `OrdinaryMetadata`."""
    properties = schema.get("properties", {})
    # A schema with rules for metadata needs the evaluator.
    shape = OrdinaryMetadata if properties.get("metadata", _ANY) == _ANY else Never
    required = sorted({*schema.get("required", ()), "metadata"})
    return {**schema, "properties": {**properties, "metadata": {TYPE: shape}}, "required": required}


def metadata_causes(metadata: Any) -> Iterator[Cause]:
    """Yield the faults of an object's metadata, by `ValidateObjectMeta` of apimachinery.

    The schema checks that it is an object.
    """
    if metadata is None:
        yield Required("metadata", "an object must have a name")
    if not isinstance(metadata, Mapping):
        return
    if not metadata.get("name") and not metadata.get("generateName"):
        yield Required("metadata.name", "name or generateName is required")
    for field in _TYPES:
        if metadata.get(field) is not None:
            yield from islice(_field_causes(field, metadata[field]), ENOUGH)


def _field_causes(field: str, value: Any) -> Iterator[Cause]:
    """Yield wrong types in a field, and wrong formats of its other parts. No message shows an annotation's value."""
    path, (class_, right) = Path("metadata") / field, _TYPES[field]
    if not isinstance(value, class_):
        yield TypeInvalid(path, value if class_ is str else type_word(value), right)
        return
    quotes = ": enclose it in quotes" if class_ is dict else ""
    not_strings = ((place, part) for place, part in _parts(value, path) if not isinstance(part, str))
    wrong = {
        place: TypeInvalid(place, type_word(part), f"must be a string{quotes}")
        for place, part in islice(not_strings, ENOUGH)
    }
    yield from wrong.values()
    for cause in RULES[field].check(value, path):
        if isinstance(cause, Cause) and cause.path not in wrong:
            yield cause


def _parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        yield from ((path.key(key), part) for key, part in value.items() if part is not None)
    elif isinstance(value, list):
        yield from ((path / index, part) for index, part in enumerate(value))


def type_word(value: Any) -> str:
    """Return the API server's name for the type of a JSON value; messages show it instead of a private value."""
    if isinstance(value, Mapping):
        return "object"
    words = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return words.get(type(value), "null")
