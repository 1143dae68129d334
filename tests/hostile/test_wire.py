"""Requests that no API server would send, and the responses of a real server with all kinds.

Tests in `tests/webhook/server/` with a toy kind are not repeated here; `docs/explanation/security.md` lists both.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.replica import Replica
from jobgate.installation.handbook import title
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from tests.hostile.requests import DIJOB, MUTATE, PODS, TORCHJOB, VALIDATE, envelope, job, patch, review, texts
from tests.hostile.shapes import NASTY, container, of_one_task, template
from tests.webhook.server.test_tls import client
from tests.webhook.server.wire import Connection, Running, Shown, chunked, head, post
from webhook import Phase

GOOD = json.dumps(envelope(job()), separators=(",", ":")).encode()
RAW = "application/json"


def doubled(key: bytes) -> bytes:
    """Return a review with a duplicate key in an object."""
    return GOOD.replace(b'"%b":' % key, b'"%b":null,"%b":' % (key, key), 1)


ours = partial(head, path=VALIDATE)

#: Requests that are not exactly one plain HTTP/1.1 request: they are rejected, and the connection is closed.
SMUGGLED = {
    "length and chunks": ours(Content_Length=5, Transfer_Encoding="chunked") + chunked(GOOD),
    "chunks and length": ours(Transfer_Encoding="chunked", Content_Length=5) + chunked(GOOD),
    "two lengths": ours(Content_Length="2\r\nContent-Length: 3") + b"{}",
    "a list of lengths": ours(Content_Length="2, 2") + b"{}",
    "a length with a sign": ours(Content_Length="+2") + b"{}",
    "a length in hexadecimal": ours(Content_Length="0x2") + b"{}",
    "a length of a thousand digits": ours(Content_Length="9" * 1000),
    "chunks by another name": ours(Transfer_Encoding="xchunked") + chunked(GOOD),
    "chunks, and then not": ours(Transfer_Encoding="chunked, identity") + chunked(GOOD),
    "chunks twice": ours(Transfer_Encoding="chunked, chunked") + chunked(GOOD),
    "a space before the colon": ours().replace(b"Host:", b"Host :"),
    "a folded header": ours(X_A="1\r\n  2", Content_Length=2) + b"{}",
    "a header without a name": ours().replace(b"Host:", b":"),
    "a header with a null": ours(X_A="a\x00b", Content_Length=2) + b"{}",
    "a header with a carriage return": ours(X_A="a\rb", Content_Length=2) + b"{}",
    "a chunk of no hexadecimal size": ours(Transfer_Encoding="chunked") + b"g\r\n{\r\n0\r\n\r\n",
    "a chunk of a negative size": ours(Transfer_Encoding="chunked") + b"-1\r\n{\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": ours(Transfer_Encoding="chunked") + b"f" * 17 + b"\r\n",
    "a chunk longer than it says": ours(Transfer_Encoding="chunked") + b"1\r\n{}\r\n0\r\n\r\n",
    "an old version": post(GOOD, VALIDATE).replace(b"HTTP/1.1", b"HTTP/0.9", 1),
    "a version that is not there": post(GOOD, VALIDATE).replace(b"HTTP/1.1", b"HTTP/1.2", 1),
    "HTTP/2 by prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
#: The status codes of all responses on such a connection: none, or one error.
REJECTED = ([], *([code] for code in range(400, 600)))


async def test_ambiguous_requests_are_rejected_and_their_connections_closed(
    server: Running,
) -> None:
    async def codes(request: bytes) -> list[int]:
        connection = await server.connect()
        await connection.send(request + post(GOOD, VALIDATE))
        return [code async for code in answers(connection)]

    # At the same time, because the server closes each connection only after a second.
    results = await asyncio.gather(*map(codes, SMUGGLED.values()))
    wrong = {name: result for name, result in zip(SMUGGLED, results, strict=True) if result not in REJECTED}
    assert wrong == {}


async def answers(connection: Connection) -> AsyncIterator[int]:
    """Yield the status codes of all responses until the server closes the connection."""
    while True:
        try:
            yield (await connection.answer()).code
        except (EOFError, ConnectionError):
            return


#: Requests, and the status code of each response.
CODES: dict[str, tuple[bytes, int]] = {
    "a body longer than its length": (head(path=VALIDATE, Content_Length=5) + GOOD, 400),
    "the key object twice": (post(doubled(b"object"), VALIDATE), 400),
    "the key operation twice": (post(doubled(b"operation"), VALIDATE), 400),
    "a task's name twice": (post(GOOD.replace(b'"name":"t0"', b'"name":"t1","name":"t0"'), VALIDATE), 400),
    "two content types": (post(GOOD, VALIDATE, Content_Type=f"{RAW}\r\nContent-Type: text/plain"), 400),
    "two encodings": (post(GOOD, VALIDATE, Content_Encoding="identity\r\nContent-Encoding: gzip"), 415),
    "a response in the request": (post(GOOD[:-1] + b',"response":{"allowed":true}}', VALIDATE), 200),
    "a list for the request": (post(json.dumps(envelope({}) | {"request": []}).encode(), VALIDATE), 400),
    "version v2": (post(GOOD.replace(b"admission.k8s.io/v1", b"admission.k8s.io/v2", 1), VALIDATE), 400),
    "an operation that is not there": (review(job(), operation="PATCH"), 400),
    "a name that is no text": (review(job(), name=["x"]), 400),
    "a namespace that is no text": (review(job(), namespace={}), 400),
    "a kind that is no object": (post(GOOD.replace(b'"kind":{', b'"kind":[],"x":{', 1), VALIDATE), 400),
    "user information that is no object": (review(job(), userInfo="root"), 400),
    "groups that are no list": (review(job(), userInfo={"username": "a", "groups": "system:masters"}), 400),
    "no user information": (review(job(), userInfo=None), 200),
    "the path of another kind": (post(GOOD, TORCHJOB.path(Phase.VALIDATE)), 200),
    "a job on the path of pods": (post(GOOD, PODS), 200),
    "admission on the path of probes": (post(GOOD, "/readyz"), 404),
    "a timeout of a thousand years": (post(GOOD, f"{VALIDATE}?timeout=8760000h"), 200),
}  # fmt: skip


@pytest.mark.parametrize("request_, code", CODES.values(), ids=CODES.keys())
async def test_each_request_gets_its_code_and_the_response_does_not_reveal_the_server(
    server: Running, request_: bytes, code: int
) -> None:
    answer = await server.ask(request_)
    assert answer.code == code
    assert len(answer.body) < 1000
    assert not [word for word in (b"aiohttp", b"ython", b"Traceback") if word in answer.body]
    assert (await server.ask(review(job()))).response["allowed"]


@pytest.mark.parametrize("kind", built_in(), ids=title)
@pytest.mark.parametrize("document", [None, [], "x", 7, {}, {"spec": None}, {"spec": []}, {"metadata": 3}], ids=repr)
@pytest.mark.parametrize("old", [None, {}, [], {"spec": None}], ids=repr)
async def test_an_object_of_any_shape_has_a_verdict(server: Running, kind: JobKind, document: Any, old: Any) -> None:
    for phase in Phase:
        for operation in ("CREATE", "UPDATE"):
            answer = await server.ask(review(document, old, kind=kind, phase=phase, operation=operation))
            assert answer.code == 200
            refusal = {True: 0, False: answer.response.get("status", {}).get("code")}[answer.response["allowed"]]
            assert refusal in {0, 422}


UNTOUCHED: dict[str, dict[str, Any]] = {
    "a deletion": {"document": None, "old": job(), "operation": "DELETE"},
    "a deletion of nothing": {"document": None, "operation": "DELETE"},
    "a command in a pod": {"document": {"kind": "PodExecOptions", "command": ["sh"]}, "operation": "CONNECT"},
    "a status": {"document": {"spec": 3}, "subResource": "status"},
    "a scale": {"document": {"kind": "Scale"}, "subResource": "scale"},
    "an ephemeral container": {"document": {"spec": {}}, "subResource": "ephemeralcontainers"},
    "a finalizer that goes": {
        "document": {**job(), "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        "old": {**job(), "metadata": {"name": "a", "finalizers": ["x/y"]}},
    },
}


@pytest.mark.parametrize("request_", UNTOUCHED.values(), ids=UNTOUCHED.keys())
@pytest.mark.parametrize("path", [MUTATE, VALIDATE, PODS, PODS.replace("mutate", "validate")])
async def test_deletions_and_subresources_are_allowed_unchanged(
    server: Running, request_: dict[str, Any], path: str
) -> None:
    words = dict(request_)
    content = envelope(words.pop("document"), words.pop("old", None), **words)
    answer = await server.ask(post(json.dumps(content).encode(), path))
    assert answer.response == {"uid": content["request"]["uid"], "allowed": True}


@pytest.mark.parametrize("changed", [{"dryRun": True}, {"userInfo": {"username": "x", "groups": ["system:masters"]}}])
@pytest.mark.parametrize(
    "document", [job(), of_one_task(DIJOB, template(container("Not a name")))], ids=["sound", "broken"]
)
async def test_a_repeated_request_and_another_user_get_the_same_verdict(
    server: Running, document: dict[str, Any], changed: dict[str, Any]
) -> None:
    for phase in Phase:
        first, again, other = [
            (await server.ask(review(document, phase=phase, **words))).json for words in ({}, {}, changed)
        ]
        assert first == again == other


# Texts in terminals and logs

#: Jobs with hostile names and keys.
NAMED: dict[str, dict[str, Any]] = {
    "a task's name": job() | {"spec": {"tasks": [{"name": f"a{NASTY}", "template": {}}]}},
    "a container's name": of_one_task(DIJOB, template(container(f"a{NASTY}"))),
    "a label's key": of_one_task(DIJOB, {"metadata": {"labels": {f"a{NASTY}": "b"}}, **template()}),
    "a resource": of_one_task(DIJOB, template(container(resources={"limits": {f"a{NASTY}": "x"}}))),
    "a plugin": of_one_task(DIJOB, template(), plugins={f"a{NASTY}": []}),
    "an unknown field": of_one_task(DIJOB, template(**{f"a{NASTY}": 1})),
    "the job's name": {**of_one_task(DIJOB, template(container("A"))), "metadata": {"name": f"a{NASTY}"}},
    "homoglyphs": of_one_task(DIJOB, template(container("mаin"))),  # noqa: RUF001  # the letter is Cyrillic
}


@pytest.mark.parametrize("document", NAMED.values(), ids=NAMED.keys())
async def test_no_control_character_of_a_name_reaches_a_terminal(server: Running, document: dict[str, Any]) -> None:
    for phase in Phase:
        check_printable((await server.ask(review(document, phase=phase))).response)


async def test_no_control_character_of_a_map_key_reaches_a_terminal(server: Running) -> None:
    document = of_one_task(TORCHJOB, template(container("A")))
    document["spec"]["torchTaskSpecs"] = {f"a{NASTY}": {"template": template(container("A")), "numTasks": "x"}}
    for phase in Phase:
        answer = await server.ask(review(document, kind=TORCHJOB, phase=phase))
        assert not answer.response["allowed"]
        check_printable(answer.response)


def check_printable(response: Any) -> None:
    """Assert that all texts of a response are printable lines."""
    texts = [str(value) for value in strings([response.get("status"), response.get("warnings")])]
    assert [text for text in texts if not text.isprintable()] == []


def strings(value: Any) -> list[str]:
    """Return all texts in a JSON value, with its keys."""
    if isinstance(value, dict):
        return [text for pair in value.items() for one_ in pair for text in strings(one_)]
    if isinstance(value, list):
        return [text for one_ in value for text in strings(one_)]
    return [value] if isinstance(value, str) else []


async def test_each_log_line_is_one_object_whatever_is_in_the_request(server: Running, replica: Replica) -> None:
    forged = f'x","level":"error","message":"forged{NASTY}'
    answer = await server.ask(review(job(), name=forged, namespace=forged, userInfo={"username": forged}))
    assert answer.code == 200
    await server.ask(head("GET", "/forged%0a%1b"))
    lines = [json.loads(line) for line in logged(replica) if "forged" in line]
    assert all(line["message"] == "request" for line in lines)


def logged(replica: Replica) -> list[str]:
    """Return the complete lines of a server's log."""
    return [line for line in replica.log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]


