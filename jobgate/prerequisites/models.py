"""The shape of a Prerequisite and a ClusterPrerequisite: `jobgate.dev/v1alpha1`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Doc,
    Int32,
    IntOrString,
    MapList,
    MaxItems,
    MinItems,
    Model,
    Names,
    PreserveUnknown,
    Time,
    Version,
    core_type,
)
from jobgate.prerequisites.reference import CLUSTER, ENTRIES, GROUP, NAMESPACED, VERSION, Name, References

#: The default shell of items, and the shell of the wrapper: every image with a shell has it.
SHELL: Final = "/bin/sh"
#: Maximum length of a command, of the value of a variable, and of all patterns of an item together, in characters.
COMMAND_LIMIT: Final = 4096
VALUE_LIMIT: Final = 1024
PATTERNS_LIMIT: Final = 4096

#: A variable is an identifier: `{{ name }}` is replaced; other text in braces is not.
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=63)]


class TaskEvent(StrEnum):
    """When commands run: before the task's own command, after it succeeded, or after it failed."""

    TASK_STARTS = "taskStarts"
    TASK_SUCCEEDS = "taskSucceeds"
    TASK_FAILS = "taskFails"


class FailurePolicy(StrEnum):
    """What a command that fails means for the task: Fail fails it, Ignore goes on."""

    FAIL = "Fail"
    IGNORE = "Ignore"


class TemplateVariable(Model):
    """A variable that whoever requires the item gives a value for; `{{ name }}` in the plugin blocks is replaced."""

    name: Annotated[VariableName, Doc("An identifier.")]
    default: Annotated[IntOrString | None, Doc("Default value. Without it, a value must be given.")] = None
    pattern: Annotated[
        str | None,
        Field(max_length=512),
        Doc(
            "Regular expression (RE2 syntax) that a whole value must match. Replaces the default, which lets "
            "only characters pass that no shell interprets. The value is put into commands as it is."
        ),
    ] = None
    description: Annotated[str | None, Doc("What the value means.")] = None


class Callback(Model):
    """Commands that run at one event, in one shell, in the task's container."""

    event: TaskEvent
    commands: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=COMMAND_LIMIT)]],
        Atomic,
        MinItems(1),
        MaxItems(ENTRIES),
        Doc("Lines of shell. The first that fails ends the callback."),
    ]


class Cmd(Model):
    """Commands around the task's own."""

    callbacks: Annotated[list[Callback], Atomic, MinItems(1), MaxItems(ENTRIES), Doc("In the order in which they run.")]


class PvcStorage(Model):
    """A PersistentVolumeClaim of the job's namespace, mounted into the task's container."""

    name: Annotated[Name, Doc("Name of the claim.")]
    mount_path: Annotated[str | None, Field(max_length=1024), Doc("Defaults to /mnt/<name>.")] = None
    sub_path: Annotated[str | None, Field(max_length=1024), Doc("Folder of the volume; the whole volume if unset.")] = (
        None
    )
    read_only: Annotated[bool, Doc("Whether the mount is read-only.")] = False


class Fetch(Model):
    """Data that the first pod fetches to the claim of `pvcStorage`, before the task's own command, for all pods."""

    commands: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=COMMAND_LIMIT)]],
        Atomic,
        MinItems(1),
        MaxItems(ENTRIES),
        Doc("Lines of shell that write data into the current, empty folder. The first that fails ends them."),
    ]
    path_variable: Annotated[VariableName, Doc("Variable of the task's container with the path of the data.")]
    timeout_seconds: Annotated[
        int,
        Int32(minimum=1, maximum=7 * 24 * 3600),
        Doc("Maximum time to fetch the data, and to wait for another pod that fetches them."),
    ] = 3600


class PluginUse(Model):
    """A plugin that the job gets, as if it had asked for it in its own `plugins`."""

    name: Annotated[Name, Doc("Name of the plugin, as jobs ask for it.")]
    arguments: Annotated[Any, PreserveUnknown, Doc("Its arguments, as flags or as a mapping of them.")] = None


