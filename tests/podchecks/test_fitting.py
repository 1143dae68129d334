"""Fast acceptance is one-sided: what it accepts, the evaluator accepts; and it accepts what people write."""

import json
import random
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct
from pydantic import Field

from crdgen import CustomResource, Model, Names, Version
from crdgen.evaluate import Evaluator
from crdgen.quantities import QUANTITY_SCHEMA
from jobgate.installation.handbook import title
from jobgate.jobs.context import Context
from jobgate.jobs.kind import JobKind
from jobgate.jobs.metadata import ENOUGH, OrdinaryMetadata, metadata_causes
from jobgate.jobs.schema import StructuralSchema
from jobgate.kinds import built_in, installed
from jobgate.podchecks.durations import DURATION
from jobgate.podchecks.fitting import Predicate, surely, surely_fits
from tests.corpus import GOOD, jobs, name_of
from tests.differential.objects.madeup import made
from tests.differential.objects.mistakes import near, places
from tests.differential.objects.schemas import MADE_UP, Named, at_edges, generated, with_rules
from tests.differential.objects.values import JSON
from webhook.review import defaulted as defaulted_job

KINDS = installed()


class Port(Struct, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=1, le=65535)]
    protocol: Literal["TCP", "UDP"] = "TCP"
    name: Annotated[str, Meta(max_length=15, pattern=r"\A[a-z]+\Z")] = "a"
    version: Literal[4, 6] = 4
    inner: "Port | None" = None


#: Deeper than any stack: from Python 3.14 on the stack's size limits recursion in C, not a count.
DEEP: dict[str, Any] = {"number": 1}
for _ in range(100_000):
    DEEP = {"number": 1, "inner": DEEP}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"number": 80}, True),
        ({"number": 80, "protocol": "UDP", "name": "web"}, True),
        ({"number": 0}, False),
        ({"number": True}, False),
        ({"number": 80.0}, False),
        ({"number": 10**400}, False),
        ({"number": "80"}, False),
        ({"number": None}, False),
        ({"number": 80, "protocol": "\ud800"}, False),
        ({"number": 80, "name": "\ud800"}, False),
        ({"number": 80, "name": "web\n"}, False),
        ({"number": 80, "name": "a" * 1_000_000}, False),
        ({"number": 80, "\ud800": 1}, False),
        ({"number": 80, "other": 1}, False),
        ({"number": 80, "version": 10**5000}, False),
        ({"number": 80, "inner": {"number": 81}}, True),
        (DEEP, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_shape_accepts_what_surely_fits_and_nothing_raises(value: Any, fits: bool) -> None:
    assert surely(Port)(value) is fits


def schema_of(kind: JobKind) -> StructuralSchema:
    assert isinstance(kind.schema, StructuralSchema)
    return kind.schema


def defaulted(job: dict[str, Any]) -> tuple[StructuralSchema, Any]:
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    return schema_of(kind), defaulted_job(kind, job, Context(namespace="default", name="job")).value


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_no_good_example_needs_the_evaluator(file: Path) -> None:
    for job in jobs(file):
        schema, document = defaulted(job)
        assert schema.fits(document)
        assert schema.check(document) == []


def test_a_stored_job_with_status_and_managed_fields_needs_no_evaluator() -> None:
    (job,) = jobs(Path("examples/dijob/with-tasks.yaml"))
    schema, document = defaulted(job)
    stored = document | {
        "metadata": document["metadata"]
        | {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "resourceVersion": "7",
            "generation": 2,
            "creationTimestamp": "2026-02-28T23:59:59Z",
            "labels": {"app.kubernetes.io/name": "a", "tier": ""},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}\n"},
            "finalizers": ["example.com/keep", "foregroundDeletion"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "b", "controller": True}],
            "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {}}, "time": None}],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "JobRunning", "status": "True", "lastTransitionTime": "2026-12-31T00:00:00.123456Z"}
            ],
        },
    }
    assert schema.check(stored) == []
    assert schema.fits(stored)


