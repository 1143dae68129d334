"""Writes the definitions of pod templates and volumes of all Kubernetes minors, from the package kubernetes-validate.

python -m tools.pod_definitions          write the file
python -m tools.pod_definitions --check  fail if the file is out of date
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from crdgen.generate.tidy import order
from crdgen.generate.walk import map_children
from crdgen.podtemplate import FILE, GIVEN, MINORS
from crdgen.schema import Schema

WANTED: Final = ("io.k8s.api.core.v1.PodTemplateSpec", "io.k8s.api.core.v1.Volume")
_REFERENCE: Final = "#/$defs/"
_KEPT: Final = frozenset(
    {
        "additionalProperties",
        "format",
        "items",
        "properties",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    }
)

# Required by the definitions, but the API server accepts Pods without them: a missing value is the zero value, which is
# valid (k8s.io/kubernetes, pkg/apis/core/validation/validation.go).
_OPTIONAL: Final[Mapping[str, frozenset[str]]] = {
    "HTTPHeader": frozenset({"value"}),
    "ISCSIVolumeSource": frozenset({"lun"}),
    "PreferredSchedulingTerm": frozenset({"preference"}),
    "ScaleIOVolumeSource": frozenset({"secretRef"}),
    "SleepAction": frozenset({"seconds"}),
    "Sysctl": frozenset({"value"}),
}

# Lists that are merged by key in a Pod, but may have duplicate keys, or a key that is neither required nor has a
# default. As map lists of a CRD they would be rejected.
_ATOMIC: Final = frozenset(
    {
        ("Container", "env"),
        ("Container", "ports"),
        ("ContainerRestartRuleOnExitCodes", "values"),
        ("EphemeralContainer", "env"),
        ("EphemeralContainer", "ports"),
        ("PodSpec", "hostAliases"),
        ("PodSpec", "imagePullSecrets"),
        ("ResourceRequirements", "claims"),
    }
)


def definitions(published: Mapping[str, Schema], wanted: Iterable[str]) -> dict[str, Schema]:
    """Return the definitions that types need, by their short names, reduced to fields of structural schemas.

    Args:
        published: Kubernetes' own, by their full names.
        wanted: Full names of types.

    Raises:
        ValueError: Two needed types have the same short name.
    """
    needed: dict[str, Schema] = {}
    full: dict[str, str] = {}
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        short = _short(name)
        if full.setdefault(short, name) != name:
            raise ValueError(f"{name} and {full[short]} are both called {short}")
        if short not in needed and short not in GIVEN:
            needed[short] = order(_optional(_node(published[name]), short))
            waiting.extend(_references(published[name]))
    return {name: _with_atomic_lists(schema, name, needed) for name, schema in needed.items()}


def _node(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"$ref": _short(schema["$ref"])}
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if isinstance(kept.get("type"), list):
        kept["type"] = _without_null(kept["type"])
    return map_children(kept, "", lambda child, _: _node(child))


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(_REFERENCE)
        for child in schema.values():
            yield from _references(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _references(child)


def _short(name: str) -> str:
    return name.removeprefix(_REFERENCE).rpartition(".")[2]


def _without_null(types: Iterable[str]) -> str:
    (name,) = (name for name in types if name != "null")
    return name


def _optional(schema: Schema, name: str) -> Schema:
    required = [key for key in schema.get("required", ()) if key not in _OPTIONAL.get(name, ())]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return rest | {"required": required} if required else rest


def _with_atomic_lists(schema: Schema, name: str, known: Mapping[str, Schema]) -> Schema:
    if "properties" not in schema:
        return schema
    properties: dict[str, Any] = {
        key: _atomic(child) if (name, key) in _ATOMIC or _lacks_a_key(child, known) else child
        for key, child in schema["properties"].items()
    }
    return schema | {"properties": properties}


def _atomic(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key != "x-kubernetes-list-map-keys"}
    return rest | {"x-kubernetes-list-type": "atomic"}


def _lacks_a_key(schema: Schema, known: Mapping[str, Schema]) -> bool:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    items = schema.get("items", {})
    items = known.get(items["$ref"], {}) if "$ref" in items else items
    return any(key not in items.get("required", ()) for key in keys)


def text() -> str:
    """Return the text of the generated file: JSON, with a line for each version of a definition."""
    table: dict[str, dict[str, Any]] = {}
    for minor in MINORS:
        current = definitions(published(minor), WANTED)
        for name in {*table, *current}:
            versions = table.setdefault(name, {})
            schema = current.get(name)  # None if it is removed
            if not versions or versions[next(reversed(versions))] != schema:
                versions[minor] = schema
    return "{\n" + ",\n".join(_entry(name, table[name]) for name in sorted(table)) + "\n}\n"


def published(minor: str) -> dict[str, Any]:
    """Return Kubernetes' own definitions of a minor, by their full names."""
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{minor}.0-local"
    document: dict[str, Any] = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return document


def main(arguments: list[str]) -> int:
    """Write or check the file; the exit status is 1 if a check fails."""
    path = FILE
    if "--check" not in arguments:
        path.write_text(text(), encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(f"{path} is out of date; `python -m tools.pod_definitions` writes it\n")
    return 1


def _entry(name: str, versions: dict[str, Any]) -> str:
    lines = (f"  {json.dumps(minor)}: {json.dumps(schema, sort_keys=True)}" for minor, schema in versions.items())
    return f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
