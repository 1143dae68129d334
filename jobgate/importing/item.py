"""Imports a marketplace item as a ClusterPrerequisite, and a job's own prerequisite as a Prerequisite.

OpenPAI has three formats: the released one (parameters at the level of `plugin`), the redesigned marketplace
(`plugin_params`), and one between them (`requireStorages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from jobgate.importing.notes import Notes, listed, mapped, word
from webhook.text import short

#: Returns the `kind` and `name` of the item that a name without a scheme refers to; None if it is unknown.
ResolveName: TypeAlias = Callable[[str], Mapping[str, str] | None]

API_VERSION: Final = "jobgate.dev/v1alpha1"
CLUSTER: Final = "ClusterPrerequisite"
NAMESPACED: Final = "Prerequisite"

_SHIPPED: Final = "com.microsoft.pai.runtimeplugin."
_BY_NAME: Final = "marketplace://name/"
_OTHERWISE: Final = "marketplace://"
#: The fields of an item, and the parameters of the released format.
_FIELDS: Final = frozenset(
    {"name", "type", "description", "plugin", "plugin_params", "require", "require_storages", "template_variables"}
    | {"failure_policy", "callbacks", "pre_commands", "post_commands", "mount_path", "sub_path", "read_only"}
)


def prerequisite(
    entry: Mapping[str, Any], kind: str, name: str, path: str, notes: Notes, local: ResolveName
) -> dict[str, Any]:
    """Return the object of an item; `path` is for messages, and `local` resolves names without a scheme."""
    spec: dict[str, Any] = {key: str(entry[key]) for key in ("type", "description") if entry.get(key)}
    requires = listed(entry.get("require"), f"{path}.require", notes)
    references = (_reference(item, f"{path}.require[{place}]", notes, local) for place, item in enumerate(requires))
    spec["require"] = [*filter(None, references)]
    declared = listed(word(entry, "template_variables"), f"{path}.template_variables", notes)
    spec["templateVariables"] = [
        dict(variable) if isinstance(variable, dict) else {"name": variable} for variable in declared
    ]
    spec |= _plugin(entry, path, notes) | _storages(entry, path, notes)
    policy = str(word(entry, "failure_policy") or "fail").capitalize()
    if policy != "Fail":
        spec["failurePolicy"] = policy
    notes.unread(entry, _FIELDS, path)
    spec = {key: value for key, value in spec.items() if value not in ([], {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _reference(entry: Any, path: str, notes: Notes, local: ResolveName) -> dict[str, Any] | None:
    """Return a reference, which is a name or a mapping with values; None if it is invalid."""
    if not isinstance(entry, str | dict):
        notes.fault(path, "must be a name, or a mapping with a name")
        return None
    written = entry if isinstance(entry, str) else entry.get("name")
    fields = {} if isinstance(entry, str) else entry
    if not isinstance(written, str) or not written:
        notes.fault(f"{path}.name", "must be a name")
        return None
    reference = _named(written, path, notes, local)
    if values := mapped(word(fields, "template_variables"), f"{path}.template_variables", notes):
        reference["templateVariables"] = {
            key: _value(value, f"{path}.{short(key)}", notes) for key, value in values.items()
        }
    notes.unread(fields, {"name", "template_variables"}, path)
    return reference


def _named(written: str, path: str, notes: Notes, local: ResolveName) -> dict[str, Any]:
    name = short(written)
    if written.startswith(_BY_NAME):
        return {"kind": CLUSTER, "name": notes.name(written.removeprefix(_BY_NAME), path)}
    if written.startswith(_OTHERWISE):
        notes.fault(path, f"{name}: ids of the marketplace have no meaning here; name the item: {_BY_NAME}<name>")
    elif "://" in written:
        notes.fault(path, f"{name}: items are not fetched from addresses; import its file, and name it")
    elif (reference := local(written)) is not None:
        return dict(reference)
    else:
        notes.fault(path, f"{name}: the job defines nothing of this name; for the marketplace write {_BY_NAME}{name}")
    return {"kind": CLUSTER, "name": "unknown"}


def _value(value: Any, path: str, notes: Notes) -> str | int:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float):
        notes.change(f"{path}: {value} is a text: values are texts or integers")
        return str(value)
    notes.fault(path, "must be a string or an integer; write it in quotes")
    return ""


def _plugin(entry: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """Return the part of the spec for the item's plugin."""
    written = entry.get("plugin")
    if written is None:
        return {}
    plugin = str(written).removeprefix(_SHIPPED)
    nested = word(entry, "plugin_params")
    parameters = entry if nested is None else mapped(nested, f"{path}.plugin_params", notes)
    path = path if nested is None else f"{path}.plugin_params"
    if plugin == "cmd":
        return {"cmd": {"callbacks": list(_callbacks(parameters, path, notes))}}
    if plugin in {"pvc_storage", "pvcStorage"}:
        return {"pvcStorage": _storage(parameters, path, notes)}
    notes.fault(f"{path}.plugin", f"{short(str(written))} is not imported: known are cmd and pvc_storage")
    return {}


def _callbacks(parameters: Mapping[str, Any], path: str, notes: Notes) -> Iterator[dict[str, Any]]:
    """Yield the callbacks, also from the older `preCommands` and `postCommands`."""
    callbacks = listed(parameters.get("callbacks"), f"{path}.callbacks", notes)
    for place, callback in enumerate(callbacks):
        at = f"{path}.callbacks[{place}]"
        fields = mapped(callback, at, notes)
        yield {"event": fields.get("event"), "commands": commands(fields.get("commands"), f"{at}.commands", notes)}
    for old, event in (("pre_commands", "taskStarts"), ("post_commands", "taskSucceeds")):
        if (lines := word(parameters, old)) is not None:
            if callbacks:
                notes.fault(path, "has callbacks, and preCommands or postCommands; write one of them")
            notes.change(f"{path}: what ran by the older {old} runs at {event}")
            yield {"event": event, "commands": commands(lines, f"{path}.{old}", notes)}


def commands(value: Any, path: str, notes: Notes) -> list[str]:
    """Return shell commands without surrounding space, as OpenPAI does."""
    lines = listed(value, path, notes)
    for place, line in enumerate(lines):
        if not isinstance(line, str):
            notes.fault(f"{path}[{place}]", "must be a string; write it in quotes")
    if not lines:
        notes.fault(path, "must have at least one command")
    return [line.strip().replace("\r\n", "\n") for line in lines if isinstance(line, str) and line.strip()]


def _storages(entry: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    storages = listed(word(entry, "require_storages"), f"{path}.requireStorages", notes)
    if len(storages) > 1:
        notes.fault(f"{path}.requireStorages", "one item mounts one claim: make an item of each, and require them")
    if not storages:
        return {}
    at = f"{path}.requireStorages[0]"
    return {"pvcStorage": _storage(mapped(storages[0], at, notes), at, notes)}


def _storage(parameters: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    if not isinstance(parameters.get("name"), str):
        notes.fault(f"{path}.name", "must name a PersistentVolumeClaim")
    fields = {"name": parameters.get("name"), "mountPath": word(parameters, "mount_path")}
    fields |= {"subPath": word(parameters, "sub_path"), "readOnly": word(parameters, "read_only")}
    return {key: value for key, value in fields.items() if value is not None}
