"""Reviews that are kept: bounded, without secrets, offered to who may read them and to nobody else."""

import asyncio
import json
import subprocess
import sys
import time
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.webhook.kind import admission_review, job, parts
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import MUTATE, PATIENCE, Running, body, head, post, until
from webhook import Invalid, Notice, Request, Response
from webhook.server import offer, reviews
from webhook.server.answer import patch
from webhook.server.limits import KIB
from webhook.server.reviews import BURST, CONTENT, ENTRY, FINDINGS, KeptReviews

SECRET = "hunter2-is-secret"
DENIED = Invalid("spec.parts[0].replicas", 0, "must be at least 1")


def request(document: Any = None, **fields: Any) -> Request:
    return Request.parse(admission_review(job() if document is None else document, **fields))


def add(kept: KeptReviews, *findings: Any, document: Any = None, size: int = 0, **response: Any) -> None:
    """Keep a review with these findings."""
    answer = Response("u", [("rule", finding) for finding in findings], **response)
    kept.add(request(document), answer, "validate", size, patch(answer), time.perf_counter() - 0.001)


def read(kept: KeptReviews, last: int = 0, most: int = 10_000) -> list[dict[str, Any]]:
    return [json.loads(review) for _, review in kept.after(last, most, 1 << 30)[0]]


def secretive(**more: Any) -> dict[str, Any]:
    template = {"env": [{"name": "A", "value": SECRET}], "command": [SECRET], **more}
    return parts({"name": "a", "template": template})


def test_what_is_kept_of_a_denial() -> None:
    kept = KeptReviews(10)
    add(kept, DENIED, Notice("spec", "look out"), document=job())
    (review,) = read(kept)
    assert review.pop("time").endswith("+00:00")
    assert review.pop("id") > 0
    assert 1 <= review.pop("milliseconds") < 1000
    assert review == {
        "phase": "validate", "operation": "CREATE", "dryRun": False, "apiVersion": "toys.example.com/v1",
        "kind": "Crew", "namespace": "default", "name": "demo", "user": "jane", "verdict": "denied",
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operations": 0,
        "causes": [{"rule": "rule", "reason": "FieldValueInvalid", "field": "spec.parts[0].replicas",
                    "steps": ["spec", "parts", 0, "replicas"], "message": "Invalid value: 0: must be at least 1"}],
        "warnings": [{"rule": "rule", "field": "spec", "steps": ["spec"], "message": "look out"}],
        "object": job(),
    }  # fmt: skip


@pytest.mark.parametrize(
    "findings, response, verdict",
    [
        ([], {}, "allowed"),
        ([], {"patch": [{"op": "add", "path": "/spec/a", "value": 1}]}, "patched"),
        ([Notice("", "x")], {"patch": [{"op": "add", "path": "/spec/a", "value": 1}]}, "warned"),
        ([DENIED], {}, "denied"),
        ([], {"later": "retry in 1s"}, "later"),
    ],
)
def test_verdicts(findings: list[Any], response: dict[str, Any], verdict: str) -> None:
    kept = KeptReviews(10)
    add(kept, *findings, **response)
    (review,) = read(kept)
    assert review["verdict"] == verdict
    assert review.get("patch", []) == response.get("patch", [])


def test_no_secret_is_kept_of_object_message_or_patch() -> None:
    kept, plain = KeptReviews(100), {"op": "add", "path": "/spec/a", "value": 1}
    quoting = [
        Invalid("spec.parts[0].template.env[0].value", SECRET),
        Invalid("spec.parts[0].template", {"env": [{"value": SECRET}]}),
        Invalid("metadata.name", SECRET),
        Notice("spec", f"reads {SECRET!r}"),
    ]
    for finding in quoting:
        add(kept, finding, document=secretive())
    for value in (SECRET, {"value": SECRET}, [SECRET]):
        add(kept, patch=[plain, {"op": "add", "path": "/spec/parts/0/template/env", "value": value}])
        add(kept, DENIED, document=secretive(), patch=[{"op": "add", "path": "/spec/args", "value": value}])
    text = json.dumps(read(kept))
    assert "hunter2" not in text
    assert text.count('"path": "/spec/a"') == 3


