"""Compile and evaluate expressions with the CEL library; imported only if it is installed.

The types of an expression are checked in an environment of the schema, with objects as messages. It is evaluated in
another environment, with objects as maps: so `has()` is true for an empty list, and an integer-or-string has the type
of its value.

The messages are protobuf descriptors. Protobuf has no lists of lists and no maps of lists or maps: in such fields, the
inner values are not typed (`dyn`). All other types are as on the API server.

Evaluations are bounded: the library stops after 10,000 steps of comprehensions, patterns are RE2's, and
`crdgen.cel.cost` rejects expressions that may cost more than the API server allows.
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
from crdgen.cel.cost import cost_for_size
from crdgen.cel.declarations import describe_opaque, evaluating_environment, typing_environment
from crdgen.cel.errors import CompilationError, NotEvaluated, evaluation_error, sentence
from crdgen.cel.reading import read
from crdgen.cel.tree import CelExpression, walk
from crdgen.cel.types import Type, type_of
from crdgen.cel.values import reorder, text_of, value_of
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
    """The numbered messages for the objects of a schema."""

    def __init__(self) -> None:
        self.objects: dict[str, Type] = {}
        self._file = descriptor_pb2.FileDescriptorProto(
            # proto2 allows names that differ only in case.
            name="schema.proto",
            package=PACKAGE,
            syntax="proto2",
            dependency=[module.DESCRIPTOR.name for module in _FILES],
        )

    def pool(self) -> DescriptorPool:
        """Return the descriptors as a pool for the library."""
        pool = DescriptorPool()
        for module in _FILES:
            pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def reference(self, kind: Type) -> dict[str, Any]:
        """Add the messages of a type, and return the type as in the configuration of a variable."""
        if kind.name == "object":
            return {"type_name": self._message(kind)}
        inner = [self.reference(kind.inner)] if kind.inner else []
        return {"type_name": kind.name, "params": [{"type_name": "string"}] * (kind.name == "map") + inner}

    def _message(self, kind: Type) -> str:
        name = f"T{len(self.objects)}"
        self.objects[f"{PACKAGE}.{name}"] = kind
        message = descriptor_pb2.DescriptorProto(name=name)
        for number, (field_name, inner) in enumerate(kind.fields.items(), start=1):
            self._field(message, field_name, number, inner)
        self._file.message_type.append(message)
        return f"{PACKAGE}.{name}"

    def _field(self, message: Any, name: str, number: int, kind: Type) -> None:
        entry = "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"
        # Fields whose names differ only in `_` share the name of their map entries: only one of them is a typed map.
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
        # Protobuf reserves 19000 to 19999. `a_b` and `aB` would have the same JSON name.
        field_number = number if number < 19000 else number + 1000
        self._value(message.field.add(name=name, json_name=f"f{number}", number=field_number, label=label), kind)

    def _value(self, descriptor: Any, kind: Type) -> None:
        """Set the type of a field; types that protobuf does not have are dynamic."""
        if kind.name in _SCALARS:
            descriptor.type = _SCALARS[kind.name]
        else:
            name = f".{self._message(kind)}" if kind.name == "object" else _MESSAGES.get(kind.name, kind.name)
            descriptor.type, descriptor.type_name = _FIELD.TYPE_MESSAGE, name


_ERROR: Final = re.compile(r"ERROR: [^:]*:(-?\d+):(-?\d+): (.*?)(?= \[[A-Z_]+\]$|\n|$)", re.MULTILINE)
#: Errors of the library's parser for expressions that are too deep or too large for it, but not for the API server.
_TOO_LARGE: Final = re.compile(r"recursion limit|recursion depth|node count")
#: Macros whose expansion doubles the expression before them.
_DOUBLING: Final = re.compile(r"\.\s*optFlatMap\b|\.\s*optMap\b")
_DOUBLINGS_LIMIT: Final = 8
#: Limit of repetitions by `format` in comprehensions, which may pass results to another `format`. The API server's
#: estimate does not bound the length of such strings.
_FORMATS_LIMIT: Final = 1000
_ONLY_TYPED: Final = frozenset({"semver", "isSemver", "validate"})


@dataclass(frozen=True)
class CompiledExpression:
    """A compiled expression, with its tree, the types of the tree's nodes by their numbers, and the type of its result.

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

    def cost(self, max_size: int) -> int:
        """Return the highest cost if no input value is larger than `max_size`."""
        bucket = 2 ** max_size.bit_length()
        if bucket not in self._costs:
            self._costs[bucket] = cost_for_size(self.tree, self.types, self.self_type, bucket)
        return self._costs[bucket]

    def activation(self, value: Any, old: Any) -> Any:
        """Return the variables `self` and `oldSelf`, if it is not None, for any number of rules of this schema."""
        variables = {"self": value_of(value, self.self_type)}
        if old is not None:
            variables["oldSelf"] = value_of(reorder(old, value, self.self_type), self.self_type)
        return _evaluating_environment().Activation(variables)

    def run(self, variables: Any, *, old: bool) -> Any:
        """Evaluate the expression with variables of `activation`; `old` says whether they contain oldSelf.

        Raises:
            EvaluationError: The expression fails, as on the API server.
            NotEvaluated: It needs more steps or memory than the library has.
        """
        if self.optional:
            # The library takes no optional values as input: the expression must create it.
            optional = f"{str(old).lower()} ? optional.of(oldSelf) : optional.none()"
            wrapper = f"[{optional}].map(oldSelf, ({self.expression}\n))[0]"
            return compile_(wrapper, self.schema, root=self.root, optional=False).run(variables, old=old)
        if reason := _unsupported(self.tree):
            raise NotEvaluated(reason)
        return _evaluated(_evaluating_environment().deserialize(self._serialized), variables)


