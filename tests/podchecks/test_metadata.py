from typing import Any

from jobgate.podchecks import metadata
from tests.podchecks.verdict import Case, findings, judged, pod


def annotated(annotations: dict[str, Any], spec: dict[str, Any] | None = None) -> dict[str, Any]:
    return pod(spec, annotations=annotations)


NAMES: list[Case] = [
    ("a name is a domain", pod(name="a.b"), []),
    ("of lower case", pod(name="A"), ['metadata.name: Invalid value: "A"']),
    ("generateName begins one", pod(name=None, generateName="worker-"), []),
    ("it may be longer than what is kept", pod(name=None, generateName="a" * 100), []),
    (
        "it does not begin with a dash",
        pod(name=None, generateName="-a"),
        ['metadata.generateName: Invalid value: "-a"'],
    ),
    ("a dot may not end it", pod(name=None, generateName="a."), ['metadata.generateName: Invalid value: "a."']),
    ("labels are labels", pod(labels={"app": "a", "example.com/b": ""}), []),
    (
        "in key and value",
        pod(labels={"a b": "c", "d": "e f"}),
        ['metadata.labels: Invalid value: "a b"', 'metadata.labels[d]: Invalid value: "e f"'],
    ),
    ("finalizers have qualified names", pod(finalizers=["example.com/wait", "orphan"]), []),
    ("all of them", pod(finalizers=["a b"]), ['metadata.finalizers[0]: Invalid value: "a b"']),
]

ANNOTATIONS: list[Case] = [
    ("an annotation may be any text", annotated({"a": "any text\n", "Example.com/B": ""}), []),
    ("its key is a name", annotated({"a b": ""}), ['metadata.annotations: Invalid value: "a b"']),
    ("with one slash", annotated({"a/b/c": ""}), ['metadata.annotations: Invalid value: "a/b/c"']),
    ("256 KiB are the most", annotated({"a": "x" * (256 * 1024 - 1)}), []),
    (
        "and no byte more",
        annotated({"a": "x" * (256 * 1024 - 2) + "é"}),
        ['metadata.annotations: Too long: "262145 bytes": may not be more than 262144 bytes'],
    ),
]

CASES = NAMES + ANNOTATIONS


test_pods_have_names_that_can_be = judged(metadata.FAMILY.check, NAMES)
test_annotations_are_small_and_those_of_kubernetes_are_sound = judged(metadata.FAMILY.check, ANNOTATIONS)


def test_a_namespace_is_a_label() -> None:
    assert findings(metadata.FAMILY.check, pod(namespace="a.b"))[0].startswith(
        'metadata.namespace: Invalid value: "a.b"'
    )


def test_no_message_shows_what_an_annotation_says() -> None:
    secret = "tell-nobody"
    keys = ("a b", "c d")
    result = findings(metadata.FAMILY.check, annotated(dict.fromkeys(keys, secret)))
    assert len(result) == len(keys)
    assert not [says for says in result if secret in says]