SECRET = "hunter2-s3cret"
SECRETS: dict[str, dict[str, Any]] = {
    "a variable": of_one_task(DIJOB, template(container("A", env=[{"name": "T", "value": SECRET}, {"name": "T"}]))),
    "a variable of the wrong type": of_one_task(
        DIJOB, template(container(env=[{"name": "T", "value": {"a": SECRET}}]))
    ),
    "variables that are no list": of_one_task(DIJOB, template(container(env={"T": SECRET}))),
    "a command": of_one_task(DIJOB, template(container("A", command=SECRET, args={"x": SECRET}))),
    "an annotation": of_one_task(DIJOB, {"metadata": {"annotations": {"a b": SECRET, "c": [SECRET]}}, **template()}),
    "an argument of a plugin": of_one_task(
        DIJOB, template(), plugins={"ssh": SECRET, "env": {"a": SECRET}, "x": [SECRET]}
    ),
}


@pytest.mark.parametrize("document", SECRETS.values(), ids=SECRETS.keys())
async def test_possible_secrets_are_in_no_response_and_no_log(
    server: Running, replica: Replica, document: dict[str, Any]
) -> None:
    for phase in Phase:
        assert SECRET not in texts(await server.ask(review(document, phase=phase)))
    assert not [line for line in logged(replica) if SECRET in line]


