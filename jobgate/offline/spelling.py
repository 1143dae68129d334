"""Suggest the field that an unknown field may mean: one that is misspelt, at another level, or called otherwise."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from crdgen.podtemplate import load
from crdgen.schema.look import path_of
from webhook.values import mapping

#: Fields of Kubernetes by their names in Compose files, Dockerfiles and other schedulers.
_OTHER_NAMES: Final = {
    "cmd": "command",
    "entrypoint": "command",
    "environment": "env",
    "maxRestarts": "backoffLimit",
    "maxRetries": "backoffLimit",
    "retries": "backoffLimit",
    "workdir": "workingDir",
}


def suggestion(schema: Mapping[str, Any], steps: Sequence[str | int]) -> str:
    """Return the path of the field that an unknown field may mean, or an empty string."""
    name, nodes = str(steps[-1]), [schema]
    for step in steps[:-1]:
        known = nodes[-1].get("items") if isinstance(step, int) else _fields(nodes[-1]).get(step)
        nodes.append(
            mapping(known or nodes[-1].get("additionalProperties"))
            or (load()["PodTemplateSpec"] if step == "template" else {})
        )
    here, *around = reversed([_fields(node) for node in nodes])
    names: dict[str, str] = {field.lower(): field for field in here}
    for spelling in (name, _OTHER_NAMES.get(name, name)):
        if match := names.get(spelling.replace("_", "").replace("-", "").lower()):
            return match
    below = [
        f"{field}{brackets}.{name}"
        for field, node in here.items()
        for brackets, inner in (("", node), ("[]", mapping(node.get("items"))))
        if name in _fields(inner)
    ]
    for path in below:
        if len(below) == 1 or path.startswith("containers[]"):
            return path
    for depth, fields in enumerate(around, 2):
        if name in fields:
            return path_of((*steps[:-depth], name)).removeprefix(".")
    begins = [field for field in here if field.startswith(name)]
    return next(iter([*begins, *get_close_matches(name, here, 1)]), "")


def _fields(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(node.get("properties"))
