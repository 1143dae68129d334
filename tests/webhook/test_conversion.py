"""ConversionReview v1: objects between the versions of a kind."""

import copy
from typing import Any

import pytest

from tests.versions import BROKEN, CREW, GROUP, REST, crew, older
from tests.webhook.kind import KINDS as OTHERS
from webhook import Malformed, NotConvertible, OtherVersion, Registry
from webhook.conversion import Conversion, ConversionRequest, convert_objects
from webhook.version import convert

KINDS = Registry([CREW])


def review(*objects: Any, to: str = f"{GROUP}/v1", **changed: Any) -> dict[str, Any]:
    request = {"uid": "705ab4f5", "desiredAPIVersion": to, "objects": list(objects), **changed}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}


def converted(*objects: Any, to: str = f"{GROUP}/v1") -> Conversion:
    return convert_objects(ConversionRequest.parse(review(*objects, to=to)), KINDS)


def test_objects_of_a_list_are_converted_in_their_order() -> None:
    response = converted(older(name="a"), crew("workers", name="b"), older(name="c")).to_review()["response"]
    assert response["uid"] == "705ab4f5"
    assert response["result"] == {"status": "Success"}
    assert response["convertedObjects"] == [crew("workers", name=name) for name in "abc"]


@pytest.mark.parametrize("document", [crew("workers"), crew("workers", "evaluator"), older()])
def test_a_round_trip_changes_nothing(document: dict[str, Any]) -> None:
    written = copy.deepcopy(document)
    there, back = ("v1alpha1", "v1") if document["apiVersion"].endswith("/v1") else ("v1", "v1alpha1")
    again = CREW.convert(CREW.convert(document, there), back)
    again["metadata"] = {key: value for key, value in again["metadata"].items() if value}
    assert again == written
    assert document == written


def test_only_labels_and_annotations_of_the_metadata_can_change() -> None:
    metadata = {"name": "demo", "uid": "1", "finalizers": ["a.example.com/b"], "labels": {"kept": "no"}}

    def change(document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "kind": "Other", "metadata": {"name": "other", "labels": {"a": "b"}, "annotations": {}}}

    versions = {"v1alpha1": OtherVersion(change, lambda document: {"spec": document["spec"]})}
    up = convert({**older(), "metadata": metadata}, versions, "v1", "v1")
    assert (up["apiVersion"], up["kind"]) == (f"{GROUP}/v1", "Crew")
    assert up["metadata"] == {**metadata, "labels": {"a": "b"}, "annotations": {}}
    # A function that returns no metadata keeps it.
    assert convert({**crew("workers"), "metadata": metadata}, versions, "v1", "v1alpha1")["metadata"] == metadata


def test_the_rest_of_a_job_survives_an_update_in_the_older_version() -> None:
    document = CREW.convert(crew("workers", "evaluator"), "v1alpha1")
    document["spec"]["workers"] = 5
    tasks = CREW.convert(document, "v1")["spec"]["tasks"]
    assert [(task["name"], task["replicas"]) for task in tasks] == [("workers", 5), ("evaluator", 2)]
    assert REST in document["metadata"]["annotations"]


def test_all_objects_that_cannot_be_converted_are_named() -> None:
    objects = [
        {**crew("chief"), "metadata": {"namespace": "team", "name": "a"}},
        crew("workers"),
        {**crew("workers", name="c"), "kind": "Other"},
        {**crew("workers", name="d"), "apiVersion": "other.example.com/v1"},
        {**crew("workers", name="e"), "apiVersion": f"{GROUP}/v9"},
        {**crew("chief"), "metadata": []},
    ]
    response = converted(*objects, to=f"{GROUP}/v1alpha1").to_review()["response"]
    assert "convertedObjects" not in response
    assert response["result"] == {
        "status": "Failure",
        "message": "Crew team/a: spec.tasks[0].name: v1alpha1 has only workers, not chief; "
        f"Other c: it is not of a kind with several versions; those of {GROUP} are Crew; "
        f"Crew d: its apiVersion is not of {GROUP}; "
        "Crew e: version v9 is unknown; known versions: v1, v1alpha1; "
        "Crew without a name: metadata: Invalid value: []: must be an object; spec.tasks[0].name: v1alpha1 has only workers, not chief",
    }


def test_an_error_of_a_function_hides_neither_its_object_nor_the_others() -> None:
    response = converted(older(name=BROKEN), older(), {**older(), "spec": None})
    assert [type(error) for error in response.errors] == [KeyError]
    message = response.to_review()["response"]["result"]["message"]
    assert message.startswith(f"Crew {BROKEN}: its conversion failed; the log of the webhook says why; Crew demo: ")
    assert message.endswith(": spec: Required value: must be set")
    assert "secret" not in message


def test_a_message_names_at_most_ten_objects() -> None:
    response = converted(*(crew("chief", name=f"{index}") for index in range(400)), to=f"{GROUP}/v1alpha1")
    message = response.to_review()["response"]["result"]["message"]
    assert "Crew 9:" in message
    assert message.endswith("; and 390 more objects")


def test_a_conversion_ends_with_the_time_of_its_caller() -> None:
    spent = iter([False, True])
    request = ConversionRequest.parse(review(older(), older(), older()))
    response = convert_objects(request, KINDS, spent=lambda: next(spent))
    assert response.faults == ["it takes too long to convert 3 objects: request fewer at once"]


def test_a_group_without_versions_says_so() -> None:
    request = ConversionRequest.parse(review(older()))
    (fault,) = convert_objects(request, OTHERS).faults
    assert fault == f"Crew demo: it is not of a kind with several versions; {GROUP} has none"


def test_an_unknown_version_is_an_error_of_the_caller() -> None:
    with pytest.raises(NotConvertible, match="version v2 is unknown; known versions: v1, v1alpha1"):
        CREW.convert(crew("workers"), "v2")


@pytest.mark.parametrize(
    "body, says",
    [
        ([], "must be an apiextensions.k8s.io/v1 ConversionReview"),
        ({**review(), "apiVersion": "apiextensions.k8s.io/v1beta1"}, "must be an apiextensions.k8s.io/v1"),
        ({**review(), "kind": "AdmissionReview"}, "ConversionReview"),
        (review(uid=""), "uid"),
        (review(uid="a\nb"), "request.uid must be printable"),
        (review(objects=None), "objects"),
        (review(7), "objects"),
        (review(desiredAPIVersion=3), "desiredAPIVersion"),
    ],
)
def test_what_is_no_conversion_review_is_an_error_of_the_caller(body: Any, says: str) -> None:
    with pytest.raises(Malformed) as error:
        ConversionRequest.parse(body)
    assert says in str(error.value)
