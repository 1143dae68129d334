"""References to prerequisites: in a list of a spec, or in an annotation; and those of the tasks of a job."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from jobgate.names import dns_subdomain
from jobgate.prerequisites.models import CLUSTER, ENTRIES, NAMESPACED, RESOURCES, ReferenceSpec
from webhook import Path
from webhook.values import mapping, metadata_of, parts

#: On a pod, a pod template or a job whose spec has no `prerequisites`: which ones it has.
ANNOTATION: Final = "jobgate.dev/prerequisites"
#: On a pod or a pod template: the container that gets them.
CONTAINER_ANNOTATION: Final = "jobgate.dev/prerequisites-container"

#: Longest annotation that is read, in characters: that of 32 references with many values.
ANNOTATION_LIMIT: Final = 64 * 1024
_FORM = f"write names as `mnist, {CLUSTER}/wget`, or a JSON list of objects with kind, name and templateVariables"


class InvalidReference(Exception):
    """A text or list that names no prerequisites; the message says why, and what would be right."""


class Reference(NamedTuple):
    """One item, with the values of its template variables, sorted by name."""

    kind: str
    name: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The item, as messages name it."""
        return f"{self.kind} {self.name}"


#: Numbers as the schema bounds them: to 64 bits.
_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Float = Annotated[float, msgspec.Meta(ge=-(2.0**63), lt=2.0**63)]


class _Listed(msgspec.Struct, rename="camel"):
    """A `ReferenceSpec` in a list; read so in a thirtieth of Pydantic's time."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    kind: Literal["Prerequisite", "ClusterPrerequisite"] | None = None
    template_variables: dict[str, str | _Integer | _Float] | None = None


def reference(written: ReferenceSpec | _Listed, kind: str = NAMESPACED) -> Reference:
    """Return what a reference names; `kind` is the default."""
    values = sorted((name, _text(value)) for name, value in (written.template_variables or {}).items())
    return Reference(str(written.kind or kind), written.name, tuple(values))


def listed(value: Any) -> tuple[Reference, ...]:
    """Return the references of a JSON list, each an object or a text `[Kind/]name`.

    Raises:
        InvalidReference: it is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidReference(f"must be a list; {_FORM}")
    if len(value) > ENTRIES:
        raise InvalidReference(f"has {len(value)} entries; at most {ENTRIES} are allowed")
    try:
        items = msgspec.convert([_named(one) if isinstance(one, str) else one for one in value], list[_Listed])
        found = tuple(map(reference, items))
    except msgspec.ValidationError as error:
        raise InvalidReference(f"{str(error)[:300]!a}; {_FORM}") from None
    for one in found:
        if fault := dns_subdomain(one.name):
            raise InvalidReference(f"{one.name[:300]!r} is no name of an item: it {fault}")
    return found


def annotated(text: Any) -> tuple[Reference, ...]:
    """Return the references of an annotation.

    Raises:
        InvalidReference: it holds none.
    """
    if not isinstance(text, str) or len(text) > ANNOTATION_LIMIT:
        raise InvalidReference(f"must be a string of at most {ANNOTATION_LIMIT} characters; {_FORM}")
    if not text.strip().startswith("["):
        return listed([name.strip() for name in text.replace("\n", ",").split(",") if name.strip()])
    try:
        return listed(json.loads(text))
    except (ValueError, RecursionError):
        raise InvalidReference(f"is not JSON; {_FORM}") from None


def _text(value: str | float) -> str:
    if isinstance(value, float):
        if not value.is_integer():
            raise InvalidReference(f"has the value {value}, which is neither an integer nor a string; {_FORM}")
        value = int(value)
    return str(value)


def _named(text: str) -> dict[str, str]:
    kind, slash, name = text.rpartition("/")
    if slash and kind not in RESOURCES:
        raise InvalidReference(f"{text[:300]!r} names no kind that there is; {_FORM}")
    return {"name": name, **({"kind": kind} if slash else {})}


