"""The rules of templates: what the operator, and the batch Jobs that it makes, ask of pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of
from jobgate.kinds.common.templates import has_container, sets_none
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec
from jobgate.kinds.mxjob.operator import BATCH_LABELS, LABELS, MAIN_CONTAINER, MXNET_OPERATOR, OWN_VARIABLES, VARIABLES
from jobgate.kinds.mxjob.roles import ROLES
from webhook import Cause, Context, Forbidden, Invalid, Job, Notice, Path, Required, Task, readable, rule

_POLICIES = ("OnFailure", "Never")


def _end(job: Job[MxJobSpec], _: Context) -> bool:
    return all(template["spec"].get("restartPolicy") in _POLICIES for template in job.said("tasks.template"))


@rule(reads=("tasks.template",), quiet=_end)
def pods_of_batch_jobs_end(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server rejects batch Jobs with restartPolicy Always."""
    for task in job.tasks:
        spec = task.template.get("spec")
        policy = mapping(spec).get("restartPolicy")
        if isinstance(spec, dict) and policy not in _POLICIES:
            detail = "must be OnFailure or Never, as the pods belong to batch Jobs"
            yield Invalid(task.template_path / "spec" / "restartPolicy", policy, detail)


@rule(reads=("tasks.template",), quiet=("tasks.template.metadata",))
def labels_of_batch_jobs_are_left_to_them(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server sets these labels of batch Jobs and rejects templates that set them."""
    for task in job.tasks:
        for path in _labels(task, BATCH_LABELS):
            yield Forbidden(path, "set by the API server for the pods of batch Jobs: remove it")


@rule(reads=("tasks.template",), quiet=("tasks.template.metadata",))
def labels_of_the_operator_are_left_to_it(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """The operator overwrites the labels that it selects pods by."""
    for task in job.tasks:
        for path in _labels(task, LABELS):
            yield Notice(path, f"{MXNET_OPERATOR.name} overwrites this value in every pod")


@rule(reads=("tasks.template",), quiet=has_container(MAIN_CONTAINER))
def templates_have_a_main_container(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The operator sets the variables of the container with this name."""
    for task in job.tasks:
        containers = objects(spec_of(task.template).get("containers"))
        if not any(one.get("name") == MAIN_CONTAINER for _, one in containers):
            detail = f"one container must be named {MAIN_CONTAINER}: {MXNET_OPERATOR.name} runs the training in it"
            yield Required(task.template_path / "spec" / "containers", detail)


@rule(reads=("job_mode", "tasks.template"), quiet=sets_none(VARIABLES))
def variables_of_the_operator_are_left_to_it(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """All roles need the same values, which only the operator knows."""
    for path, variables in _variables(job):
        for index, variable in objects(variables):
            if variable.get("name") in VARIABLES:
                detail = f"{MXNET_OPERATOR.name} sets this variable in the container {MAIN_CONTAINER}: remove it"
                yield Notice(path / index / "name", detail)


@rule(reads=("job_mode", "tasks.template"))
def own_variables_need_a_fixed_operator(job: Job[MxJobSpec], context: Context) -> Iterator[Notice]:
    """The published operator writes its five variables by index: over the user's, or past the end of a shorter list.

    A warning only: the published operator needs an API that clusters no longer serve, so one that runs was changed.
    """
    if OWN_VARIABLES in context.settings.operator_can:
        return
    for path, variables in _variables(job):
        if variables:
            yield Notice(
                path,
                f"{MXNET_OPERATOR.name} overwrites the first {len(VARIABLES)} variables, and crashes if there are "
                "fewer. If the operator is fixed, an administrator declares that with the setting "
                f"operator-can: [{OWN_VARIABLES}]",
            )


def _labels(task: Task, keys: Iterable[str]) -> Iterator[Path]:
    """Yield the paths of those labels with these keys that a task's template has."""
    labels = mapping(metadata_of(task.template).get("labels"))
    return ((task.template_path / "metadata" / "labels").key(key) for key in keys if key in labels)


def _variables(job: Job[MxJobSpec]) -> Iterator[tuple[Path, object]]:
    """Yield the place and the list of the variables of each main container of a distributed job."""
    if job.spec.job_mode is not JobMode.DIST:
        return
    for at, role in readable(job.spec.replica_specs, "template"):
        for index, container in objects(spec_of(role.template).get("containers")):
            if container.get("name") == MAIN_CONTAINER:
                path = ROLES / at / "template" / "spec" / "containers" / index / "env"
                yield path, container.get("env")


#: The rules, in the order in which a reader wants to know.
template_rules = (
    pods_of_batch_jobs_end,
    labels_of_batch_jobs_are_left_to_them,
    labels_of_the_operator_are_left_to_it,
    variables_of_the_operator_are_left_to_it,
    own_variables_need_a_fixed_operator,
)
