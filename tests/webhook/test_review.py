"""The review: the answers of both phases, for any object."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webhook.kind import KINDS, RULES, admission_review, crew, job, parts
from tests.webhook.values import documents, json_values
from webhook import (
    Cause,
    Context,
    Invalid,
    Kind,
    Notice,
    Object,
    Operation,
    Phase,
    Registry,
    Request,
    Response,
    Rule,
    Settings,
    review,
    rule,
)
from webhook.values import same


def answer(phase: Phase, document: Any, old: Any = None, kinds: Registry[Any] = KINDS, **request: Any) -> Response:
    return review(Request.parse(admission_review(document, old, **request)), phase, kinds, Settings())


def validate(document: Any, old: Any = None, kinds: Registry[Any] = KINDS, **request: Any) -> Response:
    return answer(Phase.VALIDATE, document, old, kinds, **request)


def mutate(document: Any, old: Any = None, kinds: Registry[Any] = KINDS, **request: Any) -> Response:
    return answer(Phase.MUTATE, document, old, kinds, **request)


def texts(findings: Any) -> list[str]:
    return [str(finding) for finding in findings]


A = {"name": "a", "role": "none", "replicas": 1}
B = {"name": "b", "role": "none", "replicas": 1}


# What is passed through


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    "document, request_",
    [
        (job([]), {"kind": {"group": "", "version": "v1", "kind": "Pod"}}),
        (job([]), {"kind": {"group": "toys.example.com", "version": "v2", "kind": "Crew"}}),
        (job([]), {"subResource": "status"}),
        ({"kind": "Scale", "spec": {"replicas": "x"}}, {"subResource": "scale"}),
        (None, {"operation": "DELETE"}),
        (job([]), {"operation": "DELETE", "old": None}),
        ({"kind": "PodExecOptions"}, {"operation": "CONNECT"}),
    ],
    ids=["another kind", "another version", "status", "scale", "delete", "delete with an object", "connect"],
)
def test_objects_that_are_not_reviewed_are_allowed_untouched(
    phase: Phase, document: Any, request_: dict[str, Any]
) -> None:
    assert answer(phase, document, **request_) == Response("705ab4f5-6393-11e8-b7cc-42010a800002")


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("spec", [{"parts": "broken"}, None, [], "x"])
def test_a_write_that_leaves_the_spec_is_never_rejected(phase: Phase, spec: Any) -> None:
    stored = {**job(finalizers=["x"]), "spec": spec}
    written = {**job(labels={"a": "b"}), "spec": spec}
    assert answer(phase, written, stored).allowed


def test_an_update_whose_keys_are_no_text_is_reviewed() -> None:
    spec = {"size": 1, True: "the key `on` as YAML 1.1 reads it"}
    assert validate(job() | {"spec": spec}, job() | {"spec": dict(spec)}).allowed


def test_a_spec_that_was_written_otherwise_is_not_the_same() -> None:
    assert not validate(parts(A | {"replicas": True}), parts(A)).allowed


# The patch


def test_mutating_answers_with_the_defaults_alone() -> None:
    response = mutate(parts({"role": "lead"}))
    assert response.patch == [
        {"op": "add", "path": "/spec/parts/0/name", "value": "lead"},
        {"op": "add", "path": "/spec/parts/0/replicas", "value": 1},
    ]
    assert response.allowed


def test_mutating_leaves_faults_of_rules_to_validating() -> None:
    assert mutate(parts(A, A)).allowed
    assert not validate(parts(A, A)).allowed


def test_mutating_reports_rules_and_schema_together_if_validating_would_never_be_called() -> None:
    response = mutate(parts(A, A, maxParts="3"))
    assert texts(response.causes) == [
        'spec.maxParts: Invalid value: "3": Input should be a valid integer',
        'spec.parts[1].name: Duplicate value: "a"',
    ]
    assert not response.patch


def test_mutating_leaves_a_job_alone_that_is_being_deleted() -> None:
    assert mutate(job({"parts": 1}, deletionTimestamp="2026-01-01T00:00:00Z")) == Response(
        "705ab4f5-6393-11e8-b7cc-42010a800002", subject=("Crew", "toys.example.com", "demo")
    )


# The faults


@pytest.mark.parametrize(
    "document, causes",
    [
        (job(), []),
        (parts(A, A), ['spec.parts[1].name: Duplicate value: "a"']),
        (parts({}), ["spec.parts[0].name: Required value: a part without a role needs a name"]),
        (
            parts(A | {"replicas": 3}, bounds={"most": 2}),
            ["spec.bounds.most: Invalid value: 2: must be at least 3, the sum of all replicas"],
        ),
        (
            parts(A, A, {}, bounds={"most": 2}, maxParts=1),
            [
                'spec.parts[1].name: Duplicate value: "a"',
                "spec.parts[2].name: Required value: a part without a role needs a name",
                "spec.bounds.most: Invalid value: 2: must be at least 3, the sum of all replicas",
                "spec.parts: Invalid value: 3: must be at most 1",
            ],
        ),
        ([], ["Invalid value: []: must be a Crew object"]),
        (None, ["Invalid value: null: must be a Crew object"]),
        ({"kind": "Crew"}, ["spec: Required value"]),
    ],
    ids=["a good job", "two of a name", "nameless", "above the bounds", "all at once", "a list", "null", "no spec"],
)
def test_validating_answers_with_every_fault_and_never_a_patch(document: Any, causes: list[str]) -> None:
    response = validate(document)
    assert texts(response.causes) == causes
    assert not response.patch


@pytest.mark.parametrize("document", [parts(A, A), parts(A, A, maxParts="3")], ids=["a rule's", "the schema's too"])
def test_an_installation_that_only_warns_denies_nothing_and_reports_each_fault_once(document: Any) -> None:
    def lenient(phase: Phase) -> Response:
        return review(Request.parse(admission_review(document)), phase, KINDS, Settings(enforces=False))

    refused = validate(document)
    warned = lenient(Phase.VALIDATE)
    assert warned.allowed
    assert texts(warned.notices) == [
        f"{cause.path}: {cause.message} (would be denied; warn mode)" for cause in refused.causes
    ]
    first = lenient(Phase.MUTATE)
    assert first.allowed
    assert not first.notices
    # What could not pass the schema is left as it is; what can, has its defaults.
    assert first.patch == mutate(document).patch


def test_what_is_legal_and_ignored_is_a_warning() -> None:
    response = validate(parts(A | {"template": {"privileged": True}}))
    assert response.allowed
    assert response.warnings == ["spec.parts[0].template.privileged: the operator drops this"]


@pytest.mark.parametrize(
    "request_name, metadata, name",
    [("demo", {}, "demo"), ("", {"name": "x"}, "x"), ("", {"name": None, "generateName": "x-"}, "x-"), ("", 7, "")],
)
def test_a_denial_names_the_job(request_name: str, metadata: Any, name: str) -> None:
    document = job({"parts": []}) | {"metadata": metadata}
    assert validate(document, name=request_name).subject == ("Crew", "toys.example.com", name)


# Partial views


@pytest.mark.parametrize(
    "document, causes",
    [
        # The sum of replicas cannot be known; that names repeat can.
        (
            parts(A | {"replicas": "1"}, A, bounds={"most": 1}),
            [
                'spec.parts[0].replicas: Invalid value: "1": Input should be a valid integer',
                'spec.parts[1].name: Duplicate value: "a"',
            ],
        ),
        # The role is broken: nobody knows whether it needed a name.
        (
            parts({"role": "captain"}),
            ["spec.parts[0].role: Invalid value: \"captain\": Input should be 'lead' or 'none'"],
        ),
        # A part whose name is broken hides no other's from a rule that reads names one by one.
        (
            parts(A, A, {"name": 3, "role": "lead"}, A),
            [
                "spec.parts[2].name: Invalid value: 3: Input should be a valid string",
                'spec.parts[1].name: Duplicate value: "a"',
                'spec.parts[3].name: Duplicate value: "a"',
            ],
        ),
        # Bounds that are no object are not the default bounds.
        (
            parts(A | {"replicas": 100}, {}, bounds=3),
            [
                "spec.bounds: Invalid value: 3: Input should be a valid dictionary or instance of Bounds",
                "spec.parts[1].name: Required value: a part without a role needs a name",
            ],
        ),
        # What no model looks into is hidden from rules where it is broken.
        (
            parts(A | {"template": {"image": 3, "privileged": 1}}, A),
            [
                "spec.parts[0].template.image: Invalid value: 3: must be a string",
                'spec.parts[1].name: Duplicate value: "a"',
            ],
        ),
    ],
    ids=["replicas", "role", "name", "bounds", "template"],
)
def test_a_broken_field_ends_only_the_rules_that_read_it(document: Any, causes: list[str]) -> None:
    assert texts(validate(document).causes) == causes


def with_rules(*rules: Callable[[Object[Any], Context[Settings]], Any]) -> Registry[Any]:
    return Registry([crew(rules=tuple(check if isinstance(check, Rule) else rule()(check) for check in rules))])


def misspells(crew: Object[Any], context: Context[Settings]) -> Iterator[Cause]:
    yield Invalid("spec", None, crew.spec.prats)


def exits(crew: Object[Any], context: Context[Settings]) -> Iterator[Cause]:
    raise SystemExit(3)


@pytest.mark.parametrize("document", [job(), parts(A, maxParts="x")], ids=["whole", "partial"])
def test_a_mistake_in_a_rule_is_not_taken_for_a_broken_job(document: Any) -> None:
    with pytest.raises(AttributeError, match="prats"):
        validate(document, kinds=with_rules(misspells))


# The ratchet


STORED = parts(A, A)
BEFORE = "(already stored; not enforced)"


@pytest.mark.parametrize(
    "old, new, causes, warnings",
    [
        (STORED, parts(A, A, B), [], [f'spec.parts[1].name: Duplicate value: "a" {BEFORE}']),
        (STORED, parts(B, A, A), [], [f'spec.parts[2].name: Duplicate value: "a" {BEFORE}']),
        (
            STORED,
            parts(A, A, A),
            ['spec.parts[2].name: Duplicate value: "a"'],
            [f'spec.parts[1].name: Duplicate value: "a" {BEFORE}'],
        ),
        (
            STORED,
            parts(A, A, B, B),
            ['spec.parts[3].name: Duplicate value: "b"'],
            [f'spec.parts[1].name: Duplicate value: "a" {BEFORE}'],
        ),
        (parts(A, B), parts(A, A), ['spec.parts[1].name: Duplicate value: "a"'], []),
        (
            parts(A | {"replicas": 9}, bounds={"most": 2}),
            parts(A | {"replicas": 9}, bounds={"most": 3}),
            ["spec.bounds.most: Invalid value: 3: must be at least 9, the sum of all replicas"],
            [],
        ),
        (
            parts(A | {"replicas": "x"}),
            parts(A | {"replicas": "x"}, B),
            [],
            [f'spec.parts[0].replicas: Invalid value: "x": Input should be a valid integer {BEFORE}'],
        ),
        (
            parts(A | {"replicas": "x"}),
            parts(A | {"replicas": "y"}),
            ['spec.parts[0].replicas: Invalid value: "y": Input should be a valid integer'],
            [],
        ),
        (
            parts({"name": "x", "template": {"image": "i"}}, B),
            parts(B, {"name": "x", "template": {"image": "i"}}),
            [],
            [f'spec.parts[1].template.image: Invalid value: "i": must have a tag {BEFORE}'],
        ),
        (job("broken"), parts(A, A), ['spec.parts[1].name: Duplicate value: "a"'], []),
        (7, parts(A, A), ['spec.parts[1].name: Duplicate value: "a"'], []),
    ],
    ids=[
        "another part is added",
        "the parts move",
        "the same fault once more",
        "another fault beside it",
        "a new fault",
        "changed and still wrong",
        "a schema fault stays",
        "a schema fault changes",
        "a fault in a part that moved",
        "the old spec was broken",
        "the old object is none",
    ],
)
def test_an_update_is_rejected_only_for_what_it_makes_wrong(
    old: Any, new: Any, causes: list[str], warnings: list[str]
) -> None:
    response = validate(new, old)
    assert texts(response.causes) == causes
    assert response.warnings == warnings


def test_mutating_leaves_an_object_alone_whose_schema_fault_was_stored_before() -> None:
    """The API server forgives the old fault only where nothing around it is changed, and a default is a change."""
    response = mutate(parts({"name": "a", "replicas": "x"}, {"name": "b"}), parts({"name": "a", "replicas": "x"}))
    assert response.allowed
    assert not response.patch


def test_the_old_object_is_defaulted_first() -> None:
    old, new = parts({"name": "a"}, {"name": "a"}), parts(A, A, B)
    assert validate(new, old).allowed


# Anything


def test_a_default_does_not_see_the_old_object_in_either_call() -> None:
    seen: list[Any] = []
    kinds = Registry([crew(defaults=(lambda _, context: seen.append(context.old),))])
    for phase in Phase:
        answer(phase, parts(A, B), parts(A), kinds)
    assert seen
    assert not any(seen)


def assert_valid(response: Response, phase: Phase) -> None:
    """What the API server demands of a response (admission.k8s.io/v1)."""
    body = json.loads(json.dumps(response.to_review()))
    assert (body["apiVersion"], body["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    inner = body["response"]
    assert inner["uid"] == "705ab4f5-6393-11e8-b7cc-42010a800002"
    assert isinstance(inner["allowed"], bool)
    assert ("patch" in inner) == ("patchType" in inner)
    assert phase is Phase.MUTATE or "patch" not in inner
    assert inner["allowed"] or (inner["status"]["code"] == 422 and inner["status"]["details"]["causes"])
    assert all(line.isprintable() for line in inner.get("warnings", []))


@settings(max_examples=60)
@given(documents, documents | st.none(), st.sampled_from(Phase), st.sampled_from(Operation))
def test_any_object_gets_a_valid_response(document: Any, old: Any, phase: Phase, operation: Operation) -> None:
    assert_valid(answer(phase, document, old, operation=operation), phase)


@settings(max_examples=60)
@given(documents)
def test_an_update_that_changes_nothing_of_a_stored_job_but_its_labels_passes(stored: Any) -> None:
    if isinstance(stored, dict):
        written = stored | {"metadata": {"labels": {"a": "b"}}}
        assert validate(written, stored).allowed
        assert mutate(written, stored).allowed


@settings(max_examples=60)
@given(json_values, json_values)
def test_sameness_is_that_of_the_json_text(value: Any, other: Any) -> None:
    assert same(value, json.loads(json.dumps(value)))
    texts_equal = json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert not texts_equal or same(value, other)


@pytest.mark.parametrize("value, other", [(1, 1.0), (1, True), (0, False), ([], {}), ({"a": None}, {}), ([1], [1, 1])])
def test_values_that_python_mixes_up_are_not_the_same(value: Any, other: Any) -> None:
    assert not same(value, other)
    assert not same([value], [other])


# Time


def busy(count: int, **change: Any) -> dict[str, Any]:
    return parts(*({"name": f"n{i % 7}", "role": "none", "replicas": 1} | change for i in range(count)))


@pytest.mark.parametrize(
    "change",
    [{}, {"replicas": "x"}, {"template": {"image": 3}}],
    ids=["of rules", "of the schema", "hidden from rules"],
)
def test_faults_that_were_stored_before_are_reported_in_linear_time(change: dict[str, Any]) -> None:
    def seconds(count: int) -> float:
        new, old = busy(count, **change), busy(count - 1, **change)
        started = time.process_time()
        validate(new, old)
        return time.process_time() - started

    few = min(seconds(150) for _ in range(3))
    assert min(seconds(1500) for _ in range(2)) < 60 * few  # ten times as many; quadratic, it is a hundred


def test_a_kind_is_found_by_group_version_and_kind() -> None:
    assert KINDS.get("toys.example.com/v1", "Crew") is not None
    assert KINDS.get("toys.example.com/v2", "Crew") is None
    assert KINDS.get("v1", "Crew") is None
    assert len(KINDS) == 1


@pytest.mark.parametrize("other", [{"plural": "others"}, {"kind": "Other"}], ids=["the kind", "the plural"])
def test_two_kinds_cannot_have_the_same_name(other: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"two kinds claim one name: toys.example.com/v1 Crew .* and "):
        Registry([crew(), crew(**other)])


def test_the_paths_of_a_kind_follow_from_its_names() -> None:
    kind: Kind = crew()
    assert [kind.path(phase) for phase in Phase] == [
        "/mutate-toys-example-com-v1-crew",
        "/validate-toys-example-com-v1-crew",
    ]
    assert kind.qualified_plural == "crews.toys.example.com"


def finds_nothing(crew: Object[Any], context: Context[Settings]) -> Iterator[Cause]:
    return iter(())


def has_a_word(crew: Object[Any], context: Context[Settings]) -> Iterator[Notice]:
    yield Notice("", "x")


def test_rules_that_find_nothing_say_nothing() -> None:
    assert validate(job(), kinds=with_rules(*RULES, finds_nothing)).allowed
    assert validate(job(), kinds=with_rules(has_a_word)).warnings == ["x"]


@pytest.mark.parametrize("phase", Phase)
def test_time_that_is_over_between_defaults_is_a_denial(phase: Phase) -> None:
    set_by: list[str] = []
    kinds = Registry([crew(defaults=(lambda *_: set_by.append("first"), lambda *_: set_by.append("second")))])
    response = review(Request.parse(admission_review(job())), phase, kinds, Settings(), spent=lambda: bool(set_by))
    assert set_by == ["first"]
    assert (response.allowed, [rule for rule, _ in response.findings], list(response.patch)) == (False, ["time"], [])
