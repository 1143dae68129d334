"""Whether there is the job, and the pod of it: from the cache, and where that may be behind, from the cluster."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from jobgate.jobs.members import Claim
from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Lookup, UncachedJob, budget, digest_of
from jobgate.pods import lookup as lookups
from jobgate.pods.budget import Budget
from jobgate.pods.digest import OVERSIZED, UNREADABLE, UnusableJob
from jobgate.pods.lookup import UNASKED, LookupResult, LookupVerdict
from tests.kinds.dijob import jobs
from tests.pods.pods import NAMESPACE, OTHER_UID, UID, Clock, Cluster, Known, job, lookup

#: Labels of pods.
OWNED = Claim("train", "work", 1, UID, owned=True)
LABELLED = Claim("train", "work", 1)
OTHER = Claim("train", "work", 1, OTHER_UID, owned=True)
BEYOND = Claim("train", "work", 2, UID, owned=True)
NO_INDEX = Claim("train", "work", None, UID, owned=True)
NO_TASK = Claim("train", "rest", 0, UID, owned=True)

#: Known or stored jobs.
GROWN = job(jobs.task(name="work", replicas=3))
RECREATED = job(uid=OTHER_UID)
PLAIN = job(plugins={})


@pytest.mark.parametrize("claim", [OWNED, LABELLED])
async def test_what_is_known_costs_no_call(claim: Claim) -> None:
    cluster = Cluster()
    verdict = await lookup(Known(job()), cluster).find(NAMESPACE, claim)
    assert verdict.member is not None
    assert (verdict.member.crew.uid, verdict.member.part.name, verdict.member.index) == (UID, "work", 1)
    assert cluster.asked == []


@pytest.mark.parametrize("claim", [OWNED, BEYOND, NO_INDEX, NO_TASK])
async def test_a_job_that_asks_for_nothing_costs_no_call(claim: Claim) -> None:
    cluster = Cluster()
    assert await lookup(Known(PLAIN), cluster).find(NAMESPACE, claim) == UNASKED
    assert cluster.asked == []


@pytest.mark.parametrize(
    "claim, known, stored, expected",
    [
        (OWNED, Known(), Cluster(job()), LookupResult.FOUND),
        (OWNED, Known(lost=True), Cluster(job()), LookupResult.FOUND),
        (LABELLED, Known(), Cluster(job()), LookupResult.FOUND),
        (OTHER, Known(job()), Cluster(RECREATED), LookupResult.FOUND),
        (BEYOND, Known(job()), Cluster(GROWN), LookupResult.FOUND),
        (OWNED, Known(), Cluster(PLAIN), LookupResult.UNASKED),
        (OTHER, Known(job()), Cluster(job(uid=OTHER_UID, plugins={})), LookupResult.UNASKED),
        # The operator may know of a change that the API server has not reported yet.
        (BEYOND, Known(job()), Cluster(job()), LookupResult.LATER),
        (NO_INDEX, Known(job()), Cluster(job()), LookupResult.LATER),
        (NO_TASK, Known(job()), Cluster(job()), LookupResult.LATER),
        (OWNED, Known(), Cluster(fails=OSError()), LookupResult.LATER),
        (OWNED, Known(), Cluster(fails=TimeoutError()), LookupResult.LATER),
        (BEYOND, Known(job()), Cluster(fails=OSError()), LookupResult.LATER),
        (OWNED, Known(), Cluster(), LookupResult.DENIED),
        (OTHER, Known(job()), Cluster(job()), LookupResult.DENIED),
        (OWNED, Known(job()), Cluster(RECREATED), LookupResult.FOUND),
        (BEYOND, Known(job()), Cluster(RECREATED), LookupResult.DENIED),
        (BEYOND, Known(job()), Cluster(), LookupResult.DENIED),
        (LABELLED, Known(), Cluster(), LookupResult.UNKNOWN),
        (LABELLED, Known(lost=True), Cluster(), LookupResult.UNKNOWN),
    ],
)  # fmt: skip
async def test_each_claim_has_its_verdict(claim: Claim, known: Known, stored: Cluster, expected: LookupResult) -> None:
    verdict = await lookup(known, stored).find(NAMESPACE, claim)
    assert verdict.result is expected
    assert len(stored.asked) == (claim is not OWNED or "train" not in known.digests)


@pytest.mark.parametrize(
    "claim, stored, says",
    [
        (BEYOND, Cluster(job()), "DIJob train has no pod 2 of task work yet"),
        (NO_TASK, Cluster(job()), "DIJob train has no pod 0 of task rest yet"),
        (NO_INDEX, Cluster(job()), "cannot determine the index of the pod in task work of DIJob train"),
        (BEYOND, Cluster(fails=OSError("10.0.0.1 is down")), "failed to look up DIJob train"),
        (OTHER, Cluster(job()), "no DIJob train with this uid exists in the namespace"),
    ],
)
async def test_a_verdict_says_why(claim: Claim, stored: Cluster, says: str) -> None:
    verdict = await lookup(Known(job()), stored).find(NAMESPACE, claim)
    assert verdict.result in {LookupResult.LATER, LookupResult.DENIED}
    assert verdict.reason == says


async def test_a_forgery_is_held_against_nobody_else() -> None:
    cluster = Cluster()
    known = Known()
    result = lookup(known, cluster)
    assert (await result.find(NAMESPACE, OTHER)).result is LookupResult.DENIED
    cluster.documents["train"] = job()
    assert (await result.find(NAMESPACE, OWNED)).result is LookupResult.FOUND
    assert (await result.find(NAMESPACE, LABELLED)).result is LookupResult.FOUND
    known.digests |= Known(RECREATED).digests
    assert (await result.find(NAMESPACE, OTHER)).result is LookupResult.FOUND


@pytest.mark.parametrize("name", ["", "..", "../../secrets/x", "a/b", "x?watch=true", "ä", "x" * 254, "UPPER"])
@pytest.mark.parametrize("owned", [True, False])
async def test_what_can_be_no_jobs_name_is_not_asked_for(name: str, owned: bool) -> None:
    cluster = Cluster()
    result = lookup(Known(), cluster)
    verdict = await result.find(NAMESPACE, Claim(name, "work", 0, "1" if owned else "", owned=owned))
    assert verdict.result is (LookupResult.DENIED if owned else LookupResult.UNKNOWN)
    assert cluster.asked == []


async def test_what_can_be_no_uid_is_not_asked_for() -> None:
    cluster = Cluster()
    result = lookup(Known(job()), cluster)
    assert (
        await result.find(NAMESPACE, Claim("train", "work", 0, "x" * 1_000_000, owned=True))
    ).result is LookupResult.DENIED
    assert cluster.asked == []


async def test_beyond_the_budget_it_is_later() -> None:
    clock, cluster = Clock(), Cluster(job(), fails=OSError())
    result = lookup(Known(), cluster, clock, rate=1.0, burst=2.0)
    verdicts = [await result.find(NAMESPACE, OWNED) for _ in range(4)]
    assert len(cluster.asked) == 2
    assert "too many lookups" in str(verdicts[-1])
    clock.now += 1.0
    cluster.fails = None
    assert (await result.find(NAMESPACE, OWNED)).result is LookupResult.FOUND


async def test_many_pods_of_a_new_job_ask_once() -> None:
    go = asyncio.Event()
    cluster = Cluster(job(jobs.task(name="work", replicas=100)), slow=go)
    result = lookup(Known(), cluster)
    claims = [Claim("train", "work", index, UID, owned=True) for index in range(100)]
    waiting = [asyncio.create_task(result.find(NAMESPACE, claim)) for claim in claims]
    await asyncio.sleep(0)
    waiting[0].cancel()  # whose question it was goes away, and the others keep the answer
    await asyncio.sleep(0)
    go.set()
    verdicts = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(verdicts[0], asyncio.CancelledError)
    assert all(isinstance(verdict, LookupVerdict) and verdict.result is LookupResult.FOUND for verdict in verdicts[1:])
    assert len(cluster.asked) == 1
    assert not result._flights


async def test_so_many_questions_of_a_namespace_are_on_their_way_at_once() -> None:
    go = asyncio.Event()
    cluster = Cluster(slow=go)
    result = lookup(Known(), cluster)
    claims = [Claim(f"job-{number}", "work", 0) for number in range(3 * budget.SHARE)]
    waiting = asyncio.gather(*(result.find(NAMESPACE, claim) for claim in claims))
    await asyncio.sleep(0.01)
    assert len(cluster.asked) == budget.SHARE
    go.set()
    assert all(verdict.result is LookupResult.UNKNOWN for verdict in await waiting)
    assert len(cluster.asked) == len(claims)


async def test_a_namespace_that_invents_jobs_keeps_no_other_waiting() -> None:
    go = asyncio.Event()
    asked: list[str] = []

    async def fetch(name: str, namespace: str) -> Any:
        asked.append(namespace)
        if namespace == "attacker":
            await go.wait()
            return None
        return digest_of(DIJOB, job(name=name))

    clock = Clock()
    result = Lookup("DIJob", Known(), fetch, Budget(clock), clock)
    invented = [Claim(f"job-{number}", "work", 0, str(number), owned=True) for number in range(200)]
    attack = [asyncio.create_task(result.find("attacker", claim)) for claim in invented]
    await asyncio.sleep(0)
    claims = [Claim(f"train-{number}", "work", 0, UID, owned=True) for number in range(12)]
    verdicts = await asyncio.gather(*(result.find(NAMESPACE, claim) for claim in claims))
    assert all(verdict.result is LookupResult.FOUND for verdict in verdicts)
    assert asked.count("attacker") == budget.SHARE
    go.set()
    await asyncio.gather(*attack)


async def test_namespaces_take_turns() -> None:
    turns, asked = asyncio.Semaphore(0), []

    async def fetch(_: str, namespace: str) -> Any:
        asked.append(namespace)
        await turns.acquire()

    result = Lookup("DIJob", Known(), fetch, Budget(Clock()))
    namespaces = [f"attacker-{number}" for number in range(20) for _ in range(budget.SHARE)] + [NAMESPACE]
    claims = [Claim(f"job-{number}", "work", 0) for number in range(len(namespaces))]
    waiting = asyncio.gather(*map(result.find, namespaces, claims))
    while NAMESPACE not in asked:
        turns.release()
        for _ in range(10):
            await asyncio.sleep(0)
    assert len(asked) <= budget.AT_ONCE + 20
    for _ in namespaces:
        turns.release()
    await waiting
    assert not result._shares
    assert not result._firsts


async def test_who_gets_no_turn_in_time_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "TIMEOUT", 0.01)
    go = asyncio.Event()
    result = lookup(Known(), Cluster(slow=go))
    claims = [Claim(f"job-{number}", "work", 0) for number in range(budget.SHARE + 1)]
    waiting = [asyncio.create_task(result.find(NAMESPACE, claim)) for claim in claims]
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert ["too many lookups" in str(each.result()) for each in done] == [True]
    go.set()
    verdicts = await asyncio.gather(*waiting)
    assert sum(verdict.result is LookupResult.UNKNOWN for verdict in verdicts) == budget.SHARE
    assert (await result.find(NAMESPACE, claims[-1])).result is LookupResult.UNKNOWN


async def test_a_failure_that_nobody_waits_for_is_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    go = asyncio.Event()
    result = lookup(Known(), Cluster(fails=OSError(), slow=go))
    waiting = asyncio.create_task(result.find(NAMESPACE, OWNED))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    go.set()
    await asyncio.sleep(0.01)
    assert not result._flights
    assert not caplog.records


@pytest.mark.parametrize("uid", [UID, ""])
@pytest.mark.parametrize(
    "remembered, expected",
    [(UnusableJob(UID, UNREADABLE), "cannot be read"), (UnusableJob(UID, OVERSIZED), "too large")],
)
async def test_the_pods_of_a_job_that_we_fail_to_read_or_to_hold_are_rejected(
    uid: str, remembered: Any, expected: str
) -> None:
    known: Any = Known()
    known.digests["train"] = remembered
    verdict = await lookup(known, Cluster()).find(NAMESPACE, Claim("train", "work", 0, uid, owned=bool(uid)))
    assert verdict.result is LookupResult.DENIED
    assert expected in verdict.reason


async def test_a_job_that_is_too_large_is_so_when_it_is_asked_for_too() -> None:
    large = job(*(jobs.task(name=f"task-{number}") for number in range(3400)))
    verdict = await lookup(Known(), Cluster(large)).find(NAMESPACE, OWNED)
    assert verdict.result is LookupResult.DENIED
    assert "fewer tasks" in verdict.reason


@pytest.mark.parametrize(
    "facts, expected",
    [
        ({"id": "a"}, LookupResult.FOUND),
        ({"id": "b"}, LookupResult.UNKNOWN),
        ({"other": "a"}, LookupResult.LATER),
        ({}, LookupResult.FOUND),
    ],
)
async def test_a_pod_that_has_other_facts_is_of_another_job_and_one_that_has_more_is_ahead(
    facts: dict[str, str], expected: LookupResult
) -> None:
    known: Any = Known(job())
    known.digests["train"] = replace(known.digests["train"], facts={"id": "a"})
    cluster = Cluster()

    async def fetch(name: str, namespace: str) -> Any:
        return known.digests[name]

    cluster.fetch = fetch  # type: ignore[method-assign]
    verdict = await lookup(known, cluster).find(NAMESPACE, Claim("train", "work", 1, facts=facts))
    assert verdict.result is expected


@pytest.mark.parametrize(
    "claim, expected",
    [
        (OWNED, LookupResult.FOUND),
        (LABELLED, LookupResult.FOUND),
        (BEYOND, LookupResult.LATER),
        (OTHER, LookupResult.DENIED),
    ],
)
async def test_a_job_for_which_there_was_no_room_is_asked_for(claim: Claim, expected: LookupResult) -> None:
    known: Any = Known()
    known.digests["train"] = UncachedJob(UID, b"1")
    cluster = Cluster(job())
    verdict = await lookup(known, cluster).find(NAMESPACE, claim)
    assert verdict.result is expected
    assert cluster.asked == [f"{NAMESPACE}/train"]