def _evaluated(compiled: Any, variables: Any) -> Any:
    """Return the value of an expression of the library."""
    try:
        result = compiled.eval(variables)
    except RuntimeError as error:
        raise evaluation_error(str(error)) from None
    except (ValueError, MemoryError) as error:
        # A list of a negative length, or one that does not fit into memory.
        raise NotEvaluated(f"cannot be evaluated by the CEL library: {error}") from None
    if result.type().name() == "ERROR":
        raise evaluation_error(str(result.value()))
    return result.plain_value()


def evaluate_untyped(expression: str, variables: Mapping[str, Any]) -> Any:
    """Evaluate an expression whose variables are plain JSON without types, as in admission policies.

    Raises:
        CompilationError, EvaluationError, NotEvaluated: as for rules.
    """
    serialized = _compile_untyped(expression, tuple(sorted(variables)))
    environment = _evaluating_environment(tuple(sorted(variables)))
    return _evaluated(environment.deserialize(serialized), environment.Activation(dict(variables)))


@lru_cache(maxsize=1024)
def _compile_untyped(expression: str, names: tuple[str, ...]) -> bytes:
    pool = Descriptors().pool()
    describe_opaque(pool)
    environment = typing_environment(pool, [{"name": name, "type_name": "dyn"} for name in names])
    try:
        serialized: bytes = environment.compile(as_read(expression)).serialize()
    except RuntimeError as error:
        raise CompilationError(_sentences(str(error), {})) from None
    if reason := _unsupported(read(serialized)[0]):
        raise NotEvaluated(reason)
    return serialized


@lru_cache(maxsize=1024)
def compile_(expression: str, schema: str, *, root: bool, optional: bool) -> CompiledExpression:
    """Compile an expression; `schema` is the schema of `self`, as JSON.

    Raises:
        CompilationError: The API server would not compile it.
        NotEvaluated: The library cannot compile it.
    """
    if len(_DOUBLING.findall(expression)) > _DOUBLINGS_LIMIT:
        raise NotEvaluated(f"uses optMap and optFlatMap more than {_DOUBLINGS_LIMIT} times")
    environment = _typing_environment(schema, root, optional)
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
def _typing_environment(schema: str, root: bool, optional: bool) -> _Environment:
    kind = type_of(json.loads(schema), root=root)
    if kind is None:
        raise CompilationError(["rules do not see values of this schema: its type is not known"])
    descriptors = Descriptors()
    reference = descriptors.reference(kind)
    old_reference = {"type_name": "optional_type", "params": [reference]} if optional else reference
    variables = [{"name": "self", **reference}, {"name": "oldSelf", **old_reference}]
    pool = descriptors.pool()
    describe_opaque(pool)
    return _Environment(typing_environment(pool, variables), kind, descriptors.objects)


@cache
def _evaluating_environment(variables: tuple[str, ...] = ("self", "oldSelf")) -> Any:
    return evaluating_environment(variables)


def _sentences(text: str, objects: Mapping[str, Type]) -> list[str]:
    problems = [(int(column), problem) for _, column, problem in _ERROR.findall(text)]
    if not problems:
        return [text.rpartition(" [")[0] or text]
    # Consequences of other problems mention the type `*error*`.
    causes = [(column, problem) for column, problem in problems if "*error*" not in problem]
    return list(dict.fromkeys(sentence(problem, column, objects) for column, problem in causes))


def _unsupported(tree: CelExpression) -> str:
    """Return why the library does not evaluate the expression as the API server does; empty if it does."""
    for node in walk(tree):
        if node.kind in {"call", "method"} and (node.value in _ONLY_TYPED or node.value.startswith("format.")):
            return f"uses {node.value}"
    loops = [node for node in walk(tree) if node.kind == "loop"]
    formats = [part for node in loops for part in walk(node) if (part.kind, part.value) == ("method", "format")]
    arguments = {part.id: part.parts[1] for part in formats}.values()
    times = prod(max(1, len(argument.parts)) if argument.kind == "list" else _FORMATS_LIMIT for argument in arguments)
    return "uses format within comprehensions too often" if times > _FORMATS_LIMIT else ""


def _literal_problems(node: CelExpression) -> list[str]:
    """Return the literals that Kubernetes rejects when it compiles a rule (cel-go, cel/validator.go)."""
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
    result = _evaluating_environment().compile("timestamp(self)").eval(data={"self": text_of(text)})
    return bool(result.type().name() != "ERROR")
