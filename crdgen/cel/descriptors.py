"""The types of a schema as protobuf descriptors, which the CEL library's type checker reads.

Protobuf has no lists of lists and no maps of lists or maps: what is inside of those is not typed (`dyn`) where they are
fields. Everything else is typed as the API server types it.
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, duration_pb2, struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool

from crdgen.cel.types import Type

PACKAGE: Final = "schema"

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    "bool": _FIELD.TYPE_BOOL,
    "bytes": _FIELD.TYPE_BYTES,
    "double": _FIELD.TYPE_DOUBLE,
    "int": _FIELD.TYPE_INT64,
    "string": _FIELD.TYPE_STRING,
}
_MESSAGES: Final = {
    "duration": ".google.protobuf.Duration",
    "dyn": ".google.protobuf.Value",
    "list": ".google.protobuf.ListValue",
    "map": ".google.protobuf.Struct",
    "timestamp": ".google.protobuf.Timestamp",
}
_FILES: Final = (duration_pb2, struct_pb2, timestamp_pb2)


class Descriptors:
    """The messages of one schema, numbered, and what each stands for."""

    def __init__(self) -> None:
        self.objects: dict[str, Type] = {}
        self._file = descriptor_pb2.FileDescriptorProto(
            # Of proto2, which does not mind names that differ in case only.
            name="schema.proto",
            package=PACKAGE,
            syntax="proto2",
            dependency=[module.DESCRIPTOR.name for module in _FILES],
        )

    def pool(self) -> DescriptorPool:
        """Return the descriptors as the library wants them."""
        pool = DescriptorPool()
        for module in _FILES:
            pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def reference(self, kind: Type) -> dict[str, Any]:
        """Return the type as the configuration of a variable names it; messages of it are added."""
        if kind.name == "object":
            return {"type_name": self._message(kind)}
        inner = [self.reference(kind.inner)] if kind.inner else []
        return {"type_name": kind.name, "params": [{"type_name": "string"}] * (kind.name == "map") + inner}

    def _message(self, kind: Type) -> str:
        name = f"T{len(self.objects)}"
        self.objects[f"{PACKAGE}.{name}"] = kind
        message = descriptor_pb2.DescriptorProto(name=name)
        for number, (field, inner) in enumerate(kind.fields.items(), start=1):
            self._field(message, field, number, inner)
        self._file.message_type.append(message)
        return f"{PACKAGE}.{name}"

    def _field(self, message: Any, name: str, number: int, kind: Type) -> None:
        entry = "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"
        # Fields that differ in `_` only share the name that protobuf wants for a map's entries: one of them has none.
        if kind.name == "map" and kind.inner and not any(nested.name == entry for nested in message.nested_type):
            nested = message.nested_type.add(name=entry)
            nested.options.map_entry = True
            nested.field.add(name="key", number=1, label=_FIELD.LABEL_OPTIONAL, type=_FIELD.TYPE_STRING)
            self._value(nested.field.add(name="value", number=2, label=_FIELD.LABEL_OPTIONAL), kind.inner)
            kind, label = Type(f".{PACKAGE}.{message.name}.{entry}"), _FIELD.LABEL_REPEATED
        elif kind.name == "list" and kind.inner:
            kind, label = kind.inner, _FIELD.LABEL_REPEATED
        else:
            label = _FIELD.LABEL_OPTIONAL
        # 19000 to 19999 are protobuf's own. `a_b` and `aB` would have the same JSON name.
        place = number if number < 19000 else number + 1000
        self._value(message.field.add(name=name, json_name=f"f{number}", number=place, label=label), kind)

    def _value(self, added: Any, kind: Type) -> None:
        """Say of what type a field is; what protobuf cannot type is not typed."""
        if kind.name in _SCALARS:
            added.type = _SCALARS[kind.name]
        else:
            name = f".{self._message(kind)}" if kind.name == "object" else _MESSAGES.get(kind.name, kind.name)
            added.type, added.type_name = _FIELD.TYPE_MESSAGE, name
