"""From request to response: requests of the API server, and others."""

import base64
import json
from typing import Any

import pytest

from tests.webhook.kind import admission_review, crew, job, parts
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import MUTATE, VALIDATE, Running, body, chunked, head, post
from webhook import Registry

# The same on every event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])


async def test_a_good_job_is_allowed(server: Running) -> None:
    answer = await server.ask(post(path=f"{VALIDATE}?timeout=5s"))
    assert (answer.code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True},
    }


async def test_a_job_is_defaulted_by_a_patch(server: Running) -> None:
    response = (await server.ask(post(body(parts({"role": "lead"})), MUTATE))).response
    assert json.loads(base64.b64decode(response["patch"])) == [
        {"op": "add", "path": "/spec/parts/0/name", "value": "lead"},
        {"op": "add", "path": "/spec/parts/0/replicas", "value": 1},
    ]


async def test_a_bad_job_is_denied_and_not_an_error(server: Running) -> None:
    answer = await server.ask(post(body(parts({}, maxParts="3"))))
    assert answer.code == 200
    assert not answer.response["allowed"]
    assert [cause["field"] for cause in answer.response["status"]["details"]["causes"]] == [
        "spec.maxParts",
        "spec.parts[0].name",
    ]


DEEP = b"[" * 100_000 + b"]" * 100_000
GOOD = body().decode()


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "the body is empty"),
        (b"{", "the body is not JSON"),
        (GOOD[:-9].encode(), "the body is not JSON"),
        (GOOD.encode() + b"x", "the body is not JSON"),
        (GOOD.encode() * 2, "the body is not JSON"),
        (b"[]", "must be an admission.k8s.io/v1 AdmissionReview"),
        (b"null", "must be an admission.k8s.io/v1 AdmissionReview"),
        (b'"x"', "must be an admission.k8s.io/v1 AdmissionReview"),
        (b"7", "must be an admission.k8s.io/v1 AdmissionReview"),
        (DEEP, "the body is not JSON: depth limit"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "the body is not JSON: depth limit"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "the body is nested too deeply"),
        (b"[" * 1_000_000, "the body is not JSON"),
        (GOOD.replace('"dryRun":false', '"dryRun":NaN').encode(), "the body is not JSON"),
        (GOOD.replace('"dryRun":false', '"dryRun":-Infinity').encode(), "the body is not JSON"),
        (GOOD.replace('"dryRun":false', '"dryRun":1e999').encode(), "the body is not JSON"),
        (GOOD.replace('"dryRun":false', '"dryRun":' + "9" * 100_000).encode(), "the body is not JSON"),
        (GOOD.replace("demo", "\\ud800").encode(), "the body is not JSON"),
        (GOOD.replace("demo", "\x00").encode(), "the body is not JSON"),
        (b"\xef\xbb\xbf" + GOOD.encode(), "the body is not JSON"),
        (GOOD.encode("utf-16"), "the body is not JSON"),
        (GOOD.encode().replace(b"demo", b"\xc0\xaf"), "the body is not JSON"),
        (GOOD.replace('"uid":', '"uid":"x","uid":').encode(), 'the key "uid" stands twice in one object'),
        (GOOD.replace('"spec":', '"spec":{},"spec":').encode(), 'the key "spec" stands twice in one object'),
        (GOOD.replace('"spec":', '"\\u0073pec":{},"spec":').encode(), 'the key "spec" stands twice in one object'),
        (GOOD.replace('"spec":', '"a\\u003c":1,"a<":2,"spec":').encode(), 'the key "a<" stands twice in one object'),
        (GOOD.replace('/v1","kind":"Adm', '/v1beta1","kind":"Adm').encode(), "must be an admission.k8s.io/v1"),
        (GOOD.replace("AdmissionReview", "ConversionReview").encode(), "must be an admission.k8s.io/v1"),
        (body(uid=None), "`$.request.uid`"),
        (body(uid=""), "`$.request.uid`"),
        (body(uid=7), "`$.request.uid`"),
        (body(uid="x" * 1_000_000), "`$.request.uid`"),
        (body(uid="a\nb"), "request.uid must be printable"),
        (json.dumps(admission_review() | {"request": None}).encode(), "`$.request`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_admission_review_is_a_bad_request(server: Running, content: bytes, says: str) -> None:
    answer = await server.ask(post(content))
    assert answer.code == 400
    assert says in answer.body.decode()
    assert len(answer.body) < 300


@pytest.mark.parametrize(
    "request_, code",
    [
        (post(Content_Type=None), 415),
        (post(Content_Type="text/plain"), 415),
        (post(Content_Type="application/yaml"), 415),
        (post(Content_Type="application/vnd.kubernetes.protobuf"), 415),
        (post(Content_Type="application/json; charset=utf-16"), 415),
        (post(Content_Type="application/json; charset=utf-8"), 200),
        (post(Content_Type="application/json;charset=UTF-8"), 200),
        (post(Content_Type="application/json; charset=utf-8; charset=utf-16"), 415),
        (post(Content_Type="application/json; charset=utf-8; charset=utf-8"), 415),
        (post(Content_Type="application/json, text/plain"), 415),
        (post(Content_Encoding="gzip"), 415),
        (post(Content_Encoding="deflate"), 415),
        (post(Content_Encoding="br"), 415),
        (post(Content_Encoding="identity"), 200),
        (post(Expect="200-ok"), 417),
        (head("GET"), 405),
        (head("PUT", Content_Length=0), 405),
        (head("OPTIONS"), 405),
        (head("TRACE"), 405),
        (head("GET", "/"), 404),
        (head("GET", "/metrics"), 404),
        (head("GET", "/healthz"), 404),
        (post(path="/" + VALIDATE), 404),
        (post(path=VALIDATE + "/"), 404),
        (post(path="/x/.." + VALIDATE), 404),
        (post(path=VALIDATE.replace("-", "%2D")), 404),
        (post(path="/%2F" + VALIDATE[1:]), 404),
        (post(path=VALIDATE + "%2F"), 404),
        (post(path="http://x" + VALIDATE), 404),
        (post(path="/" + "x" * 4000), 404),
        (post(path="/" + "x" * 10_000), 400),
        (head("CONNECT", "example.com:443"), 404),
        (post(Transfer_Encoding="chunked"), 400),
        (head(Content_Length="1\r\nContent-Length: 2") + b"{}", 400),
        (head(Content_Length="-1"), 400),
        (head(Content_Length="1_0") + b"{}", 400),
        (head(X_Folded="a\r\n b", Content_Length=2) + b"{}", 400),
        (head(X_Long="x" * 9000), 400),
        (head(X="\r\n".join(["1", *("X: 1" for _ in range(200))])), 400),
        (head(Transfer_Encoding="chunked") + b"zz\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (post().replace(b"HTTP/1.1", b"HTTP/0.9"), 400),
        (post().replace(b"HTTP/1.1", b"HTTP/2.0"), 400),
        (post().replace(b"HTTP/1.1", b"HTTP/1.2"), 400),
        (post().replace(b"HTTP/1.1", b"HTTP/1.0"), 200),
    ],
    ids=lambda value: value.split(b"\r\n\r\n")[0][:120].decode("latin-1") if isinstance(value, bytes) else "",
)
async def test_each_request_has_its_code(server: Running, request_: bytes, code: int) -> None:
    answer = await server.ask(request_)
    assert answer.code == code
    assert code != 405 or answer.headers["allow"] == "POST"
    assert b"xxxx" not in answer.body
    assert await server.lives()


@pytest.mark.parametrize("request_", [post(), post(b"{"), head("GET", "/"), b"x\r\n\r\n"])
async def test_no_answer_names_the_server(server: Running, request_: bytes) -> None:
    assert "server" not in (await server.ask(request_)).headers


async def test_an_answer_in_http_1_0_ends_the_connection(server: Running) -> None:
    connection = await server.connect()
    answer = await connection.ask(post(Connection="keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert (answer.code, answer.headers["connection"], await connection.closed()) == (200, "close", True)


async def test_a_head_request_gets_no_body(server: Running) -> None:
    connection = await server.connect()
    await connection.send(head("HEAD"))
    assert (await connection.answer(without_body=True)).code == 405
    assert (await connection.ask(post())).code == 200


async def test_an_upgrade_is_not_made(server: Running) -> None:
    answer = await server.ask(post(Connection="Upgrade", Upgrade="h2c"))
    assert (answer.code, "upgrade" in answer.headers) == (200, False)


async def test_a_body_may_come_in_chunks(server: Running) -> None:
    content = body()
    answer = await server.ask(head(Transfer_Encoding="chunked") + chunked(content[:5], content[5:]))
    assert answer.response["allowed"]


async def test_a_client_that_waits_is_told_to_go_on(server: Running) -> None:
    connection = await server.connect()
    content = body()
    await connection.send(head(Content_Length=len(content), Expect="100-continue"))
    assert (await connection.answer()).code == 100
    assert (await connection.ask(content)).code == 200
    assert (await connection.ask(post())).code == 200


@pytest.mark.parametrize(
    "expected",
    ["", "timeout=", "timeout=0s", "timeout=-5s", "timeout=1e9", "timeout=NaNs", "timeout=1s&timeout=x", "%"],
)
async def test_no_timeout_fails_a_call(server: Running, expected: str) -> None:
    assert (await server.ask(post(path=f"{VALIDATE}?{expected}"))).code == 200


BIG = 2**64 + 1


@pytest.mark.parametrize(
    "document, expected",
    [
        (None, ["Invalid value: null: must be a Crew object"]),
        ([], ["Invalid value: []: must be a Crew object"]),
        (job([]), ["Invalid value: []: Input should be a valid dictionary or instance of Spec"]),
        (parts({"name": "a", "replicas": "3"}), ['Invalid value: "3": Input should be a valid integer']),
        (
            parts({"name": "a"}, maxParts=BIG),
            ["Invalid value: 1.8446744073709552e+19: Input should be a valid integer"],
        ),
        (parts({"name": "a", "replicas": 2**63}), []),
        (parts({"name": "a", "replicas": -0.0}), ["Invalid value: -0.0: Input should be a valid integer"]),
        (
            parts({"name": "a\nb\x1b[31m", "replicas": 0}),
            ["Invalid value: 0: Input should be greater than or equal to 1"],
        ),
        (parts({"name": "x" * 500_000}, {"name": "x" * 500_000}), [f'Duplicate value: "{"x" * 120}…"']),
        (job(metadata=None) | {"metadata": None}, []),
        (job() | {"metadata": {"labels": None, "generateName": "x-"}}, []),
    ],
    ids=[
        "null",
        "list",
        "spec",
        "type",
        "beyond 64 bits",
        "beyond 63 bits",
        "-0.0",
        "control",
        "long",
        "no metadata",
        "no name",
    ],
)
async def test_a_wrong_object_is_denied_with_its_place(server: Running, document: Any, expected: list[str]) -> None:
    content = json.dumps(admission_review(document)).encode()
    response = (await server.ask(post(content))).response
    causes = response.get("status", {"details": {"causes": []}})["details"]["causes"]
    assert [cause["message"] for cause in causes] == expected


@pytest.mark.parametrize(
    "request_",
    [
        {"operation": "DELETE", "document": None, "old": job()},
        {"operation": "DELETE", "document": None},
        {"operation": "CONNECT", "document": {"kind": "PodExecOptions"}},
        {"subResource": "status", "document": {"spec": 3}},
        {"subResource": "scale", "document": {"kind": "Scale"}},
        {"requestKind": {"group": "toys.example.com", "version": "v1alpha1", "kind": "Crew"}},
        {"name": "", "namespace": ""},
        {"kind": {"group": "", "version": "v1", "kind": "Pod"}, "document": {"spec": []}},
    ],
    ids=["delete", "delete of nothing", "connect", "status", "scale", "converted", "nameless", "another kind"],
)
async def test_what_the_rules_do_not_speak_of_is_allowed(server: Running, request_: dict[str, Any]) -> None:
    document = request_.pop("document", job())
    response = (await server.ask(post(json.dumps(admission_review(document, **request_)).encode(), MUTATE))).response
    assert response == {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True}


async def test_a_warning_arrives_though_the_job_holds_control_characters(server: Running) -> None:
    document = parts({"name": "a", "template": {"privileged": "\x1b\n"}})
    response = (await server.ask(post(body(document)))).response
    assert response["warnings"] == ["spec.parts[0].template.privileged: the operator drops this"]


@pytest.mark.parametrize(("path", "code"), [("/validate-example-com-v1-sweep", 500), ("/", 404), (VALIDATE, 200)])
async def test_a_kind_that_cannot_be_loaded_is_a_failure_of_ours(start: Start, path: str, code: int) -> None:
    server = await start(Registry([crew()], lacking=["sweeps:KIND cannot be loaded"]))
    answer = await server.ask(post(path=path))
    assert (answer.code, b"sweeps:KIND cannot be loaded" in answer.body) == (code, code == 500)
    assert (await server.probe("/readyz")).body == b"ok\nsweeps:KIND cannot be loaded\n"
