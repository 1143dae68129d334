"""The rights of the server: to read what it looks up, and nothing else."""

from typing import Any

import pytest
from msgspec.structs import replace

from jobgate.installation import Installation, objects
from jobgate.installation.roles import watched
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.scale import scalable
from jobgate.jobs.task import Task
from jobgate.jobs.wiring import followed
from jobgate.kinds import built_in, installed
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.torchjob import TORCHJOB


class Unwired:
    """An operator of which nothing is known that identifies pods."""

    name = "some operator"

    def pod(self, job: Job[Any], task: Task) -> dict[str, Any]:
        """Return the Pod of a task."""
        del job
        return {"metadata": {}, "spec": task.template}


@pytest.mark.parametrize(("kind", "reads"), [(TORCHJOB, True), (MXJOB, False)])
def test_jobs_are_read_for_their_scale_even_where_their_pods_are_not_known(kind: JobKind, *, reads: bool) -> None:
    alone = replace(kind, operator=Unwired())
    assert (followed([alone]), bool(scalable([alone]))) == ([], reads)
    assert ((kind.group, kind.plural) in watched([alone])) is reads


def test_users_have_no_right_to_the_status_of_jobs() -> None:
    rendered = objects(installed(), Installation(run=tuple(kind.qualified_plural for kind in built_in())))
    aggregated = [
        one for one in rendered if "rbac.authorization.k8s.io/aggregate-to-" in str(one["metadata"].get("labels"))
    ]
    granted = {resource for role in aggregated for rule in role["rules"] for resource in rule["resources"]}
    assert "dijobs" in granted
    assert not [one for one in granted if one == "*" or one.endswith("/status")]