class PrerequisiteSpec(Model):
    """What a task gets that names this item: at most one block per plugin, after all that it requires."""

    type: Annotated[str | None, Field(max_length=63), Doc("What it is, for people: data, storage, script, tool.")] = (
        None
    )
    description: Annotated[str | None, Field(max_length=4096), Doc("What the item provides to a task, for users.")] = (
        None
    )
    require: Annotated[References | None, Doc("Items that come before this one, in this order.")] = None
    template_variables: Annotated[
        list[TemplateVariable] | None, MapList("name"), MaxItems(ENTRIES), Doc("Variables of the plugin blocks.")
    ] = None
    cmd: Annotated[Cmd | None, Doc("Commands before and after the task's own, in its container.")] = None
    pvc_storage: Annotated[PvcStorage | None, Doc("A claim to mount.")] = None
    fetch: Annotated[
        Fetch | None, Doc("Data that one pod fetches to the claim, and the others find there. Needs pvcStorage.")
    ] = None
    env: Annotated[
        list[Annotated[dict[str, Any], core_type("EnvVar")]] | None,
        Atomic,
        MaxItems(ENTRIES),
        Doc("Variables of the task's container. A Secret's value comes by valueFrom, never as text."),
    ] = None
    plugin: Annotated[PluginUse | None, Doc("A plugin of jobs. Not for pods that belong to no job.")] = None
    failure_policy: Annotated[FailurePolicy, Doc("What a command of this item that fails means for the task.")] = (
        FailurePolicy.FAIL
    )
    interpreter: Annotated[
        str,
        Field(pattern=r"^/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$", max_length=255),
        Doc("Shell that runs the commands: a path, or a name in PATH. The image must have it."),
    ] = SHELL


class Condition(Model):
    """One condition of an item."""

    type: Annotated[str, Doc("Ready or Invalid.")]
    status: Annotated[str, Doc("True or False.")]
    reason: Annotated[str, Doc("Why, in one word: Resolved, or what is wrong.")]
    message: Annotated[str | None, Doc("Why, in a sentence.")] = None
    observed_generation: Annotated[int | None, Doc("Generation of the item that the condition speaks of.")] = None
    last_transition_time: Annotated[Time, Doc("Time of the last change of the status.")]


class PrerequisiteStatus(Model):
    """What the controller has seen of the item."""

    observed_generation: Annotated[int | None, Doc("Generation of the item that the status speaks of.")] = None
    conditions: Annotated[
        list[Condition] | None, MapList("type"), Doc("Ready, and Invalid, which is its opposite.")
    ] = None
    resolved: Annotated[
        list[str] | None, Atomic, Doc("The item with all that it requires, in the order in which they apply.")
    ] = None
    variables: Annotated[str | None, Doc("Template variables of the item, with their defaults, as text.")] = None
    hash: Annotated[str | None, Doc("Hash of the item's spec; jobs record it.")] = None


_COLUMNS = (
    Column("Type", ".spec.type"),
    Column("Ready", ".status.conditions[?(@.type=='Ready')].status", type="string"),
    Column("Reason", ".status.conditions[?(@.type=='Ready')].reason", type="string"),
    Column("Variables", ".status.variables"),
    Column("Description", ".spec.description", priority=1),
    Column("Hash", ".status.hash", priority=1),
    Column("Age", ".metadata.creationTimestamp"),
)


def _resource(kind: str, short: str, description: str) -> CustomResource:
    version = Version(
        VERSION, spec=PrerequisiteSpec, status=PrerequisiteStatus, description=description, columns=_COLUMNS
    )
    return CustomResource(
        group=GROUP,
        names=Names(kind=kind, short_names=(short,), categories=("jobgate",)),
        versions=(version,),
        scope="Cluster" if kind == CLUSTER else "Namespaced",
    )


PREREQUISITE = _resource(
    NAMESPACED, "prereq", "Data, storage, hooks or settings that jobs of its namespace get by naming it."
)
CLUSTER_PREREQUISITE = _resource(
    CLUSTER, "cprereq", "Data, storage, hooks or settings that jobs of all namespaces get by naming it."
)
DEFINED: Final = (PREREQUISITE, CLUSTER_PREREQUISITE)
