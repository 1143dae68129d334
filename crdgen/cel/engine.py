"""Compiling and evaluating expressions with the CEL library; imported only where it is installed.

An expression is typed in an environment of the schema, whose objects are messages, and evaluated in another one, whose
objects are maps: so `has()` is true of an empty list, and an integer-or-string has the type of its value.

The messages are protobuf descriptors. Protobuf has no lists of lists and no maps of lists or maps: what is inside of
those is not typed (`dyn`) where they are fields. Everything else is typed as the API server types it.

What bounds an evaluation: the library ends it after 10,000 steps of comprehensions, patterns are RE2's, and
`crdgen.cel.cost` rejects what may cost more than the API server allows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import prod
from typing import Any, Final

from google.protobuf import descriptor_pb2, duration_pb2, struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool

from crdgen import re2
from crdgen.cel.cost import bound
from crdgen.cel.declarations import checking, describe_opaque, running
from crdgen.cel.errors import CompilationError, NotEvaluated, failed, sentence
from crdgen.cel.reading import read
from crdgen.cel.tree import CelExpression, walk
from crdgen.cel.types import Type, type_of
from crdgen.cel.values import in_order, text_of, value_of
from crdgen.durations import nanoseconds
from crdgen.schema.look import as_read

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
        for number, (written, inner) in enumerate(kind.fields.items(), start=1):
            self._field(message, written, number, inner)
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


_ERROR: Final = re.compile(r"ERROR: [^:]*:(-?\d+):(-?\d+): (.*?)(?= \[[A-Z_]+\]$|\n|$)", re.MULTILINE)
#: What the library's parser says of an expression that is too deep or too large for it, though not for the API server.
_TOO_LARGE: Final = re.compile(r"recursion limit|recursion depth|node count")
#: Each of these macros doubles what is before it when it is expanded.
_DOUBLING: Final = re.compile(r"\.\s*optFlatMap\b|\.\s*optMap\b")
_MOST_DOUBLED: Final = 8
#: How often `format` may repeat what it is given, in comprehensions that may feed one `format` to another: nothing that
#: the API server estimates tells how long the text becomes.
_MOST_REPEATED: Final = 1000
_ONLY_TYPED: Final = frozenset({"semver", "isSemver", "validate"})


@dataclass(frozen=True)
class CompiledExpression:
    """An expression that compiles, with its tree, the types of the tree's parts by their numbers, and of its result.

    `optional` says whether oldSelf is an optional value.
    """

    expression: str
    schema: str = field(repr=False)
    root: bool
    optional: bool
    tree: CelExpression = field(repr=False)
    types: Mapping[int, str] = field(repr=False)
    returns: str
    self_type: Type = field(repr=False)
    _serialized: bytes = field(repr=False)
    _costs: dict[int, int] = field(default_factory=dict, repr=False)

    def cost(self, most: int) -> int:
        """Return what the expression may cost where no value that it is given is larger than `most`."""
        bucket = 2 ** most.bit_length()
        if bucket not in self._costs:
            self._costs[bucket] = bound(self.tree, self.types, self.self_type, bucket)
        return self._costs[bucket]

    def activation(self, value: Any, old: Any) -> Any:
        """Return the variables `self` and `oldSelf`, if it is not None, for any number of rules of this schema."""
        variables = {"self": value_of(value, self.self_type)}
        if old is not None:
            variables["oldSelf"] = value_of(in_order(old, value, self.self_type), self.self_type)
        return _running().Activation(variables)

    def run(self, variables: Any, *, old: bool) -> Any:
        """Return what the expression gives; the variables are `activation`'s, and `old` says whether one is oldSelf.

        Raises:
            EvaluationError: The expression fails, as it would on the API server.
            NotEvaluated: It takes more steps than the library takes, or the library cannot make a value of it.
        """
        if self.optional:
            # An optional value cannot be given to the library, but made in an expression.
            made = f"{str(old).lower()} ? optional.of(oldSelf) : optional.none()"
            wrapped = f"[{made}].map(oldSelf, ({self.expression}\n))[0]"
            return compile_(wrapped, self.schema, root=self.root, optional=False).run(variables, old=old)
        if why := _unlike(self.tree):
            raise NotEvaluated(why)
        try:
            result = _running().deserialize(self._serialized).eval(variables)
        except RuntimeError as error:
            raise failed(str(error)) from None
        except (ValueError, MemoryError) as error:
            # It makes a list of fewer than no entries, or more than there is memory for.
            raise NotEvaluated(f"cannot be evaluated by the CEL library: {error}") from None
        if result.type().name() == "ERROR":
            raise failed(str(result.value()))
        return result.plain_value()


@lru_cache(maxsize=1024)
def compile_(expression: str, schema: str, *, root: bool, optional: bool) -> CompiledExpression:
    """Return the compiled expression; the schema is that of `self`, as JSON.

    Raises:
        CompilationError: The API server would not compile it.
        NotEvaluated: The library cannot compile it.
    """
    if len(_DOUBLING.findall(expression)) > _MOST_DOUBLED:
        raise NotEvaluated(f"uses optMap and optFlatMap more than {_MOST_DOUBLED} times")
    environment = _checking(schema, root, optional)
    try:
        compiled = environment.env.compile(as_read(expression))
    except RuntimeError as error:
        if _TOO_LARGE.search(str(error)):
            raise NotEvaluated("is too deep or too large for the CEL library") from None
        raise CompilationError(_sentences(str(error), environment.objects)) from None
    serialized = compiled.serialize()
    tree, types = read(serialized)
    if problems := [problem for node in walk(tree) for problem in _literal_problems(node)]:
        raise CompilationError(problems)
    returns = compiled.return_type().name()
    return CompiledExpression(expression, schema, root, optional, tree, types, returns, environment.kind, serialized)


@dataclass(frozen=True)
class _Environment:
    env: Any
    kind: Type
    objects: dict[str, Type]


@lru_cache(maxsize=64)
def _checking(schema: str, root: bool, optional: bool) -> _Environment:
    kind = type_of(json.loads(schema), root=root)
    if kind is None:
        raise CompilationError(["rules do not see values of this schema: its type is not known"])
    descriptors = Descriptors()
    reference = descriptors.reference(kind)
    before = {"type_name": "optional_type", "params": [reference]} if optional else reference
    variables = [{"name": "self", **reference}, {"name": "oldSelf", **before}]
    pool = descriptors.pool()
    describe_opaque(pool)
    return _Environment(checking(pool, variables), kind, descriptors.objects)


@cache
def _running() -> Any:
    return running()


def _sentences(text: str, objects: Mapping[str, Type]) -> list[str]:
    found = _ERROR.findall(text)
    if not found:
        return [text.rpartition(" [")[0] or text]
    # What follows from another problem is of the type `*error*`.
    own = [(int(column), problem) for _, column, problem in found if "*error*" not in problem]
    return list(dict.fromkeys(sentence(problem, column, objects) for column, problem in own))


def _unlike(tree: CelExpression) -> str:
    """Return why the library would not evaluate the expression as the API server does; empty where it does."""
    for node in walk(tree):
        if node.kind in {"call", "method"} and (node.value in _ONLY_TYPED or node.value.startswith("format.")):
            return f"uses {node.value}"
    loops = [node for node in walk(tree) if node.kind == "loop"]
    repeated = [part for node in loops for part in walk(node) if (part.kind, part.value) == ("method", "format")]
    given = {part.id: part.parts[1] for part in repeated}.values()
    times = prod(max(1, len(each.parts)) if each.kind == "list" else _MOST_REPEATED for each in given)
    return "uses format within comprehensions too often" if times > _MOST_REPEATED else ""


def _literal_problems(node: CelExpression) -> list[str]:
    """Return literals that Kubernetes rejects when a rule is made (cel-go, cel/validator.go)."""
    match node:
        case CelExpression("call", "timestamp", (CelExpression("literal", str(text)),)) if not _is_time(text):
            return [f"{text!r} is no time such as 2006-01-02T15:04:05Z"]
        case CelExpression("call", "duration", (CelExpression("literal", str(text)),)) if nanoseconds(text) is None:
            return [f"{text!r} is no duration such as 1h30m"]
        case CelExpression(_, "matches", (*_, CelExpression("literal", str(text)))) | CelExpression(
            "method", "find" | "findAll", (_, CelExpression("literal", str(text)), *_)
        ) if problem := re2.problem(text):
            return [f"{text!r} is no pattern of RE2: it has {problem.what}"]
    return []


def _is_time(text: str) -> bool:
    result = _running().compile("timestamp(self)").eval(data={"self": text_of(text)})
    return bool(result.type().name() != "ERROR")
