from jobgate.podchecks import placement
from tests.podchecks.verdict import Case, judged, pod

CASES: list[Case] = [
    ("no selector is fine", pod(), []),
    ("null is no selector", pod({"nodeSelector": None}), []),
    ("labels select nodes", pod({"nodeSelector": {"kubernetes.io/arch": "amd64", "gpu": ""}}), []),
    ("null as a value is the empty text", pod({"nodeSelector": {"a": None}}), []),
    (
        "a key is a label's",
        pod({"nodeSelector": {"a b": "x"}}),
        ['spec.nodeSelector: Invalid value: "a b": the name must consist of'],
    ),
    (
        "an empty key is none",
        pod({"nodeSelector": {"": "x"}}),
        ['spec.nodeSelector: Invalid value: "": the name must not be empty'],
    ),
    (
        "a prefix is a domain",
        pod({"nodeSelector": {"Example.com/a": "x"}}),
        ['spec.nodeSelector: Invalid value: "Example.com/a": the part before'],
    ),
    (
        "a value is a label's",
        pod({"nodeSelector": {"a": "-x"}}),
        ['spec.nodeSelector[a]: Invalid value: "-x": must be empty'],
    ),
    (
        "a value has at most 63 characters",
        pod({"nodeSelector": {"a": "x" * 64}}),
        ["spec.nodeSelector[a]: Invalid value: "],
    ),
    ("63 are not too many", pod({"nodeSelector": {"a": "x" * 63}}), []),
]


test_the_selector_of_nodes_is_of_labels = judged(placement.FAMILY.check, CASES)
