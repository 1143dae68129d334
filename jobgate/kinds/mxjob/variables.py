"""The rules of environment variables: the operator tells the main containers of a distributed job where they are."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.reading import objects, spec_of
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER, MXNET_OPERATOR, OWN_VARIABLES, VARIABLES
from webhook import Context, Job, Notice, Path, rule


@rule(reads=("job_mode", "tasks.template"))
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


def _variables(job: Job[MxJobSpec]) -> Iterator[tuple[Path, object]]:
    """Yield the place and the list of the variables of each main container of a distributed job."""
    if job.spec.job_mode is not JobMode.DIST:
        return
    for task in job.tasks:
        for index, container in objects(spec_of(task.template).get("containers")):
            if container.get("name") == MAIN_CONTAINER:
                yield task.template_path / "spec" / "containers" / index / "env", container.get("env")


#: The rules, in the order in which a reader wants to know.
variable_rules = (variables_of_the_operator_are_left_to_it, own_variables_need_a_fixed_operator)