def replaced(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    """Return a value with another one at a place; what is around it is a copy."""
    if not path:
        return other
    step, *rest = path
    if isinstance(value, dict):
        return value | {step: replaced(value[step], tuple(rest), other)}
    return [replaced(item, tuple(rest), other) if index == step else item for index, item in enumerate(value)]


PROPERTY = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=200)


@cache
def examples() -> list[tuple[StructuralSchema, Any]]:
    return [defaulted(job) for file in GOOD for job in jobs(file)]


@st.composite
def examples_with_changes(draw: st.DrawFn) -> tuple[StructuralSchema, Any]:
    """Draw a good example in which a place or two are drawn again, right or wrong."""
    schema, document = draw(st.sampled_from(examples()))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(list(places(schema.shape.node, document))))
        document = replaced(document, place.path, draw(near(place.schema) | JSON) if place.path else document)
    return schema, document


@PROPERTY
@given(examples_with_changes())
def test_in_a_job_that_surely_fits_the_check_finds_nothing(drawn: tuple[StructuralSchema, Any]) -> None:
    schema, document = drawn
    assert not schema.fits(document) or schema.check(document) == []


@pytest.mark.parametrize("kind", built_in(), ids=title)
@settings(PROPERTY, max_examples=60)
@given(data=st.data())
def test_in_any_object_of_a_kind_that_surely_fits_the_check_finds_nothing(kind: JobKind, data: st.DataObject) -> None:
    schema = schema_of(kind)
    document = data.draw(near(schema.shape.node))
    if isinstance(document, dict):
        assert not schema.fits(document) or schema.check(document) == []