async def test_requests_do_not_add_series_to_the_metrics(server: Running) -> None:
    async def series(numbers: range) -> int:
        for number in numbers:
            await server.ask(head("GET", f"/{number}"))
            await server.ask(other(f"Kind{number}"))
            await server.ask(review(of_one_task(DIJOB, template(container(f"A{number}"))), uid=f"u{number}"))
        return len(await server.metrics())

    assert await series(range(20)) == await series(range(20, 60))


def other(kind: str) -> bytes:
    """Return a review of a kind that is not served."""
    words = {"group": "x.example.com", "version": "v1", "kind": kind}
    content = envelope({})
    content["request"]["kind"] = words
    return post(json.dumps(content).encode(), VALIDATE)


# Mutation keeps what the user wrote


async def test_numbers_and_unknown_fields_are_in_no_patch(server: Running) -> None:
    document = job()
    document["spec"]["future"] = {"a": 2**53 + 1, "b": -0.0, "c": 1e300, "d/~e": None}
    document["metadata"]["annotations"] = {"example.com/a": "/~b"}
    answer = await server.ask(review(document, phase=Phase.MUTATE))
    assert answer.response["allowed"]
    assert all(operation["op"] == "add" for operation in patch(answer))
    assert "future" not in str(patch(answer))


async def test_addresses_in_a_job_are_never_called(server: Running) -> None:
    asked: list[bytes] = []
    listener = await listening(asked)
    port = listener.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/x"
    bad = container(
        image=f"127.0.0.1:{port}/x:1", lifecycle={"postStart": {"httpGet": {"host": "127.0.0.1", "port": port}}}
    )
    document = of_one_task(
        DIJOB, template(bad, volumes=[{"name": "n", "nfs": {"server": "127.0.0.1", "path": url}}]), plugins={"svc": []}
    )
    document["metadata"]["annotations"] = {"example.com/url": url}
    for phase in Phase:
        assert (await server.ask(review(document, phase=phase))).code == 200
    listener.close()
    assert asked == []