WORD = "prerequisites"
_OF_JOB = Path("spec") / WORD

#: Path, value and message of what is unreadable.
_Unread: TypeAlias = tuple[Path, Any, str]


@dataclass(frozen=True, slots=True)
class ReferenceFields:
    """Where the jobs of a kind name prerequisites.

    Attributes:
        tasks: the fields that lead to the list, or the map, of tasks, each with a `template`. A tuple at the end names
            the fields that are the tasks.
        in_spec: whether job and tasks have a field `prerequisites`; else an annotation of the template names them.
    """

    tasks: tuple[str | tuple[str, ...], ...]
    in_spec: bool = False

    def path(self, key: int | str) -> Path:
        """Return the path of a task."""
        path = Path(".".join(step for step in self.tasks if isinstance(step, str)))
        in_map = isinstance(key, str) and isinstance(self.tasks[-1], str)
        return path.key(str(key)) if in_map else path / key


@dataclass(frozen=True, slots=True)
class TaskReferences:
    """What one task names.

    Attributes:
        task: path of the task.
        references: those of the job, then those of the task.
        of_job: how many of these are of the job.
        written: where those of the task are written.
        in_list: whether that is a list.
        container: the container that the template names for them, or empty.
        unreadable: path, value and message if something is unreadable.
    """

    task: Path
    references: tuple[Reference, ...]
    of_job: int
    written: Path
    in_list: bool
    container: str = ""
    unreadable: _Unread | None = None

    def place(self, index: int) -> Path:
        """Return the path of a reference."""
        if index < self.of_job:
            return _OF_JOB / index
        return self.written / (index - self.of_job) if self.in_list else self.written


def asked(job: Mapping[str, Any], where: ReferenceFields) -> Iterator[TaskReferences]:
    """Yield what each task of a job names, if anything; the job may be any JSON."""
    listing = mapping(job.get("spec")).get(WORD) if where.in_spec else None
    of_job, wrong = _read(listed, listing, _OF_JOB)
    for key, task in parts(job, where.tasks):
        said = task.get(WORD) if where.in_spec else _annotations(task).get(ANNOTATION)
        # Nearly all jobs name none, and may have a thousand tasks.
        if listing is None and said is None:
            continue
        path = where.path(key)
        annotation = path / "template" / "metadata" / "annotations"
        written = path / WORD if where.in_spec else annotation.key(ANNOTATION)
        found, unreadable = _read(listed if where.in_spec else annotated, said, written)
        unreadable = wrong or unreadable
        if of_job or found or unreadable:
            container = _annotations(task).get(CONTAINER_ANNOTATION)
            yield TaskReferences(
                task=path,
                references=of_job + found,
                of_job=len(of_job),
                written=written,
                in_list=where.in_spec,
                container=container if isinstance(container, str) else "",
                unreadable=unreadable,
            )


def template_of(workload: Any) -> Mapping[str, Any]:
    """Return the pod template of a workload of Kubernetes, or the Pod itself; empty where it has none."""
    if mapping(workload).get("kind") == "Pod":
        return mapping(workload)
    spec = mapping(mapping(workload).get("spec"))
    return mapping((mapping(mapping(spec.get("jobTemplate")).get("spec")) or spec).get("template"))


def named_in(template: Mapping[str, Any]) -> Any:
    """Return the annotation by which a pod or a pod template names prerequisites; None where it has none."""
    return mapping(mapping(template.get("metadata")).get("annotations")).get(ANNOTATION)


def _read(
    reader: Callable[[Any], tuple[Reference, ...]], value: Any, place: Path
) -> tuple[tuple[Reference, ...], _Unread | None]:
    try:
        return () if value is None else reader(value), None
    except InvalidReference as error:
        return (), (place, value, str(error))


def _annotations(task: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(metadata_of(mapping(task.get("template"))).get("annotations"))
