"""The kinds of prerequisites, and references to them: all that a job without any needs of this package."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec
from pydantic import Field

from crdgen import Atomic, Doc, IntOrString, MaxItems, Model
from jobgate.names import dns_subdomain
from webhook import Draft, Path
from webhook.values import mapping, metadata_of, objects, parts, text

if TYPE_CHECKING:
    from jobgate.prerequisites.item import Item

GROUP: Final = "jobgate.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
NAMESPACED, CLUSTER = "Prerequisite", "ClusterPrerequisite"
#: The resource of each kind, as in `webhook.Objects`.
RESOURCES: Final = {
    NAMESPACED: f"prerequisites.{VERSION}.{GROUP}",
    CLUSTER: f"clusterprerequisites.{VERSION}.{GROUP}",
}

#: Maximum number of entries in each list of an item, and of prerequisites that a task names.
ENTRIES: Final = 32

Name = Annotated[str, Field(min_length=1, max_length=253)]


class PrerequisiteKind(StrEnum):
    """Whether an item belongs to a namespace or to the cluster."""

    NAMESPACED = NAMESPACED
    CLUSTER = CLUSTER


class ReferenceSpec(Model):
    """A prerequisite, with the values of its template variables."""

    kind: Annotated[
        PrerequisiteKind | None,
        Doc("Prerequisite or ClusterPrerequisite. Defaults to Prerequisite, in a ClusterPrerequisite to itself."),
    ] = None
    name: Annotated[Name, Doc("Name of the item.")]
    template_variables: Annotated[
        dict[str, IntOrString] | None, Doc("Values of the item's template variables; literals, used as text.")
    ] = None


References = Annotated[list[ReferenceSpec], Atomic, MaxItems(ENTRIES)]


#: The annotation with the prerequisites of a pod, a pod template, or a job without a field `prerequisites`.
ANNOTATION: Final = "jobgate.dev/prerequisites"
#: The annotation of a pod or a pod template with the container that gets them.
CONTAINER_ANNOTATION: Final = "jobgate.dev/prerequisites-container"

#: Maximum length of the annotation, in characters: enough for 32 references with many values.
ANNOTATION_LIMIT: Final = 64 * 1024
_FORM = f"write names as `mnist, {CLUSTER}/wget`, or a JSON list of objects with kind, name and templateVariables"


class InvalidReference(Exception):
    """A text or list that is not a list of references; the message says why, and how to fix it."""


class Reference(msgspec.Struct, frozen=True):
    """The kind and name of an item, with the values of its template variables, sorted by name."""

    kind: str
    name: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The item for messages."""
        return f"{self.kind} {self.name}"


#: Numbers of at most 64 bits, as in the schema.
_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Float = Annotated[float, msgspec.Meta(ge=-(2.0**63), lt=2.0**63)]


class _Listed(msgspec.Struct, rename="camel"):
    """The same as `ReferenceSpec`, but parsed in a thirtieth of Pydantic's time."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    kind: Literal["Prerequisite", "ClusterPrerequisite"] | None = None
    template_variables: dict[str, str | _Integer | _Float] | None = None


def reference(written: ReferenceSpec | _Listed, kind: str = NAMESPACED) -> Reference:
    """Return the reference of a model; `kind` is the default kind."""
    values = sorted((name, _text(value)) for name, value in (written.template_variables or {}).items())
    return Reference(str(written.kind or kind), written.name, tuple(values))


def listed(value: Any) -> tuple[Reference, ...]:
    """Return the references of a JSON list of objects or texts `[Kind/]name`.

    Raises:
        InvalidReference: the value is not such a list.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidReference(f"must be a list; {_FORM}")
    if len(value) > ENTRIES:
        raise InvalidReference(f"has {len(value)} entries; at most {ENTRIES} are allowed")
    try:
        entries = msgspec.convert([_named(item) if isinstance(item, str) else item for item in value], list[_Listed])
        references = tuple(map(reference, entries))
    except msgspec.ValidationError as error:
        raise InvalidReference(f"{str(error)[:300]!a}; {_FORM}") from None
    for each in references:
        if fault := dns_subdomain(each.name):
            raise InvalidReference(f"{each.name[:300]!r} is no name of an item: it {fault}")
    return references