async def listening(asked: list[bytes]) -> asyncio.Server:
    """Start a server that records all connections."""

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.read(10))
        writer.close()

    return await asyncio.start_server(note, "127.0.0.1", 0)


@pytest.mark.parametrize(
    "text", ["$(touch /tmp/x)", "`id`", "{{ 7*7 }}", "<% $secrets.x %>", "';drop", "%s%n", "${IFS}"]
)
async def test_user_texts_are_never_rendered(server: Running, text: str) -> None:
    result = container(command=["sh", "-c", text], env=[{"name": "T", "value": text}])
    document = of_one_task(
        DIJOB, {"metadata": {"annotations": {"a": text}}, **template(result)}, plugins={"env": [], "svc": []}
    )
    answer = await server.ask(review(document, phase=Phase.MUTATE))
    assert answer.response["allowed"]
    assert text not in str(patch(answer))


#: Functions and modules that could run a user's text.
RUNNERS = ("subprocess", "os.system", "eval(", "exec(", "pickle", "jinja", "string.Template", "yaml.load(")


@pytest.mark.parametrize("package", ["webhook", "jobgate/kinds", "jobgate/plugins", "jobgate/pods"])
def test_admission_code_cannot_run_or_render_texts(package: str) -> None:
    result = [
        f"{path}: {word}"
        for path in Path(package).rglob("*.py")
        for word in RUNNERS
        if word in path.read_text(encoding="utf-8").replace("re.compile", "")
    ]
    assert result == []


# TLS, and the health port


async def test_admission_is_not_served_without_tls(server: Running) -> None:
    for request in (post(GOOD, VALIDATE), post(GOOD, MUTATE), head("GET", VALIDATE)):
        connection = await server.connect(tls=False, port=server.listening.health_port)
        assert (await connection.ask(request)).code in {404, 405, 413}


async def test_a_client_certificate_is_not_required_and_changes_nothing(server: Running, shown: Shown) -> None:
    tls = client(shown)
    tls.load_cert_chain(shown.certificate, shown.key)
    connection = await server.connect(tls=tls)
    assert (await connection.ask(review(job()))).response["allowed"]
