"""The models of JobFlow and JobTemplate, `flow.volcano.sh/v1alpha1`. What nothing reads by field is plain JSON."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from crdgen import Atomic, Column, CustomResource, Doc, MaxItems, Model, Names, Version
from crdgen.markers.types import Replace
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.limits import ENTRIES_LIMIT
from webhook import Path

GROUP: Final = "flow.volcano.sh"
#: The resource of JobTemplates.
TEMPLATES: Final = f"jobtemplates.v1alpha1.{GROUP}"

_Names = Annotated[list[str], Atomic]
_Policy = Literal["retain", "delete"]
_Json = Annotated[dict[str, Any], Replace({"type": "object", "x-kubernetes-preserve-unknown-fields": True})]


class FlowDependsOn(Model):
    """Flows to wait for."""

    targets: Annotated[_Names | None, MaxItems(ENTRIES_LIMIT), Doc("Flows whose Jobs must be Completed before.")] = None
    probe: Annotated[_Json | None, Doc("Conditions on the pods of targets. Ignored, as by Volcano.")] = None
    any_suffices: ClassVar[bool] = False

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the path, the name, and the name as written, of each flow to wait for; here both names are equal."""
        for index, name in enumerate(self.targets or ()):
            yield path / "targets" / index, name, name


class Flow(Model):
    """A Job of the flow."""

    name: Annotated[str, Field(min_length=1), Doc("JobTemplate of the Job, which is named <JobFlow>-<name>.")]
    depends_on: Annotated[FlowDependsOn | None, Doc("What the Job waits for.")] = None
    patch: Annotated[_Json | None, Doc("Changes of the JobTemplate. Ignored, as by Volcano.")] = None


class JobFlowSpec(Model):
    """Jobs that are created in order from JobTemplates."""

    flows: Annotated[list[Flow] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Jobs of the flow.")] = None
    job_retain_policy: Annotated[_Policy | None, Doc("What happens to the Jobs when all are Completed.")] = None


class FlowState(Model):
    """Phase of the JobFlow."""

    phase: Literal["Succeed", "Terminating", "Failed", "Running", "Pending"] | None = None
    message: Annotated[str | None, Doc("Why Jobs are not created, or which have failed. Set by jobgate only.")] = None


class JobFlowStatus(Model):
    """Status of the JobFlow: its Jobs by phase."""

    pending_jobs: _Names | None = None
    running_jobs: _Names | None = None
    failed_jobs: _Names | None = None
    completed_jobs: _Names | None = None
    terminated_jobs: _Names | None = None
    un_know_jobs: Annotated[_Names | None, Doc("Jobs in other phases.")] = None
    job_status_list: Annotated[list[_Json] | None, Atomic, Doc("Jobs that were created.")] = None
    conditions: Annotated[dict[str, _Json] | None, Doc("Jobs that exist, by name.")] = None
    state: FlowState | None = None


class JobTemplateStatus(Model):
    """Status of the JobTemplate."""

    job_depends_on_list: Annotated[_Names | None, Doc("Jobs that were created from the JobTemplate.")] = None


_COLUMNS = (Column("Status", ".status.state.phase"), Column("Age", ".metadata.creationTimestamp"))
FLOW: Final = CustomResource(
    group=GROUP,
    names=Names(kind="JobFlow", short_names=("jf",)),
    versions=(Version("v1alpha1", spec=JobFlowSpec, status=JobFlowStatus, columns=_COLUMNS),),
)
TEMPLATE: Final = CustomResource(
    group=GROUP,
    names=Names(kind="JobTemplate", short_names=("jt",)),
    versions=(Version("v1alpha1", spec=JobSpec, status=JobTemplateStatus, description="A template of Volcano Jobs."),),
)
