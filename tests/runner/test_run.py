"""The discoveries of the runner at its start, and the jobs that it goes through while it runs."""

import logging
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from jobgate.cluster import Backoff, Informer, Resource
from jobgate.cluster.informer import ApiError, Page
from jobgate.controller import ControllerMetrics
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.plugins.queueing import Grouping, QueueingArguments, System, grouping
from jobgate.runner import run
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.queues.admission import Queues
from jobgate.runner.reading import keep_job
from jobgate.runner.run import (
    OperatorRunning,
    RunnerController,
    RunnerSettings,
    VersionChanged,
    grouping_in,
    known_jobs,
    queueing_in,
    version_stays,
)
from tests.runner.queues.test_waiting import fill
from tests.runner.world import dijob

VOLCANO = QueueingArguments(system=System.VOLCANO)
KUBERNETES = QueueingArguments(system=System.KUBERNETES)


class Asked:
    """An API server that is asked for the CRD of Kueue and for PodGroups; what fails has a code."""

    def __init__(self, kueue: bool, failure: int, served: Mapping[str, int]) -> None:
        self._kueue = kueue
        self._failure = failure
        self._served = served

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """The CRD, where it is asked for."""
        assert (resource.plural, name, namespace) == ("customresourcedefinitions", "workloads.kueue.x-k8s.io", "")
        if self._failure:
            raise ApiError(self._failure)
        return {} if self._kueue else None

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        """The PodGroups of a version: none."""
        if code := self._served.get(resource.version, 404):
            raise ApiError(code)
        yield Page([], "1")

    def labelled(self, selector: str) -> "Asked":
        """The same of every selector."""
        del selector
        return self

    def paced(self, per_second: float) -> "Asked":
        """The same at any pace."""
        del per_second
        return self


def cluster(*, kueue: bool = False, failure: int = 0, served: Mapping[str, int] | None = None) -> Any:
    """An API server of which nothing else is asked."""
    return Asked(kueue, failure, served or {})


@pytest.mark.parametrize(
    ("case", "queueing", "queues", "kueue", "system"),
    [
        ("nothing", None, None, False, None),
        ("Kueue is discovered", None, None, True, System.KUEUE),
        ("queues count more", None, Queues(), True, None),
        ("queues alone", None, Queues(), False, None),
        ("a system counts more", VOLCANO, None, True, System.VOLCANO),
        ("a system counts more than queues and Kueue", KUBERNETES, Queues(), True, System.KUBERNETES),
    ],
)
async def test_kueue_is_used_only_where_neither_a_system_nor_queues_are_given(
    case: str, queueing: QueueingArguments | None, queues: Queues | None, kueue: bool, system: System | None,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    settings = RunnerSettings("svc.cluster.local", queueing, queues=queues)
    result = await queueing_in(cluster(kueue=kueue), settings)
    assert (result and result.system) == system, case
    warned = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert bool(warned) is (case == "queues count more"), case


async def test_who_may_not_read_the_crd_of_kueue_goes_on_without_it_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert await queueing_in(cluster(failure=403), RunnerSettings("svc.cluster.local")) is None
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == ["Kueue is not used"]


@pytest.mark.parametrize("code", [429, 500, 503])
async def test_an_api_server_that_does_not_tell_decides_nothing(code: int) -> None:
    with pytest.raises(ApiError):
        await queueing_in(cluster(failure=code), RunnerSettings("svc.cluster.local"))
    with pytest.raises(ApiError):
        await grouping_in(cluster(served={"v1": code, "v1alpha2": 0}), KUBERNETES)


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        ({"v1": 0, "v1beta1": 0}, "scheduling.k8s.io/v1"),
        ({"v1alpha2": 0}, "scheduling.k8s.io/v1alpha2"),
        ({}, None),
    ],
    ids=str,
)
async def test_groups_are_of_the_newest_version_that_is_served(served: dict[str, int], expected: str | None) -> None:
    result = await grouping_in(cluster(served=served), KUBERNETES)
    assert (result and result.api_version) == expected


