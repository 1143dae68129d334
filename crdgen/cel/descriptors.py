"""Protobuf descriptors of declared types, which the CEL library's type checker reads."""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, duration_pb2, struct_pb2, timestamp_pb2

from crdgen.cel.declared import PACKAGE, Mapping, Scalar, Sequence, Structure, Type

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
    "timestamp": ".google.protobuf.Timestamp",
}
_FILES: Final = (duration_pb2, struct_pb2, timestamp_pb2)


class Descriptors:
    """The messages of one schema, numbered, and what each stands for."""

    def __init__(self) -> None:
        self.structures: dict[str, Structure] = {}
        self._file = descriptor_pb2.FileDescriptorProto(
            # Of proto2, which does not mind names that differ in case only.
            name="schema.proto",
            package=PACKAGE,
            syntax="proto2",
            dependency=[module.DESCRIPTOR.name for module in _FILES],
        )

    def pool(self) -> Any:
        """Return the descriptors as the library wants them."""
        pool = descriptor_pool.DescriptorPool()
        for module in _FILES:
            pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def reference(self, kind: Type) -> dict[str, Any]:
        """Return the type as the configuration of a variable names it; messages of it are added."""
        match kind:
            case Scalar(name):
                return {"type_name": name}
            case Sequence(items):
                return {"type_name": "list", "params": [self.reference(items)]}
            case Mapping(values):
                return {"type_name": "map", "params": [{"type_name": "string"}, self.reference(values)]}
            case Structure():
                return {"type_name": self._message(kind)}

    def _message(self, structure: Structure) -> str:
        name = f"T{len(self.structures)}"
        self.structures[f"{PACKAGE}.{name}"] = structure
        message = descriptor_pb2.DescriptorProto(name=name)
        for number, (field, kind) in enumerate(structure.fields.items(), start=1):
            self._field(message, field, _place(number), kind)
        self._file.message_type.append(message)
        return f"{PACKAGE}.{name}"

    def _field(self, message: Any, name: str, number: int, kind: Type) -> None:
        label = _FIELD.LABEL_OPTIONAL
        if isinstance(kind, Sequence):
            label, kind = _FIELD.LABEL_REPEATED, kind.items
        elif isinstance(kind, Mapping):
            name_of_entry = _entry(name)
            if any(nested.name == name_of_entry for nested in message.nested_type):
                self._single(message, name, number, kind)
                return
            entry = message.nested_type.add(name=name_of_entry)
            entry.options.map_entry = True
            self._field(entry, "key", 1, Scalar("string"))
            self._single(entry, "value", 2, kind.values)
            type_name = f".{PACKAGE}.{message.name}.{entry.name}"
            message.field.add(
                name=name,
                json_name=f"f{number}",
                number=number,
                label=_FIELD.LABEL_REPEATED,
                type=_FIELD.TYPE_MESSAGE,
                type_name=type_name,
            )
            return
        self._single(message, name, number, kind, label)

    def _single(self, message: Any, name: str, number: int, kind: Type, label: Any = _FIELD.LABEL_OPTIONAL) -> None:
        """Add a field of one value, or of a list of values; what protobuf cannot type is not typed."""
        # With a JSON name of its own, because `a_b` and `aB` would have the same one.
        added = message.field.add(name=name, json_name=f"f{number}", number=number, label=label)
        if isinstance(kind, Scalar) and kind.name in _SCALARS:
            added.type = _SCALARS[kind.name]
        else:
            added.type, added.type_name = _FIELD.TYPE_MESSAGE, self._type_name(kind)

    def _type_name(self, kind: Type) -> str:
        match kind:
            case Structure():
                return f".{self._message(kind)}"
            case Scalar(name):
                return _MESSAGES[name]
            case Sequence():
                return ".google.protobuf.ListValue"
            case Mapping():
                return ".google.protobuf.Struct"


def _entry(field: str) -> str:
    """Return the name that protobuf wants for the entries of a map field; fields that differ in `_` only share it."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _place(number: int) -> int:
    """Return the number of the field; 19000 to 19999 are protobuf's own."""
    return number if number < 19000 else number + 1000
