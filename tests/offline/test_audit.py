"""Findings about stored jobs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.offline.audit import Audited, audit, by_rule
from jobgate.offline.judge import ReviewOptions, judge
from tests.corpus import BROKEN, GOOD, name_of
from tests.corpus import jobs as jobs_of
from tests.kinds.dijob import jobs


def stored(name: str, *tasks: Any) -> Audited:
    document = jobs.job(*tasks, metadata={"name": name, "namespace": "ada", "uid": "1", "resourceVersion": "5"})
    return audit(DIJOB, document | {"status": {"phase": "Running"}}, installed(), Settings(enforces=False))


def test_a_sound_job_has_no_faults_whatever_runs_of_it() -> None:
    result = stored("sound", jobs.task("learner"))
    assert (result.kind, result.namespace, result.name) == ("dijobs.diengine.opendilab.org", "ada", "sound")
    assert result.faults == ()


def test_each_fault_is_reported_with_its_rule_also_where_the_installation_only_warns() -> None:
    results = stored("broken", jobs.task("learner"), jobs.task("learner"), jobs.task("none"))
    result = [(rule, str(cause.path)) for rule, cause in results.faults]
    assert ("at_most_one_task_of_each_type", "spec.tasks[1].type") in result
    assert ("plain_tasks_have_names", "spec.tasks[2].name") in result


def test_jobs_are_counted_by_rule_each_once() -> None:
    twice = stored("twice", jobs.task("learner"), jobs.task("learner"), jobs.task("learner"))
    nameless = stored("nameless", jobs.task("learner"), jobs.task("learner"), jobs.task("none"))
    counted = by_rule([twice, nameless, stored("sound", jobs.task("learner"))])
    assert counted["at_most_one_task_of_each_type"] == 2
    assert counted["plain_tasks_have_names"] == 1
    assert next(iter(counted)) in {"at_most_one_task_of_each_type", "task_names_are_unique"}


def faults_of(document: Mapping[str, Any]) -> list[str]:
    """Audit an example as the cluster stores it: with the defaults of the schema and of the webhook."""
    stored = dict(judge(dict(document), ReviewOptions(kinds=installed())).document)
    kind = installed().get(str(stored["apiVersion"]), str(stored["kind"]))
    assert kind is not None
    return [f"{rule}: {cause}" for rule, cause in audit(kind, stored, installed(), Settings()).faults]


@pytest.mark.parametrize("file", [*GOOD, Path("examples/prerequisites/dijob.yaml")], ids=name_of)
def test_a_good_example_once_stored_would_not_be_denied(file: Path) -> None:
    assert [faults_of(job) for job in jobs_of(file)] == [[] for _ in jobs_of(file)]


@pytest.mark.parametrize("file", BROKEN, ids=name_of)
def test_a_broken_example_that_was_stored_would_be_denied(file: Path) -> None:
    assert any(faults_of(job) for job in jobs_of(file))
