"""The digest of a job."""

import gc
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from jobgate.cluster import Informer, Page, Resource
from jobgate.controller.desired import desired
from jobgate.jobs.context import Context, Settings
from jobgate.jobs.kind import JobKind, job_kinds
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.plugins import Crew, parse
from jobgate.plugins.queueing import QueueingArguments
from jobgate.plugins.weight import too_large, weight
from jobgate.pods import Digests, UncachedJob, digest_of
from jobgate.pods.digest import OVERSIZED, UNREADABLE, UnusableJob
from jobgate.room import Room
from jobgate.runner.reading import keep_job
from tests.kinds.dijob import jobs
from tests.plugins.crews import crew, part
from tests.pods.pods import NAMESPACE, UID, job
from tests.webhook.values import json_values
from webhook import Draft, Path


def test_a_job_is_remembered_with_its_parts_and_plugins() -> None:
    digest = digest_of(DIJOB, job(jobs.task(name="work", replicas=3), jobs.task("learner")))
    assert isinstance(digest, Crew)
    assert (digest.namespace, digest.name, digest.uid) == (NAMESPACE, "train", UID)
    assert list(digest.ours) == ["env"]
    # A job that was stored before its defaults were ours is read with them.
    assert [(part.name, part.replicas) for part in digest.parts] == [("work", 3), ("learner", 1)]
    assert [container.name for container in digest.parts[0].containers] == ["main"]


def test_of_a_job_without_plugins_only_is_remembered_which_it_is() -> None:
    digest = digest_of(DIJOB, job(plugins={}))
    assert isinstance(digest, Crew)
    assert not digest.ours
    assert (digest.name, digest.uid, digest.parts) == ("train", UID, ())


def test_a_job_that_we_fail_to_read_keeps_no_other_from_being_read(caplog: pytest.LogCaptureFixture) -> None:
    def fails(draft: Draft, _: Context) -> None:
        raise RuntimeError("no secret of the job")

    with caplog.at_level(logging.ERROR):
        assert digest_of(replace(DIJOB, defaults=(fails,)), job()) == UnusableJob(UID, UNREADABLE)
    (record,) = caplog.records
    assert getattr(record, "fields") == {  # noqa: B009
        "kind": "dijobs.diengine.opendilab.org", "namespace": NAMESPACE, "name": "train", "reason": "RuntimeError",
    }  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(spec=json_values)
def test_any_json_has_a_digest(spec: Any) -> None:
    for kind in job_kinds(installed()):
        digest = digest_of(kind, {"metadata": {"name": "a", "namespace": "b", "uid": "c"}, "spec": spec})
        assert digest.uid == "c"


@pytest.mark.parametrize("kind", list(installed()), ids=lambda kind: kind.plural)
def test_a_job_without_tasks_is_no_job_of_which_we_know_whether_it_asks(kind: JobKind) -> None:
    metadata = {"name": "a", "namespace": "b", "uid": "c"}
    assert digest_of(kind, {"metadata": metadata, "spec": {}}) == UnusableJob("c", UNREADABLE)


def test_what_changes_with_every_write_makes_no_new_digest() -> None:
    digests, document = Digests(DIJOB), job(jobs.task("learner"))
    first = digests.of(document)
    later = {**document, "status": {"phase": "Running"}}
    later["metadata"] = {**document["metadata"], "resourceVersion": "9", "generation": 4, "managedFields": [{}]}
    assert digests.of(later) is first
    assert first == digest_of(DIJOB, document)


def test_what_the_digest_is_made_of_makes_another() -> None:
    digests, document = Digests(DIJOB), job(jobs.task("learner"))
    first = digests.of(document)
    scaled = job(jobs.task("learner", replicas=2))
    assert digests.of(scaled) == digest_of(DIJOB, scaled) != first
    another = {**document, "metadata": {**document["metadata"], "uid": "another"}}
    assert digests.of(another).uid == "another"


def test_a_digest_that_nobody_has_any_more_is_not_kept() -> None:
    digests = Digests(DIJOB)
    digests.of(job(jobs.task("learner")))
    gc.collect()
    assert not digests._crews