def test_a_patch_with_nothing_to_mask_is_remembered_and_no_other() -> None:
    kept, plain = KeptReviews(1000), {"op": "add", "path": "/spec/replicas", "value": 1}
    for number in range(200):
        add(kept, patch=[plain])
        add(kept, patch=[{"op": "add", "path": "/spec/args", "value": f"{SECRET}{number % 2}"}])
    found = [review.get("patch") for review in read(kept)]
    assert found[::2] == [[plain]] * 200
    masked = [patch for patch in found[1::2] if patch]
    assert 10 < len(masked) < 60
    assert "hunter2" not in json.dumps(found)
    assert not any(b"hunter2" in content for content in kept._plain.values())
    assert len(kept._plain) == 1


def test_reviews_that_allow_do_not_push_out_those_that_deny() -> None:
    kept = KeptReviews(10)
    add(kept, DENIED)
    for _ in range(100):
        add(kept)
    assert [review["verdict"] for review in read(kept)] == ["denied"] + ["allowed"] * 5


def test_they_are_bounded_by_count_and_by_bytes() -> None:
    kept = KeptReviews(10_000, 200 * KIB, rate=1e12)
    tracemalloc.start()
    for number in range(400):
        add(kept, patch=[{"op": "add", "path": "/spec/a", "value": [1] * number * 5}])
        add(kept, DENIED, document=parts({"name": "x", "a": [1] * 2500}))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(ENTRY + len(content) for half in kept._kept for content, *_ in half) <= 200 * KIB
    assert held < 400 * KIB
    kept = KeptReviews(100)
    for _ in range(1000):
        add(kept)
        add(kept, DENIED)
    assert [len(half) for half in kept._kept] == [50, 50]


def test_long_texts_are_cut() -> None:
    kept, long = KeptReviews(10), "x" * 5000
    kind = {"group": long, "version": "v1", "kind": long}
    kept.add(request(name=long, namespace=long, kind=kind), Response("u"), "validate", 0, b"", 0.0)
    (review,) = read(kept)
    assert {review[key] for key in ("name", "namespace", "kind", "apiVersion")} == {"x" * 253}


