"""AdmissionReview: reading requests, and writing responses."""

import base64
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from tests.webhook.kind import admission_review, job
from tests.webhook.values import json_values
from webhook import Cause, Invalid, Malformed, Notice, Operation, Request, Required, Response, User
from webhook.admission import CAUSES_BYTES, CAUSES_LIMIT, MESSAGE_BYTES, NAME_LIMIT, UID_LIMIT, WARNINGS_LIMIT
from webhook.text import MESSAGE_LIMIT


def test_a_request_is_read_whole() -> None:
    document, old = job(), job(labels={"a": "b"})
    assert Request.parse(admission_review(document, old, dryRun=True, subResource="status")) == Request(
        uid="705ab4f5-6393-11e8-b7cc-42010a800002",
        api_version="toys.example.com/v1",
        kind="Crew",
        operation=Operation.UPDATE,
        name="demo",
        namespace="default",
        subresource="status",
        user=User("jane", ("system:authenticated",)),
        document=document,
        old_document=old,
        dry_run=True,
    )


def test_null_counts_as_absent() -> None:
    absent: dict[str, Any] = dict.fromkeys(("name", "namespace", "userInfo", "subResource", "dryRun"))
    request = Request.parse(admission_review(job(), **absent))
    assert (request.name, request.namespace, request.user, request.subresource) == ("", "", User(), "")
    assert request.dry_run is False
    kind = {"group": None, "version": "v1", "kind": "Pod"}
    request = Request.parse(admission_review(job(), kind=kind, userInfo={"username": None, "groups": None}))
    assert (request.api_version, request.user) == ("v1", User())


def test_a_kind_of_the_core_group_has_its_version_alone() -> None:
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    assert Request.parse(admission_review(job(), kind=kind)).api_version == "v1"


GOOD = admission_review(job())


@pytest.mark.parametrize(
    "review, says",
    [
        ([], "must be an admission.k8s.io/v1 AdmissionReview: Expected `object`, got `array`"),
        (None, "Expected `object`, got `null`"),
        ("AdmissionReview", "Expected `object`, got `str`"),
        ({}, "missing required field `apiVersion`"),
        (GOOD | {"apiVersion": "admission.k8s.io/v1beta1"}, "'admission.k8s.io/v1beta1' - at `$.apiVersion`"),
        (GOOD | {"kind": "ConversionReview"}, "'ConversionReview' - at `$.kind`"),
        (GOOD | {"kind": {"a": 1}}, "Expected `str`, got `object` - at `$.kind`"),
        (GOOD | {"kind": "x" * 10_000}, "…"),
        (GOOD | {"request": None}, "`$.request`"),
        (GOOD | {"request": []}, "`$.request`"),
        (admission_review(job(), uid=None), "`$.request.uid`"),
        (admission_review(job(), uid=""), "`$.request.uid`"),
        (admission_review(job(), uid=7), "`$.request.uid`"),
        (admission_review(job(), uid="a\nb"), "request.uid must be printable"),
        (admission_review(job(), uid="u" * (UID_LIMIT + 1)), "length <= 128 - at `$.request.uid`"),
        (admission_review(job(), kind=[]), "`$.request.kind`"),
        (admission_review(job(), kind={"group": 1}), "`$.request.kind"),
        (admission_review(job(), name=1), "`$.request.name`"),
        (admission_review(job(), userInfo=[]), "`$.request.userInfo`"),
        (admission_review(job(), userInfo={"groups": [1]}), "`$.request.userInfo.groups[0]`"),
        (admission_review(job(), operation="PATCH"), "'PATCH' - at `$.request.operation`"),
    ],
)
def test_a_broken_envelope_is_named(review: Any, says: str) -> None:
    with pytest.raises(Malformed) as error:
        Request.parse(review)
    assert says in str(error.value)
    assert len(str(error.value)) <= MESSAGE_LIMIT


@settings(max_examples=60)
@given(json_values)
def test_any_json_is_a_request_or_malformed(value: Any) -> None:
    for review in (
        value,
        GOOD | {"request": value},
        *({**GOOD, "request": {**GOOD["request"], key: value}} for key in GOOD["request"]),
    ):
        try:
            Request.parse(review)
        except Malformed:
            continue


SUBJECT = ("Crew", "toys.example.com", "demo")


def test_the_text_of_a_denial_with_one_fault() -> None:
    response = Response("u", subject=SUBJECT).reporting(Required("spec.parts", "at least one"))
    assert response.to_review() == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": "u",
            "allowed": False,
            "status": {
                "status": "Failure",
                "code": 422,
                "reason": "Invalid",
                "message": 'Crew.toys.example.com "demo" is invalid: spec.parts: Required value: at least one',
                "details": {
                    "name": "demo",
                    "group": "toys.example.com",
                    "kind": "Crew",
                    "causes": [
                        {
                            "reason": "FieldValueRequired",
                            "message": "Required value: at least one",
                            "field": "spec.parts",
                        }
                    ],
                },
            },
        },
    }