class Upgraded:
    """An API server that serves other versions of PodGroups each time that it is asked for the newest."""

    def __init__(self, *served: str | int) -> None:
        self._served = list(served)
        self._now: str | int = ""

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        """The PodGroups of a version: none."""
        if resource.version == "v1":
            self._now = self._served.pop(0)
        if resource.version != self._now:
            raise ApiError(self._now if isinstance(self._now, int) else 404)
        yield Page([], "1")


async def test_a_version_is_followed_until_only_another_one_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "VERSION_PERIOD", 0)
    followed = Resource("podgroups", "v1alpha2", "scheduling.k8s.io")
    upgraded: Any = Upgraded("", 503, "v1alpha2", "v1beta1")
    with pytest.raises(VersionChanged, match="v1beta1"):
        await version_stays(upgraded, KUBERNETES, followed, Informer(followed, keep=dict))


class Decided(Exception):
    """With what the runner works."""


async def test_gangs_are_formed_with_the_version_that_was_found_whatever_is_served_a_moment_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worked: list[str] = []

    async def work_with(_: RunnerController, groups: Grouping, __: QueueingArguments) -> None:
        worked.append(groups.api_version)
        if len(worked) > 1:
            raise Decided
        raise ExceptionGroup("", [VersionChanged(grouping(KUBERNETES, "scheduling.k8s.io/v1beta1"))])

    monkeypatch.setattr(RunnerController, "_work_with", work_with)
    settings = RunnerSettings("svc.cluster.local", KUBERNETES)
    with pytest.raises(Decided):
        await RunnerController(cluster(served={"v1": 0}), [DIJOB], settings, ControllerMetrics()).work()
    assert worked == ["scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"]


@pytest.mark.parametrize(
    ("failures", "begins"),
    [
        ([ApiError(429), ApiError(500), ApiError(410), OSError(), TimeoutError()], True),
        ([ApiError(403)], False),
        ([OperatorRunning()], False),
    ],
    ids=["it does not answer", "it refuses", "an operator runs"],
)
async def test_a_runner_begins_once_the_api_server_answers(
    failures: list[Exception], begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = list(failures)

    async def alone(_: RunnerController) -> None:
        if left:
            raise left.pop(0)

    async def work_with(*_: Any) -> None:
        raise Decided

    monkeypatch.setattr(run, "BEGIN", Backoff(first=0.0, most=0.0))
    monkeypatch.setattr(RunnerController, "alone", alone)
    monkeypatch.setattr(RunnerController, "_work_with", work_with)
    settings = RunnerSettings("svc.cluster.local", KUBERNETES)
    with pytest.raises(Decided if begins else type(failures[0])):
        await RunnerController(cluster(served={"v1": 0}), [DIJOB], settings, ControllerMetrics()).work()
    assert not left


async def test_a_runner_that_begins_decides_with_the_queues_that_its_file_has_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def decide(dispatcher: Dispatcher) -> None:
        raise Decided(*dispatcher._queues.queues)

    monkeypatch.setattr(Dispatcher, "run", decide)
    file = tmp_path / "queues.yaml"
    file.write_text("queues: [{name: changed}]")
    settings = RunnerSettings("svc.cluster.local", queues=Queues(), queues_file=file)
    with pytest.raises(ExceptionGroup) as result:
        await RunnerController(cluster(served={"v1": 0}), [DIJOB], settings, ControllerMetrics()).work()
    assert set(result.value.exceptions[0].args) == {"changed", "default"}


def test_jobs_of_a_kind_whose_cache_is_unknown_are_skipped_and_the_others_are_not() -> None:
    jobs = {}
    for kind in (TORCHJOB, DIJOB):
        resource = Resource(kind.plural, kind.version, kind.group)
        informer: Informer[dict[str, Any]] = Informer(resource, keep=keep_job(kind))
        jobs[kind.qualified_plural] = (kind, resource, informer)
    fill(jobs[DIJOB.qualified_plural][2], [dijob()])
    assert list(known_jobs(jobs)) == [(DIJOB.qualified_plural, "lab", "train")]
