"""Random changes of real definitions, like mistakes of people and programs."""

import random
from copy import deepcopy
from typing import Any

from tests.differential.crds.definitions import Definition
from tests.differential.crds.soup import keyword

_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    "",
    "x",
    "string",
    "object",
    [],
    {},
    ["x"],
    {"type": "string"},
)
_RENAMED = ("Type", "nullables", "defaults", "item", "property", "x-kubernetes-list", "minlength", "requires")


def defaulted(base: Definition, chosen: random.Random) -> tuple[Definition, str]:
    """Return a copy with one or two changes, and their descriptions."""
    definition = deepcopy(base)
    done = [_change(definition, chosen) for _ in range(chosen.choice((1, 1, 1, 2)))]
    return definition, ", ".join(done)


def _change(definition: Definition, chosen: random.Random) -> str:
    """Change one place: half of the time a keyword of some schema, else anything."""
    places = list(_places(definition, ()))
    if chosen.random() < 0.5:
        schemas = [holder[key] for holder, key, _ in places if isinstance(holder[key], dict) and "type" in holder[key]]
        schemas = [schema for schema in schemas if isinstance(schema["type"], str)]
        if schemas:
            name, value = keyword(chosen)
            chosen.choice(schemas)[name] = value
            return f"{name}: {str(value)[:40]}"
    holder, key, path = chosen.choice(places)
    match chosen.randrange(5):
        case 0:
            del holder[key]
            return f"no {path}"
        case 1 if isinstance(holder, dict):
            name = chosen.choice(_RENAMED)
            holder[name] = holder.pop(key)
            return f"{path} is called {name}"
        case 2 if isinstance(holder[key], dict):
            holder[key] = {"anyOf": [holder[key], {"type": "null"}]}
            return f"{path} within anyOf"
        case 3 if isinstance(holder[key], list) and holder[key]:
            holder[key] = [*holder[key], holder[key][0]]
            return f"{path} with its first item twice"
        case _:
            holder[key] = deepcopy(chosen.choice(_VALUES))
            return f"{path}: {holder[key]}"


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    """Yield each place: the dict or list that has it, its key, and its path."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        at = (*path, key)
        yield value, key, ".".join(map(str, at[-4:]))
        yield from _places(child, at)
