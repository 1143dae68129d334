"""The models of JobFlow and JobTemplate, `flow.volcano.sh/v1alpha1`, with all fields of Volcano's own CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from crdgen import Atomic, Column, CustomResource, Doc, MaxItems, Model, Names, Time, Version
from crdgen.markers.types import Replace
from jobgate.jobs.fields import Count
from jobgate.kinds.vcjob.flow.names import GROUP
from jobgate.kinds.vcjob.models import JobSpec, TaskState
from jobgate.limits import ENTRIES_LIMIT
from jobgate.names import LABEL_LIMIT, PORT_LIMIT, SUBDOMAIN_LIMIT
from webhook import Path

_TaskName = Annotated[str | None, Field(max_length=SUBDOMAIN_LIMIT), Doc("Task whose pods are asked.")]
_Port = Annotated[int, Field(ge=0, le=PORT_LIMIT)]
_Names = Annotated[list[str], Atomic]


class HttpHeader(Model):
    """A header of an HTTP request."""

    name: str
    value: str


class HttpGet(Model):
    """An HTTP request that must succeed."""

    task_name: _TaskName = None
    path: str | None = None
    port: _Port | None = None
    http_header: HttpHeader | None = None


class TcpSocket(Model):
    """A TCP connection that must be accepted."""

    task_name: _TaskName = None
    port: _Port


class TaskStatus(Model):
    """A phase that a task must have reached."""

    task_name: _TaskName = None
    phase: Annotated[str | None, Field(max_length=LABEL_LIMIT)] = None


class Probe(Model):
    """Conditions on the pods of targets. Nothing acts on them."""

    http_get_list: Annotated[list[HttpGet] | None, Atomic, MaxItems(ENTRIES_LIMIT)] = None
    tcp_socket_list: Annotated[list[TcpSocket] | None, Atomic, MaxItems(ENTRIES_LIMIT)] = None
    task_status_list: Annotated[list[TaskStatus] | None, Atomic, MaxItems(ENTRIES_LIMIT)] = None


class FlowDependsOn(Model):
    """Flows to wait for."""

    targets: Annotated[
        _Names | None, MaxItems(ENTRIES_LIMIT), Doc("Names of the flows whose Jobs must be Completed before.")
    ] = None
    probe: Annotated[Probe | None, Doc("Conditions on the pods of targets. Ignored, as by Volcano.")] = None

    any_suffices: ClassVar[bool] = False

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the path, the name, and the name as written, of each flow to wait for; here both names are equal."""
        for index, name in enumerate(self.targets or ()):
            yield path / "targets" / index, name, name


class Flow(Model):
    """A Job of the flow."""

    name: Annotated[
        str, Field(min_length=1), Doc("Name of a JobTemplate of the namespace. The Job is named <JobFlow>-<name>.")
    ]
    depends_on: Annotated[FlowDependsOn | None, Doc("What the Job waits for.")] = None
    patch: Annotated[
        dict[str, Any] | None,
        Replace({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        Doc("Changes of the JobTemplate. Ignored, as by Volcano."),
    ] = None


class RetainPolicy(StrEnum):
    """Whether the Jobs are kept (retain) or deleted when the JobFlow has succeeded."""

    RETAIN = "retain"
    DELETE = "delete"


class JobFlowSpec(Model):
    """Jobs that are created in order from JobTemplates."""

    flows: Annotated[list[Flow] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Jobs of the flow.")] = None
    job_retain_policy: Annotated[
        RetainPolicy | None, Doc("What happens to the Jobs when all are Completed. Defaults to retain.")
    ] = None


class FlowPhase(StrEnum):
    """Phase of the JobFlow."""

    SUCCEED = "Succeed"
    TERMINATING = "Terminating"
    FAILED = "Failed"
    RUNNING = "Running"
    PENDING = "Pending"


class FlowState(Model):
    """Phase of the JobFlow, with what it waits for."""

    phase: FlowPhase | None = None
    message: Annotated[str | None, Doc("Why Jobs are not created, or which have failed. Set by jobgate only.")] = None


class History(Model):
    """A phase that a Job has been in."""

    start_timestamp: Time | None = None
    end_timestamp: Time | None = None
    state: str | None = None


class FlowJobStatus(Model):
    """A Job that was created."""

    name: str | None = None
    state: Annotated[str | None, Doc("Phase of the Job.")] = None
    start_timestamp: Annotated[Time | None, Doc("When the Job was created.")] = None
    end_timestamp: Annotated[Time | None, Doc("When the Job ended.")] = None
    restart_count: Annotated[Count | None, Doc("Number of restarts of the Job.")] = None
    running_histories: Annotated[list[History] | None, Atomic, Doc("Phases the Job has been in.")] = None


class FlowCondition(Model):
    """A Job that exists."""

    phase: Annotated[str | None, Doc("Phase of the Job.")] = None
    create_time: Annotated[Time | None, Doc("When the Job was created.")] = None
    running_duration: Annotated[str | None, Doc("Run time of the Job.")] = None
    task_status_count: Annotated[dict[str, TaskState] | None, Doc("Pods by task name.")] = None


class JobFlowStatus(Model):
    """Status of the JobFlow: its Jobs by phase."""

    pending_jobs: _Names | None = None
    running_jobs: _Names | None = None
    failed_jobs: _Names | None = None
    completed_jobs: _Names | None = None
    terminated_jobs: _Names | None = None
    un_know_jobs: Annotated[_Names | None, Doc("Jobs in other phases.")] = None
    job_status_list: Annotated[list[FlowJobStatus] | None, Atomic, Doc("All Jobs that were created.")] = None
    conditions: Annotated[dict[str, FlowCondition] | None, Doc("Jobs that exist, by name.")] = None
    state: FlowState | None = None


class JobTemplateStatus(Model):
    """Status of the JobTemplate."""

    job_depends_on_list: Annotated[_Names | None, Doc("Jobs that were created from the JobTemplate.")] = None


FLOW: Final = CustomResource(
    group=GROUP,
    names=Names(kind="JobFlow", short_names=("jf",)),
    versions=(
        Version(
            "v1alpha1",
            spec=JobFlowSpec,
            status=JobFlowStatus,
            description="Volcano Jobs that are created from JobTemplates, each when those before it are Completed.",
            columns=(Column("Status", ".status.state.phase"), Column("Age", ".metadata.creationTimestamp")),
        ),
    ),
)

TEMPLATE: Final = CustomResource(
    group=GROUP,
    names=Names(kind="JobTemplate", short_names=("jt",)),
    versions=(
        Version(
            "v1alpha1",
            spec=JobSpec,
            status=JobTemplateStatus,
            description="A template from which JobFlows create Volcano Jobs.",
        ),
    ),
)