@pytest.mark.parametrize("keep", [Digests(DIJOB).of, keep_job(DIJOB)])
async def test_a_job_of_many_levels_keeps_no_other_from_being_known(keep: Any) -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"a": deep}

    class Played:
        async def pages(self, _: Resource) -> AsyncIterator[Page]:
            yield Page(iter([job(), job(name="deep") | {"spec": {"plugins": deep}}]), "1")

        async def watch(self, *_: Any) -> AsyncIterator[dict[str, Any]]:
            yield {}

    known: Informer[Any] = Informer(Resource("dijobs", "v2alpha1", "diengine.opendilab.org"), keep=keep)
    await known._list(Played())
    assert sorted(known.keys()) == [(NAMESPACE, "deep"), (NAMESPACE, "train")]


def test_of_a_job_that_is_too_large_only_is_remembered_which_it_is(caplog: pytest.LogCaptureFixture) -> None:
    document = job(*(jobs.task(name=f"task-{number}") for number in range(3400)))
    with caplog.at_level(logging.WARNING):
        assert digest_of(DIJOB, document) == UnusableJob(UID, OVERSIZED)
    assert getattr(caplog.records[0], "fields")["tasks"] == 3400  # noqa: B009
    document["spec"]["plugins"] = {}
    assert digest_of(DIJOB, document) == digest_of(DIJOB, job(plugins={}))


def test_what_admission_took_is_remembered_with_all_that_the_installation_adds() -> None:
    tasks = 0
    while too_large(crew(*(part(f"task-{number}") for number in range(tasks + 100)))) is None:
        tasks += 100
    document = job(*(jobs.task(name=f"task-{number}") for number in range(tasks)))
    queueing, _ = parse(QueueingArguments, "queueing", {"system": "kueue"}, Path("spec"))
    digest = digest_of(DIJOB, document, Settings(plugins={"queueing": queueing}))
    assert isinstance(digest, Crew)


@pytest.mark.parametrize("runs", [False, True])
def test_only_the_runner_forms_groups_of_the_kinds_that_it_runs(runs: bool) -> None:
    """A PodGroup that exists until the runner has taken a job over lets Volcano v1.15 bind its pods one by one."""
    queueing, _ = parse(QueueingArguments, "queueing", {"system": "volcano"}, Path("spec"))
    settings = Settings(plugins={"queueing": queueing}, runs=frozenset({DIJOB.qualified_plural} if runs else ()))
    document = job(jobs.task("learner"), plugins={"env": []}, queue="high", minAvailable=1)
    digest = digest_of(DIJOB, document, settings)
    assert isinstance(digest, Crew)
    assert [target.manifest["kind"] for target in desired(digest)] == ([] if runs else ["PodGroup"])


def named(name: str) -> dict[str, Any]:
    return job(jobs.task("learner"), name=name)


def test_jobs_for_which_there_is_no_room_are_told_from_each_other_and_read_when_they_are_needed() -> None:
    room = Room(4 * weight(digest_of(DIJOB, named("job-0"))))  # type: ignore[arg-type]
    digests = Digests(DIJOB, room=room)
    result = [digests.of(named(f"job-{number}")) for number in range(5)]
    assert [type(each) for each in result] == [Crew, Crew, Crew, UncachedJob, UncachedJob]
    assert result[3] != result[4]
    assert digests.of(named("job-3")) == result[3]
    assert digests.read(named("job-3")) == digest_of(DIJOB, named("job-3"))
    assert digests.read(named("job-0")) is result[0]


def test_the_room_of_a_job_that_went_is_the_next_ones() -> None:
    size = weight(digest_of(DIJOB, named("job-0")))  # type: ignore[arg-type]
    digests = Digests(DIJOB, room=Room(int(1.5 * size)))
    for number in range(50):
        result = digests.of(named(f"job-{number}"))
        assert isinstance(result, Crew)
        assert digests.of(named(f"job-{number}")) is result
        del result


def test_all_kinds_share_the_room(caplog: pytest.LogCaptureFixture) -> None:
    room = Room(int(1.5 * weight(digest_of(DIJOB, named("job-0")))))  # type: ignore[arg-type]
    one, other = Digests(DIJOB, room=room), Digests(DIJOB, room=room)
    kept = one.of(named("job-0"))
    with caplog.at_level(logging.WARNING):
        assert [type(other.of(named(f"job-{number}"))) for number in (1, 2)] == [UncachedJob, UncachedJob]
    assert [record.message for record in caplog.records] == ["cache full"]
    assert isinstance(kept, Crew)