def annotated(text: Any) -> tuple[Reference, ...]:
    """Return the references of an annotation.

    Raises:
        InvalidReference: the text is not a list of references.
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

#: Path, value and message of invalid references.
_Unread: TypeAlias = tuple[Path, Any, str]


class ReferenceFields(msgspec.Struct, frozen=True):
    """The fields in which the jobs of a kind name prerequisites.

    Attributes:
        tasks: the path of the list or map of tasks, each with a `template`. A tuple at the end names fields that are
            the tasks.
        in_spec: whether job and tasks have a field `prerequisites`; else an annotation of the template names them.
    """

    tasks: tuple[str | tuple[str, ...], ...]
    in_spec: bool = False

    def path(self, key: int | str) -> Path:
        """Return the path of a task."""
        path = Path(".".join(step for step in self.tasks if isinstance(step, str)))
        in_map = isinstance(key, str) and isinstance(self.tasks[-1], str)
        return path.key(str(key)) if in_map else path / key


class TaskReferences(msgspec.Struct, frozen=True):
    """The references of a task to prerequisites.

    Attributes:
        task: path of the task.
        template: path of its pod template.
        references: the references of the job, then those of the task.
        written: path of the task's own references.
        of_job: number of references of the job before them.
        in_list: whether these are in a list.
        container: the container that the template names for them, or empty.
        unreadable: path, value and message if references are invalid.
    """

    task: Path
    template: Path
    references: tuple[Reference, ...]
    written: Path
    of_job: int = 0
    in_list: bool = False
    container: str = ""
    unreadable: _Unread | None = None

    def place(self, index: int) -> Path:
        """Return the path of a reference."""
        if index < self.of_job:
            return _OF_JOB / index
        return self.written / (index - self.of_job) if self.in_list else self.written


def asked(job: Mapping[str, Any], where: ReferenceFields) -> Iterator[TaskReferences]:
    """Yield the references of each task of a job, if it has any; the job may be any JSON."""
    listing = mapping(job.get("spec")).get(WORD) if where.in_spec else None
    of_job, job_fault = _read(listed, listing, _OF_JOB)
    for key, task in parts(job, where.tasks):
        value = task.get(WORD) if where.in_spec else _annotations(task).get(ANNOTATION)
        # Fast for nearly all jobs, which have no prerequisites but may have a thousand tasks.
        if listing is None and value is None:
            continue
        path = where.path(key)
        annotation = path / "template" / "metadata" / "annotations"
        written = path / WORD if where.in_spec else annotation.key(ANNOTATION)
        of_task, task_fault = _read(listed if where.in_spec else annotated, value, written)
        unreadable = job_fault or task_fault
        if of_job or of_task or unreadable:
            yield TaskReferences(
                task=path,
                template=path / "template",
                references=of_job + of_task,
                written=written,
                of_job=len(of_job),
                in_list=where.in_spec,
                container=_container(_annotations(task)),
                unreadable=unreadable,
            )


def asked_by_annotation(task: Path, template: Path, pod: Any, inherited: Any, place: Path) -> Iterator[TaskReferences]:
    """Yield the references of a task by the annotation of its template, or else by the `inherited` one at a place."""
    annotations = mapping(metadata_of(mapping(pod)).get("annotations"))
    value = annotations.get(ANNOTATION)
    if value is None:
        value = inherited
    else:
        place = (template / "metadata" / "annotations").key(ANNOTATION)
    references, unreadable = _read(annotated, value, place)
    if references or unreadable:
        container = _container(annotations)
        yield TaskReferences(task, template, references, place, container=container, unreadable=unreadable)


def template_of(workload: Any) -> Mapping[str, Any]:
    """Return the pod template of a workload of Kubernetes, or the Pod itself; empty if there is no template."""
    if mapping(workload).get("kind") == "Pod":
        return mapping(workload)
    spec = mapping(mapping(workload).get("spec"))
    return mapping((mapping(mapping(spec.get("jobTemplate")).get("spec")) or spec).get("template"))


def named_in(template: Mapping[str, Any]) -> Any:
    """Return the annotation with the prerequisites of a pod or a pod template; None if it is absent."""
    return mapping(mapping(template.get("metadata")).get("annotations")).get(ANNOTATION)


def _read(
    reader: Callable[[Any], tuple[Reference, ...]], value: Any, place: Path
) -> tuple[tuple[Reference, ...], _Unread | None]:
    try:
        return () if value is None else reader(value), None
    except InvalidReference as error:
        return (), (place, value, str(error))


def _container(annotations: Mapping[str, Any]) -> str:
    return text(annotations.get(CONTAINER_ANNOTATION))


def _annotations(task: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(metadata_of(mapping(task.get("template"))).get("annotations"))


#: The annotation with the items that a job was checked with, or that a pod got.
RECORD: Final = "jobgate.dev/prerequisites-recorded"


def recorded(items: Iterable["Item"], known: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the annotation's text; items in the `known` record keep their entries."""
    entries = [
        (known or {}).get(item.source) or {"name": item.source, "generation": item.generation, "hash": item.hash}
        for item in items
    ]
    return json.dumps(entries, separators=(",", ":"))


def read_record(text: Any) -> dict[str, Mapping[str, Any]]:
    """Return the entries of an annotation's text by item; invalid entries are left out."""
    try:
        entries = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return {}
    return {
        entry["name"]: {key: entry[key] for key in ("name", "generation", "hash")}
        for _, entry in objects(entries)
        if isinstance(entry.get("name"), str)
        and isinstance(entry.get("generation"), int)
        and isinstance(entry.get("hash"), str)
    }


def annotate(pod: Draft, key: str, value: str) -> None:
    """Set one of our own annotations; do nothing if metadata or annotations are not objects."""
    if "metadata" not in pod:
        pod["metadata"] = {"annotations": {key: value}}
    elif (metadata := pod.at("metadata")) is None:
        return
    elif "annotations" not in metadata:
        metadata["annotations"] = {key: value}
    elif (annotations := metadata.at("annotations")) is None or annotations.get(key) == value:
        return
    elif key in annotations:
        annotations.correct(key, value)
    else:
        annotations[key] = value
