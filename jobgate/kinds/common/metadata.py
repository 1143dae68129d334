"""The checks of an object's own metadata that the API server makes before it calls a validating webhook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final

from msgspec import Meta, defstruct

from jobgate.kinds.common.fitting import TYPE, Never
from jobgate.names import (
    GENERATED_LIMIT,
    LABEL,
    LABEL_LIMIT,
    SUBDOMAIN,
    SUBDOMAIN_LIMIT,
    annotation_key,
    dns_label,
    dns_subdomain,
    generate_name,
    label_value,
    qualified_name,
)
from webhook import Cause, Invalid, Path, Required, TypeInvalid

#: What the schemas of custom resources say of metadata.
_ANY: Final = {"type": "object"}

#: Causes of one list or map, at most: as many as its schema would give.
ENOUGH: Final = 1000
_WORD: Final = rf"[A-Za-z0-9](?:[-A-Za-z0-9_.]{{0,{LABEL_LIMIT - 2}}}[A-Za-z0-9])?"


def with_ordinary_metadata(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an object whose metadata surely is right: `metadata_causes` finds nothing in it."""
    properties = schema.get("properties", {})
    # Of a schema that says more of metadata, nothing is sure.
    shape = ordinary_metadata() if properties.get("metadata", _ANY) == _ANY else Never
    required = sorted({*schema.get("required", ()), "metadata"})
    return {**schema, "properties": {**properties, "metadata": {TYPE: shape}}, "required": required}


@cache
def ordinary_metadata() -> Any:
    """Return the type of ordinary metadata: a little narrower than what is right, so that it is checked fast.

    Patterns are matched in Python, which calls them faster than msgspec does.
    """

    def whole(pattern: str) -> Callable[[str], object]:
        return re.compile(rf"(?:{pattern})\Z").match

    subdomain, label, beginning = whole(SUBDOMAIN), whole(LABEL), whole("[a-z0-9][-a-z0-9]*")
    key, value = whole(f"(?:{SUBDOMAIN}/)?{_WORD}"), whole(f"(?:{_WORD})?")

    def reject(self: Any) -> None:
        if not (
            (self.name or self.generate_name)
            and (self.name is None or subdomain(self.name))
            and (self.generate_name is None or beginning(self.generate_name))
            and (self.namespace is None or label(self.namespace))
        ):
            raise ValueError("a name")
        for name, text in self.labels.items() if self.labels else ():
            if not (key(name) and value(text)):
                raise ValueError("a label")
        for name in (*(self.annotations or ()), *(self.finalizers or ())):
            if not key(name):
                raise ValueError("a key")

    def text(most: int) -> Any:
        return Annotated[str, Meta(max_length=most)]

    fields = {
        "name": text(SUBDOMAIN_LIMIT),
        "generate_name": text(GENERATED_LIMIT),
        "namespace": text(LABEL_LIMIT),
        "labels": dict[text(SUBDOMAIN_LIMIT), text(LABEL_LIMIT)],  # type: ignore[misc]
        "annotations": dict[text(SUBDOMAIN_LIMIT), str],  # type: ignore[misc]
        "finalizers": list[text(SUBDOMAIN_LIMIT)],  # type: ignore[misc]
    }
    return defstruct(
        "Metadata",
        [(name, shape, None) for name, shape in fields.items()],
        namespace={"__post_init__": reject},
        rename="camel",
        gc=False,
    )


def metadata_causes(metadata: Any) -> Iterator[Cause]:
    """Yield what is wrong with an object's metadata, by `ValidateObjectMeta` of apimachinery.

    The schema checks that it is an object.
    """
    if metadata is None:
        yield Required("metadata", "an object must have a name")
    if isinstance(metadata, Mapping):
        yield from _names(metadata)
        for causes in (
            _words(metadata, "labels", qualified_name, label_value),
            _words(metadata, "annotations", annotation_key),
            _finalizers(metadata.get("finalizers")),
        ):
            yield from islice(causes, ENOUGH)


def _names(metadata: Mapping[str, Any]) -> Iterator[Cause]:
    """The name is a DNS subdomain, and `generateName` the beginning of one."""
    checks = (("name", dns_subdomain), ("generateName", generate_name), ("namespace", dns_label))
    for key, fault_of in checks:
        text = metadata.get(key)
        if text is not None and not isinstance(text, str):
            yield TypeInvalid(f"metadata.{key}", text, "must be a string")
        elif text and (fault := fault_of(text)):
            yield Invalid(f"metadata.{key}", text, fault)
    if not metadata.get("name") and not metadata.get("generateName"):
        yield Required("metadata.name", "name or generateName is required")


def _words(
    metadata: Mapping[str, Any],
    field: str,
    key_fault: Callable[[str], str | None],
    value_fault: Callable[[str], str | None] = lambda _: None,
) -> Iterator[Cause]:
    """Labels and annotations are maps of strings. Values of annotations are never shown."""
    words, path = metadata.get(field), Path("metadata") / field
    if words is None:
        return
    if not isinstance(words, Mapping):
        yield Invalid(path, type_word(words), "must be a map of strings")
        return
    for key, value in words.items():
        if fault := key_fault(key):
            yield Invalid(path, key, fault)
        if value is not None and not isinstance(value, str):
            yield TypeInvalid(path.key(key), type_word(value), "must be a string: enclose it in quotes")
        elif value and (fault := value_fault(value)):
            yield Invalid(path.key(key), value, fault)


def _finalizers(finalizers: Any) -> Iterator[Cause]:
    if finalizers is None:
        return
    if not isinstance(finalizers, list):
        yield TypeInvalid("metadata.finalizers", type_word(finalizers), "must be a list of strings")
        return
    for index, finalizer in enumerate(finalizers):
        if not isinstance(finalizer, str):
            yield TypeInvalid(f"metadata.finalizers[{index}]", type_word(finalizer), "must be a string")
        elif fault := qualified_name(finalizer):
            yield Invalid(f"metadata.finalizers[{index}]", finalizer, fault)


def type_word(value: Any) -> str:
    """Return what the API server calls the type of a JSON value: what a message shows of a value that is private."""
    if isinstance(value, Mapping):
        return "object"
    words = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return words.get(type(value), "null")
