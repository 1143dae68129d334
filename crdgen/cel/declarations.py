"""The functions that rules may call in Kubernetes 1.36, as they are declared to the CEL library.

The libraries for texts (version 2), lists (version 3), sets, optional values and comprehensions over two variables are
the CEL library's own; `crdgen.cel.functions` has the others.
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

#: Comparisons of numbers of two types, which the library evaluates, and does not know when it types.
_NUMBERS: Final = ("int", "uint", "double")
_COMPARISONS: Final = tuple(
    f"{operator}({left}, {right}) -> bool"
    for operator in ("_<_", "_<=_", "_>_", "_>=_")
    for left in _NUMBERS
    for right in _NUMBERS
    if left != right
)

#: Names before a dot that belong to the function, and are no target.
_NAMESPACES: Final = frozenset({"ip", "format", "cel"})
_LINE: Final = re.compile(r"(?:(?P<target>[\w<>]+)\.)?(?P<name>[\w@<>=]+)\((?P<arguments>.*)\) -> (?P<result>.+)")
_NAME: Final = re.compile(rf"\b({'|'.join(OPAQUE)})\b")
_DYNAMIC: Final = re.compile(r"\b(list|map|optional_type)<(?:[^<>]|<[^<>]*>)*>")
_ANY: Final = {"list": "list<dyn>", "map": "map<dyn,dyn>", "optional_type": "dyn"}
#: The one field of the messages that Kubernetes' own values are here: a reserved word, which no expression can read.
_FIELD: Final = "in"


def checking(pool: DescriptorPool, variables: list[dict[str, Any]]) -> Any:
    """Return an environment that types rules."""
    config = {"variables": variables, "extensions": [*_EXTENSIONS, _TWO_VARIABLES]}
    return _environment(pool, config, dict.fromkeys([*FUNCTIONS, *ONLY_TYPED, *_COMPARISONS]))


def running() -> Any:
    """Return the environment that evaluates what was typed; there, self may be anything, and objects are maps."""
    pool = DescriptorPool()
    describe_opaque(pool)
    classes = {
        kind: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for kind, (name, _) in OPAQUE.items()
    }
    config = {"variables": [{"name": name, "type_name": "dyn"} for name in ("self", "oldSelf")]}
    # When it runs, a list is a list, a map is a map and an object is an object to it, whatever is in them.
    alike: dict[str, tuple[str, dict[tuple[str, ...], Callable[..., Any]]]] = {}
    for line, function in (FUNCTIONS | STOPGAPS).items():
        _, forms = alike.setdefault(_untyped(line), (line, {}))
        forms.setdefault(
            tuple(kind for kind in _parts(line)[2] if kind in OPAQUE), _converting(line, function, classes)
        )
    functions = {_dynamic(line): _chosen(forms) for line, forms in alike.values()}
    return _environment(pool, config | {"extensions": _EXTENSIONS}, functions)


def describe_opaque(pool: DescriptorPool) -> None:
    """Add Kubernetes' own types to the messages that an environment knows.

    As types that only have a name the library checks them, and does not hand them to Python.
    """
    for name, _ in OPAQUE.values():
        package, _, message = name.rpartition(".")
        file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=package, syntax="proto3")
        text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
        file.message_type.add(name=message).field.add(name=_FIELD, number=1, type=text)
        pool.AddSerializedFile(file.SerializeToString())


def _environment(pool: DescriptorPool, config: Any, functions: Mapping[str, Callable[..., Any] | None]) -> Any:
    declared = cel.CelExtension("kubernetes", [_declared(*each) for each in functions.items()])
    # JSON is YAML, and made fifty times as fast.
    return cel.NewEnv(pool, config=cel.NewEnvConfigFromYaml(json.dumps(config)), extensions=[declared])


def _declared(line: str, function: Callable[..., Any] | None) -> Any:
    member, name, types, result = _parts(line)
    more = {} if function is None else {"impl": function}
    overload = cel.Overload(line, _type(result), [_type(kind) for kind in types], member, **more)
    return cel.FunctionDecl(name, [overload])


def _parts(line: str) -> tuple[bool, str, list[str], str]:
    """Return whether a function has a target, its name, the types of target and arguments, and that of its result."""
    match = _LINE.fullmatch(line)
    assert match, line
    target, name, types = match["target"], match["name"], match["arguments"].split(", ") if match["arguments"] else []
    if target in _NAMESPACES:
        return False, f"{target}.{name}", types, match["result"]
    return bool(target), name, [target, *types] if target else types, match["result"]


def _dynamic(line: str) -> str:
    """Return the line with nothing said of what is in lists and maps, nor of the result, but for Kubernetes' own."""
    call, _, result = _DYNAMIC.sub(lambda found: _ANY[found[1]], line).partition(" -> ")
    return f"{call} -> {result if result in OPAQUE else 'dyn'}"


def _untyped(line: str) -> str:
    """Return what the library tells overloads apart by when it evaluates."""
    return _NAME.sub("object", _dynamic(line)).partition(" -> ")[0]


def _chosen(forms: dict[tuple[str, ...], Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function that calls the overload which takes those of Kubernetes' own values that it is given."""
    kinds = {OPAQUE[kind][0]: kind for kind in OPAQUE}

    def call(*arguments: Any) -> Any:
        given = (kinds[each.DESCRIPTOR.full_name] for each in arguments if hasattr(each, "DESCRIPTOR"))
        function = forms.get(tuple(given))
        if function is None:
            raise ValueError("no such overload")
        return function(*arguments)

    return call


def _type(text: str) -> Any:
    return cel.Type(_NAME.sub(lambda found: OPAQUE[found[0]][0], text))


def _converting(line: str, function: Callable[..., Any], classes: dict[str, Any]) -> Callable[..., Any]:
    """Return the function with Kubernetes' own values as the library holds them: messages with one text."""
    _, _, types, result = _parts(line)
    readers = [OPAQUE[kind][1] if kind in OPAQUE else None for kind in types]
    made = classes.get(result.removeprefix("optional_type<").removesuffix(">"))

    def call(*arguments: Any) -> Any:
        values = (read(getattr(each, _FIELD)) if read else each for read, each in zip(readers, arguments, strict=True))
        value = function(*values)
        return made(**{_FIELD: str(value)}) if made else _given(value)

    return call


def _given(value: Any) -> Any:
    """Return a result as the library takes it."""
    match value:
        case str():
            return text_of(value)
        case datetime():
            made = Timestamp()
            made.FromDatetime(value)
            return made
        case timedelta():
            length = Duration()
            length.FromTimedelta(value)
            return length
        case _:
            return value
