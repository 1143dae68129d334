"""CEL rules on fields and models: they are written to the schema, and wrong rules are rejected."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from crdgen import (
    Atomic,
    AtomicMap,
    CustomResource,
    EmbeddedResource,
    Immutable,
    ImmutableOnceSet,
    MapList,
    ModelDefault,
    Names,
    PreserveUnknown,
    SchemaError,
    ValidationRule,
    Version,
    at_least_one_of,
    at_most_one_of,
    cel,
    crd,
    escape,
    exactly_one_of,
    of,
    rules,
    structural_schema,
)
from crdgen.markers.marker import Marker

RULES = "x-kubernetes-validations"


def field(annotation: Any, **options: Any) -> type[BaseModel]:
    """Return a model with one field, `value`."""
    return type("Spec", (BaseModel,), {"__annotations__": {"value": annotation}, "__module__": __name__, **options})


def definition(spec: type[BaseModel]) -> dict[str, Any]:
    return crd(CustomResource("a.example.com", Names("Thing"), (Version("v1", spec),)))


def test_a_rule_has_every_field_of_the_crd_api() -> None:
    rule = ValidationRule(
        "self.min <= oldSelf.orValue(self).max",
        message="no",
        message_expression="'min is ' + self.min",
        reason="FieldValueForbidden",
        field_path=".min",
        optional_old_self=True,
    )
    assert rule.to_json() == {
        "rule": "self.min <= oldSelf.orValue(self).max",
        "message": "no",
        "messageExpression": "'min is ' + self.min",
        "reason": "FieldValueForbidden",
        "fieldPath": ".min",
        "optionalOldSelf": True,
    }
    assert ValidationRule("true").to_json() == {"rule": "true"}


def test_rules_keep_the_order_of_the_source() -> None:
    @rules(ValidationRule("1 == 1"))
    class Base(BaseModel):
        value: Annotated[int, ValidationRule("self > 1"), ValidationRule("self < 9")] = 2

    @rules(ValidationRule("2 == 2"), ValidationRule("3 == 3"))
    @rules(ValidationRule("4 == 4"))
    class Derived(Base):
        pass

    class Outer(BaseModel):
        inner: Annotated[Derived, ValidationRule("5 == 5")]

    schema = structural_schema(Outer)["properties"]["inner"]
    assert [rule["rule"] for rule in schema[RULES]] == ["1 == 1", "2 == 2", "3 == 3", "4 == 4", "5 == 5"]
    assert [rule["rule"] for rule in schema["properties"]["value"][RULES]] == ["self > 1", "self < 9"]
    assert RULES in structural_schema(Base)


def test_rules_do_not_change_the_model_for_pydantic() -> None:
    @rules(ValidationRule("self.a > 1"))
    class Plain(BaseModel):
        a: int

    assert Plain(a=1).model_dump() == {"a": 1}
    assert Plain.model_json_schema() == {
        "title": "Plain",
        "type": "object",
        "properties": {"a": {"title": "A", "type": "integer"}},
        "required": ["a"],
    }


@pytest.mark.parametrize(
    "case, annotation, problem, fix",
    [
        ("of anything", Annotated[Any, ValidationRule("true")], "a value of any type", "one type"),
        ("an open value", Annotated[Any, PreserveUnknown, ValidationRule("true")], "a value of any type", "one type"),
        ("immutable null", Annotated[int | None, Immutable], "no rule is checked on a null", "make None the default"),
    ],
)
def test_a_rule_checks_itself(case: str, annotation: Any, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(field(annotation))
    assert raised.value.path.startswith("Spec.value")
    assert problem in raised.value.problem
    assert fix in raised.value.fix


class Part(BaseModel):
    name: str
    size: Annotated[int, ValidationRule("self == oldSelf")] = 1


class Odd(BaseModel):
    metadata: str | None = None


@pytest.mark.parametrize(
    "annotation, at, words",
    [
        (Annotated[list[Part], Atomic], "[].size", "oldSelf is unknown here: the items of spec.value have no keys"),
        (
            Annotated[Part, ValidationRule("true", field_path=".sizes")],
            "",
            "leads to sizes, which is not declared: did you mean size?",
        ),
        (Annotated[Part, ValidationRule("true", field_path="size")], "", "fieldPath size cannot be read from size on"),
        (Annotated[list[Part], ValidationRule("true", field_path=".name")], "", "leads to name below something"),
        (Annotated[int, ValidationRule(" ")], "", "the rule is empty"),
        (Annotated[int, ValidationRule("true", " ")], "", "the message is blank"),
        (Annotated[int, ValidationRule("true", "a\nb")], "", "has line breaks"),
        (Annotated[int, ValidationRule("self > 1 &&\nself < 3")], "", "a rule of several lines needs a message"),
        (Annotated[int, ValidationRule("true", message_expression=" ")], "", "the messageExpression is empty"),
        (Annotated[int, ValidationRule("true", reason="Bad")], "", "there is no reason Bad"),  # type: ignore[arg-type]
        (Annotated[int, ValidationRule("true", optional_old_self=True)], "", "the rule does not read oldSelf"),
        (Annotated[dict[str, int], EmbeddedResource], ".*", "an embedded resource must not have additionalProperties"),
        (Annotated[Odd, EmbeddedResource], ".metadata", "type of metadata must be object"),
        (Annotated[list[Part], MapList("name", "name")], "", "map key name is named twice"),
        (Annotated[list[Part], MapList("id")], "", "map key id is no field of the items"),
        (Annotated[list[Odd], MapList("metadata")], "[].metadata", "must be required or have a default"),
    ],
)
def test_a_wrong_marker_is_reported_at_its_field(annotation: Any, at: str, words: str) -> None:
    with pytest.raises(SchemaError) as raised:
        definition(field(annotation))
    assert any(fault.path == f"Thing.spec.value{at}" and words in fault.problem for fault in raised.value.errors)


def test_old_self_is_available_in_map_lists_and_in_every_map() -> None:
    assert definition(field(Annotated[dict[str, Part], AtomicMap]))
    assert definition(field(Annotated[list[Part], MapList("name")]))
    assert definition(field(Annotated[list[int], Atomic, ValidationRule("self == oldSelf")]))


@pytest.mark.parametrize(
    "case, annotation, expression",
    [
        ("an unknown field", Annotated[Part, ValidationRule("self.sizes > 1")], "sizes"),
        ("another type", Annotated[Part, ValidationRule("self.size > 'a'")], ""),
        ("not a boolean", Annotated[Part, ValidationRule("self.size + 1")], ""),
        ("a syntax error", Annotated[Part, ValidationRule("self.size >")], ""),
        ("a message that is not a string", Annotated[Part, ValidationRule("true", message_expression="self.size")], ""),
    ],
)
def test_expressions_are_compiled(case: str, annotation: Any, expression: str) -> None:
    if not cel.available():
        assert definition(field(annotation))
        return
    with pytest.raises(SchemaError) as raised:
        definition(field(annotation))
    assert raised.value.path == "Thing.spec.value"
    assert expression in raised.value.problem


class Choices(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    image: str | None = None
    build: str | None = None
    from_file: Annotated[str | None, Field(alias="from-file")] = None
    namespace: str | None = None
    odd: Annotated[str | None, Field(alias="ä")] = None
    needed: str
    given: int = 1
    null: str | None


def choices(marker: Marker) -> dict[str, Any]:
    schema = structural_schema(rules(marker)(type("Spec", (Choices,), {"__module__": __name__})))
    rule: dict[str, Any]
    (rule,) = schema[RULES]
    return rule


@pytest.mark.parametrize(
    "marker, rule, message",
    [
        (
            exactly_one_of("image", "from-file"),
            "[has(self.image), has(self.from__dash__file)].exists_one(set, set)",
            "exactly one of image, from-file must be set",
        ),
        (
            at_most_one_of("image", "build", "namespace"),
            "[has(self.image), has(self.build), has(self.__namespace__)].filter(set, set).size() <= 1",
            "at most one of image, build, namespace may be set",
        ),
        (
            at_least_one_of("image", "build"),
            "[has(self.image), has(self.build)].exists(set, set)",
            "at least one of image, build must be set",
        ),
    ],
)
def test_a_choice_of_fields_is_a_rule(marker: Marker, rule: str, message: str) -> None:
    assert choices(marker) == {"rule": rule, "message": message}


@pytest.mark.parametrize(
    "marker, path, problem, fix",
    [
        (exactly_one_of("image"), "Spec", "needs two or more different fields", "each field once"),
        (exactly_one_of("image", "image"), "Spec", "needs two or more different fields", "each field once"),
        (
            exactly_one_of("image", "imag"),
            "Spec",
            "names imag, which is no field",
            "use names as in JSON: build, from-file",
        ),
        (
            at_most_one_of("image", "from_file"),
            "Spec",
            "names from_file, which is no field",
            "use names as in JSON: build, from-file",
        ),
        (at_most_one_of("image", "zzz"), "Spec", "names zzz", "names as in JSON: build, "),
        (exactly_one_of("image", "needed"), "Spec.needed", "the field is required", "make None its default"),
        (exactly_one_of("image", "given"), "Spec.given", "required or has a default", "make None its default"),
        (at_least_one_of("image", "ä"), "Spec.ä", "CEL cannot name this field", "use letters"),
    ],
)
def test_a_choice_rejects_fields_that_are_always_set(marker: Marker, path: str, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        choices(marker)
    assert raised.value.path == path
    assert problem in raised.value.problem
    assert fix in raised.value.fix


def test_a_choice_rejects_nullable_fields() -> None:
    class Spec(BaseModel):
        a: str | None = None
        b: str | None = None

    schema = structural_schema(Spec)
    schema["properties"]["b"]["nullable"] = True
    with pytest.raises(SchemaError, match=r"Spec\.b: exactly_one_of would count a null as set"):
        exactly_one_of("a", "b").apply(schema, "Spec")


def test_immutable_fields_cannot_be_added_or_removed() -> None:
    class Spec(BaseModel):
        always: Annotated[str, Immutable]
        given: Annotated[str, Immutable] = "a"
        maybe: Annotated[str | None, Immutable] = None
        later: Annotated[str | None, Field(alias="x-later"), ImmutableOnceSet] = None
        inside: list[Annotated[str, ValidationRule("self != ''")]] = []

    schema = structural_schema(Spec)
    same = {"rule": "self == oldSelf", "message": "is immutable"}
    once = {"rule": "self == oldSelf", "message": "cannot change once it is set"}
    rules_by_field = {name: node.get(RULES) for name, node in schema["properties"].items()}
    assert rules_by_field == {"always": [same], "maybe": [same], "given": [same], "x-later": [once], "inside": None}
    assert schema[RULES] == [
        {
            "rule": "has(self.maybe) == has(oldSelf.maybe)",
            "message": "is immutable: it can be neither added nor removed",
            "fieldPath": ".maybe",
        },
        {
            "rule": "!has(oldSelf.x__dash__later) || has(self.x__dash__later)",
            "message": "cannot be removed once it is set",
            "fieldPath": "['x-later']",
        },
    ]


def test_immutable_once_set_rejects_a_field_with_a_default() -> None:
    class Spec(BaseModel):
        tier: Annotated[str, ImmutableOnceSet] = "basic"
        own: Annotated[str, ImmutableOnceSet, ModelDefault] = "basic"

    with pytest.raises(SchemaError) as raised:
        structural_schema(Spec)
    assert str(raised.value) == (
        "Spec.tier: the API server sets the default when the object is made, and ImmutableOnceSet then keeps it; "
        "write `… | None = None`, so that it may be set later, or use `Immutable`"
    )


def test_a_bounded_rule_is_accepted() -> None:
    class Step(BaseModel):
        name: Annotated[str, Field(max_length=100), ValidationRule("self.matches('^a$')", "must be a")]

    class Spec(BaseModel):
        steps: Annotated[list[Step], Field(max_length=100)]

    assert crd(of(Spec, group="a.example.com", version="v1"))


def test_a_version_has_rules_on_the_whole_object() -> None:
    version = Version("v1", Part, rules=(ValidationRule("self.metadata.name != 'x'", "no"),))
    definition = crd(CustomResource("a.example.com", Names("Thing"), (version,)))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema[RULES] == [{"rule": "self.metadata.name != 'x'", "message": "no"}]


@pytest.mark.parametrize(
    "name, escaped",
    [
        ("plain", "plain"),
        ("x-prop", "x__dash__prop"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("a__b", "a__underscores__b"),
        ("namespace", "__namespace__"),
        ("in", "__in__"),
        ("1a", None),
        ("", None),
        ("ä", None),
        ("a b", None),
    ],
)
def test_names_are_escaped_as_kubernetes_does(name: str, escaped: str | None) -> None:
    assert escape(name) == escaped
