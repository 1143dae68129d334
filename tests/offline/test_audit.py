"""What is found of jobs that are stored already."""

from typing import Any

from jobgate.kinds.dijob import DIJOB
from jobgate.offline.audit import Audited, audit, by_rule
from tests.kinds.dijob import jobs
from webhook import Settings


def stored(name: str, *tasks: Any) -> Audited:
    document = jobs.job(*tasks, metadata={"name": name, "namespace": "ada", "uid": "1", "resourceVersion": "5"})
    return audit(DIJOB, document | {"status": {"phase": "Running"}}, Settings(enforces=False))


def test_a_sound_job_has_no_faults_whatever_runs_of_it() -> None:
    found = stored("sound", jobs.task("learner"))
    assert (found.kind, found.namespace, found.name) == ("dijobs.diengine.opendilab.org", "ada", "sound")
    assert found.faults == ()


def test_each_fault_is_told_with_its_rule_also_where_the_installation_only_warns() -> None:
    found = stored("broken", jobs.task("learner"), jobs.task("learner"), jobs.task("none"))
    result = [(rule, str(cause.path)) for rule, cause in found.faults]
    assert ("at_most_one_task_of_each_type", "spec.tasks[1].type") in result
    assert ("plain_tasks_have_names", "spec.tasks[2].name") in result


def test_jobs_are_counted_by_rule_each_once() -> None:
    twice = stored("twice", jobs.task("learner"), jobs.task("learner"), jobs.task("learner"))
    nameless = stored("nameless", jobs.task("learner"), jobs.task("learner"), jobs.task("none"))
    counted = by_rule([twice, nameless, stored("sound", jobs.task("learner"))])
    assert counted["at_most_one_task_of_each_type"] == 2
    assert counted["plain_tasks_have_names"] == 1
    assert next(iter(counted)) in {"at_most_one_task_of_each_type", "task_names_are_unique"}
