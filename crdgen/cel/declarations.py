"""Declarations of the functions of Kubernetes 1.36 for the CEL library.

The CEL library itself has the functions for strings (version 2), lists (version 3), sets, optional values and
comprehensions over two variables; `crdgen.cel.functions` has the others.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from crdgen.cel.functions import FUNCTIONS, ONLY_TYPED, OPAQUE, STOPGAPS
from crdgen.cel.values import text_of

_EXTENSIONS: Final = ({"name": "optional"}, {"name": "sets"}, {"name": "lists"}, {"name": "strings", "version": 2})
_TWO_VARIABLES: Final = {"name": "two-var-comprehensions"}

#: Comparisons of numbers of two types: the library evaluates them, but does not know their types.
_NUMBERS: Final = ("int", "uint", "double")
_COMPARISONS: Final = tuple(
    f"{operator}({left}, {right}) -> bool"
    for operator in ("_<_", "_<=_", "_>_", "_>=_")
    for left in _NUMBERS
    for right in _NUMBERS
    if left != right
)

#: Names before a dot that belong to the function's name and are not its target.
_NAMESPACES: Final = frozenset({"ip", "format", "cel"})
_LINE: Final = re.compile(r"(?:(?P<target>[\w<>]+)\.)?(?P<name>[\w@<>=]+)\((?P<arguments>.*)\) -> (?P<result>.+)")
_NAME: Final = re.compile(rf"\b({'|'.join(OPAQUE)})\b")
_DYNAMIC: Final = re.compile(r"\b(list|map|optional_type)<(?:[^<>]|<[^<>]*>)*>")
_ANY: Final = {"list": "list<dyn>", "map": "map<dyn,dyn>", "optional_type": "dyn"}
#: The only field of messages for values of Kubernetes' own types: a reserved word, which no expression can read.
_FIELD: Final = "in"


def typing_environment(pool: DescriptorPool, variables: list[dict[str, Any]]) -> Any:
    """Return an environment that checks the types of rules."""
    config = {"variables": variables, "extensions": [*_EXTENSIONS, _TWO_VARIABLES]}
    return _environment(pool, config, dict.fromkeys([*FUNCTIONS, *ONLY_TYPED, *_COMPARISONS]))


def evaluating_environment(variables: tuple[str, ...]) -> Any:
    """Return the environment that evaluates expressions with checked types. Objects are maps there."""
    pool = DescriptorPool()
    describe_opaque(pool)
    classes = {
        kind: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for kind, (name, _) in OPAQUE.items()
    }
    config = {"variables": [{"name": name, "type_name": "dyn"} for name in variables]}
    # During evaluation, the library does not distinguish lists, maps or objects by their contents.
    overloads: dict[str, tuple[str, dict[tuple[str, ...], Callable[..., Any]]]] = {}
    for line, function in (FUNCTIONS | STOPGAPS).items():
        _, forms = overloads.setdefault(_untyped(line), (line, {}))
        forms.setdefault(tuple(kind for kind in _parts(line)[2] if kind in OPAQUE), _converter(line, function, classes))
    functions = {_dynamic(line): _dispatcher(forms) for line, forms in overloads.values()}
    return _environment(pool, config | {"extensions": _EXTENSIONS}, functions)


def describe_opaque(pool: DescriptorPool) -> None:
    """Add Kubernetes' own types to a pool, as messages.

    The library also supports types without fields, but does not pass their values to Python.
    """
    for name, _ in OPAQUE.values():
        package, _, message = name.rpartition(".")
        file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=package, syntax="proto3")
        text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
        file.message_type.add(name=message).field.add(name=_FIELD, number=1, type=text)
        pool.AddSerializedFile(file.SerializeToString())


def _environment(pool: DescriptorPool, config: Any, functions: Mapping[str, Callable[..., Any] | None]) -> Any:
    extension = cel.CelExtension("kubernetes", [_declaration(line, function) for line, function in functions.items()])
    # JSON is valid YAML, and is written fifty times as fast.
    return cel.NewEnv(pool, config=cel.NewEnvConfigFromYaml(json.dumps(config)), extensions=[extension])


def _declaration(line: str, function: Callable[..., Any] | None) -> Any:
    member, name, types, result = _parts(line)
    implementation = {} if function is None else {"impl": function}
    overload = cel.Overload(line, _type(result), [_type(kind) for kind in types], member, **implementation)
    return cel.FunctionDecl(name, [overload])


def _parts(line: str) -> tuple[bool, str, list[str], str]:
    """Return whether a function has a target, its name, the types of target and arguments, and its result's type."""
    match = _LINE.fullmatch(line)
    assert match, line
    target, name, types = match["target"], match["name"], match["arguments"].split(", ") if match["arguments"] else []
    if target in _NAMESPACES:
        return False, f"{target}.{name}", types, match["result"]
    return bool(target), name, [target, *types] if target else types, match["result"]


def _dynamic(line: str) -> str:
    """Replace the types of items, values and results by `dyn`, except for Kubernetes' own types."""
    call, _, result = _DYNAMIC.sub(lambda match: _ANY[match[1]], line).partition(" -> ")
    return f"{call} -> {result if result in OPAQUE else 'dyn'}"


def _untyped(line: str) -> str:
    """Return the part of a line that distinguishes overloads during evaluation."""
    return _NAME.sub("object", _dynamic(line)).partition(" -> ")[0]


def _dispatcher(forms: dict[tuple[str, ...], Callable[..., Any]]) -> Callable[..., Any]:
    """Return a function that calls an overload, chosen by the Kubernetes types among the arguments."""
    kinds = {OPAQUE[kind][0]: kind for kind in OPAQUE}

    def call(*arguments: Any) -> Any:
        types = (kinds[value.DESCRIPTOR.full_name] for value in arguments if hasattr(value, "DESCRIPTOR"))
        function = forms.get(tuple(types))
        if function is None:
            raise ValueError("no such overload")
        return function(*arguments)

    return call


def _type(text: str) -> Any:
    return cel.Type(_NAME.sub(lambda match: OPAQUE[match[0]][0], text))


def _converter(line: str, function: Callable[..., Any], classes: dict[str, Any]) -> Callable[..., Any]:
    """Return the function for the library, in which values of Kubernetes' own types are messages with one string."""
    _, _, types, result = _parts(line)
    readers = [OPAQUE[kind][1] if kind in OPAQUE else None for kind in types]
    message_class = classes.get(result.removeprefix("optional_type<").removesuffix(">"))

    def call(*arguments: Any) -> Any:
        pairs = zip(readers, arguments, strict=True)
        value = function(*(read(getattr(argument, _FIELD)) if read else argument for read, argument in pairs))
        return message_class(**{_FIELD: str(value)}) if message_class else _result(value)

    return call


def _result(value: Any) -> Any:
    """Convert a result for the library."""
    match value:
        case str():
            return text_of(value)
        case datetime():
            timestamp = Timestamp()
            timestamp.FromDatetime(value)
            return timestamp
        case timedelta():
            duration = Duration()
            duration.FromTimedelta(value)
            return duration
        case _:
            return value