def test_a_review_has_the_time_of_the_clock_that_was_set_since(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, clock = KeptReviews(10), time.time
    monkeypatch.setattr(time, "time", lambda: clock() + 86400)
    before = datetime.fromtimestamp(time.time(), UTC)
    add(kept)
    (review,) = read(kept)
    assert before <= datetime.fromisoformat(review["time"]) <= datetime.fromtimestamp(time.time(), UTC)


def test_a_large_object_is_left_out_but_not_its_causes() -> None:
    kept = KeptReviews(10)
    add(kept, DENIED, document=job({"parts": [{"name": "x" * 200}] * (CONTENT // 200)}), size=CONTENT)
    (review,) = read(kept)
    assert "object" not in review
    assert review["causes"][0]["message"] == DENIED.message


def test_beyond_the_rate_only_rules_are_kept() -> None:
    kept = KeptReviews(1000, rate=0)
    for _ in range(200):
        add(kept, DENIED, Notice("", SECRET), document=secretive())
    found = read(kept)
    assert len(found) == 200
    assert sum("object" in review for review in found) == BURST // reviews.SMALL
    assert [cause["rule"] for cause in found[-1]["causes"] + found[-1]["warnings"]] == ["rule", "rule"]
    assert "hunter2" not in json.dumps(found)


def test_a_name_that_cannot_be_encoded_is_escaped() -> None:
    kept = KeptReviews(10)
    add(kept, DENIED, subject=("Crew", "g", "x\ud800\n"))
    kept.add(request(name=""), Response("u", subject=("Crew", "g", "x\ud800")), "validate", 0, b"", 0.0)
    assert [review["name"] for review in read(kept)] == ["demo", "x\\ud800"]


def test_findings_are_few() -> None:
    kept = KeptReviews(10)
    add(kept, *[DENIED] * 30, *[Notice("", "x")] * 30)
    (review,) = read(kept)
    assert (len(review["causes"]), len(review["warnings"])) == (FINDINGS, FINDINGS)


def test_what_cannot_be_masked_is_not_kept() -> None:
    deep: Any = SECRET
    for _ in range(100_000):
        deep = [deep]
    kept = KeptReviews(10)
    add(kept, DENIED, document={"spec": deep})
    (review,) = read(kept)
    assert (review["verdict"], review["causes"], "object" in review) == ("denied", [], False)


def test_readers_get_what_is_new_and_hear_of_what_they_missed() -> None:
    kept = KeptReviews(4)
    add(kept)
    add(kept, DENIED)
    first, second = (review["id"] for review in read(kept))
    assert [review["id"] for review in read(kept, first)] == [second]
    assert kept.after(second, 10, 1) == ([], False)
    for _ in range(5):
        add(kept)
    found, missed = kept.after(second, 10, 1 << 30)
    assert (len(found), missed) == (2, True)
    assert kept.after(found[-1][0], 10, 1) == ([], False)
    assert [number for number, _ in kept.after(second, 10, 1)[0]] == [found[0][0]]
    assert len(read(kept, 0, 1)) == 1


def test_reviews_of_one_half_that_were_dropped_are_not_missed_in_the_other() -> None:
    kept = KeptReviews(10_000, 200 * KIB, rate=1e12)
    for _ in range(50):
        add(kept, DENIED, document=parts({"name": "x", "a": [1] * 2500}))
    assert kept.after(1, 10, 1)[1]
    last = read(kept)[-1]["id"]
    add(kept)
    newer, missed = kept.after(last, 10, 1)
    assert (len(newer), missed) == (1, False)


def test_what_has_just_ended_is_left_for_later() -> None:
    kept = KeptReviews(10)
    add(kept)
    assert kept.after(0, 10, 1, 3600.0) == ([], False)
    assert len(kept.after(0, 10, 1, 0.0)[0]) == 1


def test_readers_miss_nothing_if_reviews_are_not_added_in_the_order_of_their_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, now = KeptReviews(10), time.perf_counter()
    for ended in (now + 0.002, now + 0.001):
        monkeypatch.setattr(time, "perf_counter", lambda: ended)  # noqa: B023  # called at once
        add(kept)
    seen: list[int] = []
    for later in (0.0011, 0.1):
        monkeypatch.setattr(time, "perf_counter", lambda: now + offer.SETTLED + later)  # noqa: B023
        newer, _ = kept.after(seen[-1] if seen else 0, 10, 1 << 30, offer.SETTLED)
        seen += [number for number, _ in newer]
    assert len(seen) == 2
    assert seen == sorted(seen)


async def test_a_list_leaves_what_has_just_ended_for_who_goes_on_after_it() -> None:
    kept = KeptReviews(10)
    offered = offer.Offer(kept, None)  # type: ignore[arg-type]  # not asked
    add(kept)
    assert json.loads(offered._listed(0, 10)) == {"items": [], "last": 0, "missed": False}
    await asyncio.sleep(offer.SETTLED)
    assert len(json.loads(offered._listed(0, 10))["items"]) == 1


async def test_a_server_keeps_nothing_unless_it_is_asked_to(server: Running) -> None:
    assert (await server.probe("/reviews", X_Reviews_Token="reader")).code == 404


def test_nothing_of_it_is_loaded_unless_it_is_asked_for() -> None:
    program = "import sys, webhook.server, jobgate.cli.serve; print([m for m in sys.modules if 'review' in m or 'offer' in m or 'redact' in m])"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not any(name in loaded for name in ("webhook.server.reviews", "offer", "redaction"))


@pytest.mark.parametrize(
    "path, headers, code",
    [
        ("/reviews", {}, 401),
        ("/reviews", {"Authorization": "Bearer other"}, 403),
        ("/reviews", {"Authorization": "Basic reader"}, 401),
        ("/reviews", {"Authorization": "Bearer reader"}, 200),
        ("/reviews", {"X_Reviews_Token": "reader"}, 200),
        ("/reviews/stream", {}, 401),
        ("/reviews?after=x", {"X_Reviews_Token": "reader"}, 400),
        ("/reviews?limit=-1", {"X_Reviews_Token": "reader"}, 400),
        ("/reviews/", {"X_Reviews_Token": "reader"}, 404),
    ],
)
async def test_only_who_may_read_them_gets_them(start: Start, path: str, headers: dict[str, str], code: int) -> None:
    server = await start(reviews=KeptReviews(10))
    assert (await server.probe(path, **headers)).code == code


async def test_all_reviews_of_a_server_are_read_as_json(start: Start) -> None:
    server = await start(reviews=KeptReviews(100))
    await server.ask(post(body(secretive()), MUTATE))
    await server.ask(post(body(parts({"name": "a", "template": {"image": 1, "env": [{"value": SECRET}]}}))))
    await server.ask(post(body(parts({"name": "a", "template": {"image": 1, "x": [1] * 40_000}}))))
    answer = await server.probe("/reviews", Authorization="Bearer reader")
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("application/json", "no-store")
    assert "hunter2" not in answer.body.decode()
    verdicts = [(review["phase"], review["verdict"], "object" in review) for review in answer.json["items"]]
    assert verdicts == [("mutate", "patched", False), ("validate", "denied", True), ("validate", "denied", False)]
    assert answer.json["last"] == answer.json["items"][-1]["id"]
    assert (await server.probe(f"/reviews?after={answer.json['last']}", X_Reviews_Token="reader")).json["items"] == []


async def test_a_stream_tells_of_a_review_within_a_second(start: Start) -> None:
    server = await start(reviews=KeptReviews(100))
    await server.ask(post())
    stream = await server.connect(tls=False, port=server.listening.health_port)
    await stream.send(head("GET", "/reviews/stream", X_Reviews_Token="reader"))
    async with asyncio.timeout(PATIENCE):
        start_of = await stream.reader.readuntil(b"\r\n\r\n")
        assert b"text/event-stream" in start_of
        first = await stream.reader.readuntil(b"\n\n")
        assert json.loads(first.partition(b"data: ")[2])["verdict"] == "allowed"
    delays = []
    for _ in range(10):  # the best of these: the machine runs other tests
        await server.ask(post(body(job({}))))
        begun = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            second = await stream.reader.readuntil(b"\n\n")
        assert json.loads(second.partition(b"data: ")[2])["verdict"] == "denied"
        assert second.startswith(b"id: ")
        delays.append(time.monotonic() - begun)
        if delays[-1] <= 1.0:
            break
    assert min(delays) <= 1.0


async def test_a_client_that_does_not_read_its_stream_holds_one_part(start: Start) -> None:
    kept = KeptReviews(10_000, rate=1e12)
    server = await start(reviews=kept)
    stream = await server.connect(tls=False, port=server.listening.health_port)
    stream.writer.transport.pause_reading()
    await stream.send(head("GET", "/reviews/stream", X_Reviews_Token="reader"))
    tracemalloc.start()
    for number in range(3000):
        add(kept, patch=[{"op": "add", "path": "/spec/a", "value": [1] * 2500}])
        if number % 100 == 0:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.6)
    kept._kept[0].clear()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1024 * KIB


async def test_streams_are_few(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer, "STREAMS", 2)
    server = await start(reviews=KeptReviews(10))
    streams = [await server.connect(tls=False, port=server.listening.health_port) for _ in range(3)]
    starts = []
    for stream in streams:
        await stream.send(head("GET", "/reviews/stream", X_Reviews_Token="reader"))
        starts.append(await stream.reader.readuntil(b"\r\n\r\n"))
    assert [start.split()[1] for start in starts] == [b"200", b"200", b"429"]
    await streams[0].close()
    again = await server.connect(tls=False, port=server.listening.health_port)

    async def is_free() -> bool:
        await again.send(head("GET", "/reviews/stream", X_Reviews_Token="reader"))
        return b" 200 " in await again.reader.readuntil(b"\r\n\r\n")

    await until(is_free)