def test_a_denial_of_several_faults_lists_them_in_brackets() -> None:
    response = Response("u", subject=("Pod", "", "p")).reporting(Required("a"), Invalid("b", 0, "must be at least 1"))
    status = response.status()
    assert status["message"] == 'Pod "p" is invalid: [a: Required value, b: Invalid value: 0: must be at least 1]'
    assert [cause["field"] for cause in status["details"]["causes"]] == ["a", "b"]


def test_a_name_in_a_message_is_quoted_and_escaped() -> None:
    message = Response("u", subject=("Crew", "g", 'a"\n')).reporting(Cause("", "x")).status()["message"]
    assert message == 'Crew.g "a\\"\\n" is invalid: x'


@pytest.mark.parametrize("text", ["x" * 40, "\\" * 900, "🙂" * 1000, '"' * 5000], ids=["short", "\\", "wide", "quotes"])
def test_causes_beyond_the_limit_are_counted_in_the_list_and_in_the_message(text: str) -> None:
    status = Response("u").reporting(*(Required(f"a[{i}]", text) for i in range(1000))).status()
    *listed, last = status["details"]["causes"]
    assert last == {"reason": "FieldValueInvalid", "message": f"and {1000 - len(listed)} more causes", "field": ""}
    assert [cause["field"] for cause in listed] == [f"a[{i}]" for i in range(len(listed))]
    assert (
        len(listed) == CAUSES_LIMIT
        or 0.8 * CAUSES_BYTES < len(json.dumps(status["details"], ensure_ascii=False).encode()) < CAUSES_BYTES + 2048
    )
    assert status["message"].endswith(" more causes]")
    assert len(json.dumps(status["message"], ensure_ascii=False).encode()) < MESSAGE_BYTES + 2048


def test_a_name_that_no_object_has_is_cut_and_escaped_in_the_status() -> None:
    subject = ("Crew", "g", "a\x1b\ud800\u202e" + "b" * 10_000)
    status = Response("u", subject=subject).reporting(Cause("", "x")).status()
    assert status["details"]["name"].startswith("a\\u001b\\ud800\\u202ebbb")
    assert len(status["details"]["name"]) == NAME_LIMIT
    assert len(orjson.dumps(status)) < 5 * NAME_LIMIT


def test_the_message_of_a_request_to_retry_is_limited_too() -> None:
    status = Response("u", later="no job is called " + "x\n" * 10_000).status()
    assert status["message"].isprintable()
    assert len(status["message"]) <= 1024


def test_a_patch_goes_out_in_base64_with_its_type() -> None:
    patch = [{"op": "add", "path": "/a", "value": "é<"}]
    response = Response("u", patch=patch).to_review()["response"]
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"])) == patch


@pytest.mark.parametrize(
    "response",
    [Response("u"), Response("u", patch=[{"op": "add", "path": "/a", "value": 1}]).reporting(Required("a"))],
    ids=["nothing to change", "a denial"],
)
def test_without_a_patch_there_is_no_patch_type(response: Response) -> None:
    assert not {"patch", "patchType"} & response.to_review()["response"].keys()


@pytest.mark.parametrize(
    "notices, warnings",
    [
        ([], []),
        ([Notice("a", "b"), Notice("a", "b")], ["a: b"]),
        ([Notice("a", "x\ny\x00z\x1b")], ["a: x\\ny\\u0000z\\u001b"]),
        ([Notice("", "whole")], ["whole"]),
    ],
    ids=["none", "each once", "control characters", "no path"],
)
def test_warnings_are_lines_that_the_api_server_does_not_drop(notices: list[Notice], warnings: list[str]) -> None:
    assert Response("u").reporting(*notices).warnings == warnings


@pytest.mark.parametrize("length", [10, 200, 3000, 5000])
def test_warnings_stay_within_the_limit_and_a_line_counts_the_others(length: int) -> None:
    response = Response("u").reporting(*(Notice(f"a[{i}]", "x" * length) for i in range(600)))
    for hint, end in (("", "more warnings"), ("`tool` shows them", "more warnings: `tool` shows them")):
        warnings = response.to_review(hint)["response"]["warnings"]
        assert sum(map(len, warnings)) <= WARNINGS_LIMIT
        assert warnings[-1] == f"and {600 - len(warnings) + 1} {end}"


def test_a_denial_carries_its_warnings_too() -> None:
    response = Response("u").reporting(Required("a"), Notice("b", "c")).to_review()["response"]
    assert response["warnings"] == ["b: c"]