def without_dashes(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a made-up schema whose objects can be a `Struct`: so the property says more of it."""
    plain: dict[str, Any] = json.loads(json.dumps(schema).replace('"x-e"', '"e"'))
    return plain


@cache
def schemas() -> list[tuple[Named, Predicate, Evaluator]]:
    result = [
        *generated("tests.crdgen", "tests.crdgen.cli.shop"),
        with_rules(),
        *at_edges(),
        *(Named(f"made up {number}", without_dashes(made(random.Random(number))), MADE_UP) for number in range(100)),
    ]
    return [(named, surely_fits(named.schema), Evaluator(named.schema)) for named in result]


@settings(PROPERTY, max_examples=300)
@given(data=st.data())
def test_in_an_object_of_any_schema_that_surely_fits_the_evaluator_finds_nothing(data: st.DataObject) -> None:
    named, fits, evaluator = data.draw(st.sampled_from(schemas()))
    value = data.draw(near(named.schema) | st.sampled_from(named.samples) if named.samples else near(named.schema))
    for document in (value, evaluator.default(evaluator.prune(value))):
        assert not fits(document) or evaluator.validate(document) == []


OBJECT: Final = {"type": "object"}
TEXT: Final = {"type": "string"}
WHOLE: Final = {"type": "integer"}
PORT: Final = {"x-kubernetes-int-or-string": True}
DATE_TIME: Final = TEXT | {"format": "date-time"}
NAMED: Final = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "kind": WHOLE}}
SET: Final = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
MAP_LIST: Final = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "kind"],
    "items": NAMED,
}


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (TEXT, "a", 1),
        (TEXT, "", None),
        (TEXT | {"enum": ["a", "b"]}, "b", "c"),
        (TEXT | {"enum": ["a", "long"], "maxLength": 1}, "a", "long"),
        (TEXT | {"enum": ["a"], "nullable": True}, "a", None),
        (TEXT | {"minLength": 1}, "ä", ""),
        (TEXT | {"maxLength": 2}, "\U0001f600\U0001f600", "abc"),
        (OBJECT | {"properties": {"a": TEXT | {"pattern": "^(a+)+$"}}}, {"a": "aa"}, {"a": "a" * 100_000 + "!"}),
        (OBJECT | {"properties": {"a": TEXT | {"pattern": r"^\d$"}}}, {"a": "1"}, {"a": "\u0661"}),
        (OBJECT | {"properties": {"a": TEXT | {"pattern": r"^\p{Greek}$"}}}, {"a": "\u03b1"}, {"a": "a"}),
        (OBJECT | {"properties": {"a": TEXT | {"pattern": "^.$", "nullable": True}}}, {"a": None}, {"a": ""}),
        (OBJECT | {"properties": {"a": PORT | {"pattern": "^a"}}}, {"a": 1}, {"a": "b"}),
        (QUANTITY_SCHEMA, "1.5Gi", "1" * 100_000 + "!"),
        (QUANTITY_SCHEMA, "1e3", "1e" + "0" * 100_000 + "!"),
        (TEXT | {"pattern": DURATION}, "1h30m", "1m" * 50_000 + "!"),
        (TEXT | {"pattern": DURATION}, "1.5s", "1" * 100_000 + "!"),
        (DATE_TIME, "2024-02-28T00:00:00Z", "2023-02-29T00:00:00Z"),
        (DATE_TIME, "2024-12-31T23:59:59.5Z", "2024-11-31T23:59:59Z"),
        (TEXT | {"format": "nonsense"}, "a", 1),
        ({"type": "boolean"}, True, "true"),
        ({"type": "boolean"}, False, 0),
        (WHOLE, 2**63 - 1, 2**63),
        (WHOLE, -(2**63), -(2**63) - 1),
        (WHOLE, 1, True),
        (WHOLE, 1, 1.5),
        (WHOLE | {"format": "int32"}, 2**31 - 1, 2**31),
        (WHOLE | {"minimum": 1}, 1, 0),
        (WHOLE | {"maximum": 1}, 1, 2),
        (WHOLE | {"enum": [1, 2]}, 2, 3),
        ({"type": "number"}, 1.5, "1.5"),
        ({"type": "number", "format": "double"}, 1, True),
        (PORT, 80, 1.5),
        (PORT, "http", True),
        (PORT | {"minLength": 1, "maximum": 9}, "a", ""),
        (PORT | {"anyOf": [{"type": "integer"}, {"type": "string"}], "maximum": 9}, 9, 10),
        (OBJECT, {"a": {"b": [None]}}, []),
        (OBJECT | {"properties": {"a": WHOLE}}, {"b": "unknown"}, {"a": "x"}),
        (OBJECT | {"properties": {"from": WHOLE}}, {"from": 1}, {"from": None}),
        (OBJECT | {"properties": {"a": WHOLE | {"nullable": True}}}, {"a": None}, {"a": "x"}),
        (OBJECT | {"properties": {"a": {}}, "required": ["a"]}, {"a": None}, {}),
        (OBJECT | {"properties": {"a": NAMED}, "required": ["b"]}, {"b": 1}, {"a": {"name": "a"}}),
        (OBJECT | {"properties": {"a": WHOLE}, "x-kubernetes-preserve-unknown-fields": True}, {"b": 1}, {"a": []}),
        (OBJECT | {"additionalProperties": WHOLE}, {"\ud800": 1}, {"a": "x"}),
        (OBJECT | {"additionalProperties": True}, {"a": "x"}, 1),
        (OBJECT | {"additionalProperties": {}, "maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}),
        (OBJECT | {"additionalProperties": {}, "minProperties": 1}, {"a": 1}, {}),
        ({"type": "array", "items": WHOLE}, [1, 1], [1, "x"]),
        ({"type": "array", "items": {}, "minItems": 1, "maxItems": 2}, [1, 2], [1, 2, 3]),
        ({"type": "array", "items": {}, "minItems": 1}, [None], []),
        (OBJECT | {"properties": {"a": SET}}, {"a": ["x", "y"]}, {"a": ["x", "y", "x"]}),
        (
            OBJECT | {"properties": {"a": MAP_LIST}},
            {"a": [{"name": "x", "kind": 1}, {"name": "x"}]},
            {"a": [{"name": "x"}, {"name": "x", "more": 1}]},
        ),
    ],
)
def test_what_is_right_surely_fits_and_what_is_wrong_does_not(schema: dict[str, Any], right: Any, wrong: Any) -> None:
    fits, evaluator = surely_fits(schema), Evaluator(schema)
    assert evaluator.validate(right) == []
    assert fits(right)
    assert evaluator.validate(wrong) != []
    assert not fits(wrong)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TEXT | {"format": "date"}, "2024-01-01"),
        (TEXT | {"format": "password"}, "2024-01-01T00:00:00Z"),
        (DATE_TIME, "2024-02-29T00:00:00+01:00"),
        ({"type": "array", "items": TEXT | {"pattern": "^(a+)+$"}}, ["a"]),
        (OBJECT | {"additionalProperties": TEXT | {"pattern": "^a$"}}, {"b": "a"}),
        (TEXT | {"enum": ["ä"]}, "ä"),
        (WHOLE, 1.0),
        (WHOLE | {"multipleOf": 2}, 2),
        (WHOLE | {"minimum": 0, "exclusiveMinimum": True}, 1),
        (WHOLE | {"maximum": 2**62}, 1),
        ({"type": "number", "minimum": 0}, 1.5),
        ({"type": "number", "format": "float"}, 1.5),
        ({"type": "boolean", "enum": [True]}, True),
        (TEXT | {"nullable": True, "unknown": 1}, "a"),
        (TEXT | {"x-kubernetes-validations": [{"rule": "true"}]}, "a"),
        (TEXT | {"not": {"enum": ["a"]}}, "b"),
        (PORT | {"anyOf": [{"pattern": "^a"}, {"minimum": 3}]}, "a"),
        (OBJECT | {"properties": {"a": WHOLE}, "maxProperties": 1}, {"a": 1}),
        (OBJECT | {"properties": {"a": WHOLE}, "additionalProperties": WHOLE}, {"a": 1}),
        (OBJECT | {"properties": {"with-a-dash": WHOLE}}, {}),
        (OBJECT | {"oneOf": [{"required": ["a"]}]}, {"a": 1}),
        (OBJECT | {"x-kubernetes-embedded-resource": True}, {"apiVersion": "v1", "kind": "Pod"}),
        ({"type": "array", "items": SET}, [["a", "b"]]),
        (MAP_LIST | {"items": OBJECT | {"x-kubernetes-preserve-unknown-fields": True}}, [{"name": "x"}, {"name": "y"}]),
        (OBJECT | {"additionalProperties": MAP_LIST}, {"a": [{"name": "x"}, {"name": "y"}]}),
    ],
)
def test_what_is_not_known_for_sure_is_left_to_the_evaluator_where_it_is_present(
    schema: dict[str, Any], value: Any
) -> None:
    holder = {"type": "object", "properties": {"field": schema}}
    assert Evaluator(holder).validate({"field": value}) == []
    assert not surely_fits(holder)({"field": value})
    assert surely_fits(holder)({})


def test_nothing_surely_fits_a_bound_that_is_no_value_of_its_type() -> None:
    schema = WHOLE | {"format": "int32", "maximum": 2**40}
    assert Evaluator(schema).validate(1) != []
    assert not surely_fits(schema)(1)


@pytest.mark.parametrize(
    ("metadata", "fits"),
    [
        ({"name": "a.b-c"}, True),
        ({"generateName": "a-", "creationTimestamp": None}, True),
        ({"name": "a", "namespace": "b", "labels": {}, "annotations": {"a": ""}, "finalizers": []}, True),
        ({"name": "a", "labels": {"example.com/a_B": "C.d"}}, True),
        (None, False),
        ([], False),
        ({}, False),
        ({"name": ""}, False),
        ({"name": None}, False),
        ({"name": 1}, False),
        ({"name": "A"}, False),
        ({"name": "a\n"}, False),
        ({"name": "a..b"}, False),
        ({"name": "a" * 254}, False),
        ({"generateName": "-"}, False),
        ({"name": "a", "generateName": "A"}, False),
        ({"name": "a", "namespace": "b.c"}, False),
        ({"name": "a", "labels": []}, False),
        ({"name": "a", "labels": {"": "a"}}, False),
        ({"name": "a", "labels": {"a/b/c": "a"}}, False),
        ({"name": "a", "labels": {"a" * 64: "a"}}, False),
        ({"name": "a", "labels": {"a": "-"}}, False),
        ({"name": "a", "labels": {"a": 1}}, False),
        ({"name": "a", "annotations": {"a b": ""}}, False),
        ({"name": "a", "annotations": {"a": True}}, False),
        ({"name": "a", "finalizers": ["a b"]}, False),
        ({"name": "a", "finalizers": "a"}, False),
    ],
)
def test_ordinary_metadata_fits_and_broken_metadata_does_not(metadata: Any, fits: bool) -> None:
    assert surely(OrdinaryMetadata)(metadata) is fits
    if fits:
        assert list(metadata_causes(metadata)) == []


GOOD_WORDS: Final = st.sampled_from(["a", "a-b", "a" * 63, "0"])
WORDS: Final = st.one_of(
    GOOD_WORDS,
    st.sampled_from(["a.b", "A_b", "a/b", "a.b/" + "C" * 63, "a.b/c", "a" * 57 + "-"]),
    st.text("aZ0-_./", max_size=5),
    st.sampled_from(["", "a" * 64, "a" * 253, "a.b/" + "c" * 64, "a\n", "\u0130", "\ud800", "a..b", "a-/b", "a--"]),
)
ODD: Final[st.SearchStrategy[Any]] = st.sampled_from([None, 1, True, [], {}])
METADATA: Final = st.fixed_dictionaries(
    {"name": GOOD_WORDS | WORDS},
    optional={
        "generateName": GOOD_WORDS | WORDS | ODD,
        "namespace": GOOD_WORDS | WORDS | ODD,
        "labels": st.dictionaries(WORDS, GOOD_WORDS | WORDS, max_size=2) | ODD,
        "annotations": st.dictionaries(WORDS, WORDS | ODD, max_size=1) | ODD,
        "finalizers": st.lists(WORDS, max_size=2) | ODD,
    },
)


@PROPERTY
@given(METADATA)
def test_in_metadata_that_surely_fits_the_check_finds_nothing(metadata: Mapping[str, Any]) -> None:
    assert not surely(OrdinaryMetadata)(metadata) or list(metadata_causes(metadata)) == []


def nested(depth: int, wrap: Any) -> Any:
    value: Any = wrap(None)
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("kind", built_in(), ids=title)
@pytest.mark.parametrize(
    "odd",
    [
        nested(50_000, lambda inner: [inner]),
        nested(50_000, lambda inner: {"spec": inner, "template": inner, "metadata": inner}),
        "a-" * 500_000,
        "0" * 1_000_000 + "x",
        {f"key{number}": number for number in range(65_000)},
        [{}] * 65_000,
    ],
    ids=["deep lists", "deep objects", "a long text", "a long number", "many keys", "many items"],
)
def test_hostile_objects_raise_nothing(kind: JobKind, odd: Any) -> None:
    schema, example = next(pair for pair in examples() if pair[0] is kind.schema)
    for place in places(schema.shape.node, example):
        if place.path:
            schema.fits(replaced(example, place.path, odd))


def test_no_pattern_of_a_kind_makes_its_check_slow() -> None:
    """A backtracking matcher would take years; the bound is far above what is needed."""

    class Spec(Model):
        text: Annotated[str, Field(pattern="^(a+)+$")]
        texts: list[Annotated[str, Field(pattern="^(a|aa)+$")]]

    names = Names(kind="Thing", plural="things")
    schema = StructuralSchema(CustomResource(group="example.com", names=names, versions=(Version("v1", spec=Spec),)))
    long = "a" * 100_000 + "!"
    began = time.process_time()
    thing = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": {"text": long, "texts": [long]},
    }
    assert not schema.fits(thing)
    assert [str(cause.path) for cause in schema.check(thing)] == ["spec.text", "spec.texts[0]"]
    assert time.process_time() - began < 10


def test_a_field_of_metadata_is_read_no_further_than_it_gives_causes() -> None:
    class Finalizers(list[int]):
        def __iter__(self) -> Iterator[int]:
            yield from [1] * ENOUGH
            raise AssertionError("read on")

    assert len(list(metadata_causes({"name": "demo", "finalizers": Finalizers()}))) == ENOUGH
