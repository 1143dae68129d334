"""Reads tables of cases in YAML: the changes of an object, by path.

A file has one or more documents with `paths` (short names of long paths), `every` (changes in all cases) and `cases`
(changes by name). `!absent` removes a field, `!repeat [a, 64]` is a long text or list.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Steps = tuple[str | int, ...]


class _Absent:
    """The value that removes a field."""


ABSENT = _Absent()


class _Loader(yaml.SafeLoader):
    pass


def _repeated(loader: yaml.SafeLoader, node: yaml.SequenceNode) -> Any:
    value, times = loader.construct_sequence(node, deep=True)
    return value * times


_Loader.add_constructor("!absent", lambda _loader, _node: ABSENT)
_Loader.add_constructor("!repeat", _repeated)


def documents(file: Path) -> list[Any]:
    """Return the documents of a file."""
    return list(yaml.load_all(file.read_text(encoding="utf-8"), _Loader))


def cases(file: Path, start: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name of each case, and `start` with its changes."""
    for document in documents(file):
        paths = {name: steps(path) for name, path in document.get("paths", {}).items()}
        every = _with(start, document.get("every", {}), {})
        for name, changes in document["cases"].items():
            yield name, _with(every, changes, paths)


def steps(path: str, paths: Mapping[str, Steps] | None = None) -> Steps:
    """Return the steps of a path; its first word may be a name of `paths`."""
    first, *rest = [int(word) if word.isdigit() else word for word in path.split(".")]
    return (*(paths or {}).get(str(first), (first,)), *rest)


def changed(value: Any, at: Steps, new: Any) -> Any:
    """Return a copy of the value with `new` at these steps; the rest is shared."""
    if not at:
        return new
    step, rest = at[0], at[1:]
    if isinstance(value, list):
        assert isinstance(step, int)
        copy: Any = list(value)
        if rest:
            copy[step] = changed(copy[step], rest, new)
        elif new is ABSENT:
            del copy[step]
        else:
            copy[step : step + 1] = [new]
        return copy
    copy = dict(value)
    if rest:
        copy[step] = changed(copy.get(step, {}), rest, new)
    elif new is ABSENT:
        copy.pop(step, None)
    else:
        copy[step] = new
    return copy


def _with(value: Any, changes: Mapping[str, Any], paths: Mapping[str, Steps]) -> Any:
    for path, new in changes.items():
        value = changed(value, steps(path, paths), new)
    return value
