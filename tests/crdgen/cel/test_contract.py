"""Problems of rules are reported as by the API server's compiler, with a suggestion."""

from typing import Any

import pytest

from crdgen.cel import CompilationError, compile_expression, uses_old_self
from crdgen.cel.cost import estimate

SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "ratio": {"type": "number"},
        "name": {"type": "string"},
        "short": {"type": "string", "maxLength": 10},
        "x-prop": {"type": "string"},
        "namespace": {"type": "string"},
        "when": {"type": "string", "format": "date-time"},
        "port": {"x-kubernetes-int-or-string": True},
        "tasks": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}},
        },
        "few": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "a_b": {"type": "object", "additionalProperties": {"type": "string"}},
        "aB": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}

ACCEPTED = [
    "self.replicas > 1.5",
    "self.replicas < 3 && self.ratio >= 1",
    "self.x__dash__prop == self.__namespace__",
    "self.when < timestamp('2026-01-01T00:00:00Z')",
    "self.port == 1 || self.port == 'a'",
    "self.tasks.all(t, t.n > 0) && self.tasks.exists_one(t, t.name == 'a')",
    "self.tasks.map(t, t.n).sum() > 2",
    "self.labels.all(k, v, k == v)",
    "self.?name.orValue('a') == 'a'",
    "duration(self.name) > duration('5µs')",
    "ip.isCanonical('1.2.3.4') && ip('::1').family() == 6 && string(ip('::1')) == '::1'",
    "cidr('10.0.0.0/8').containsIP('10.0.0.1')",
    "quantity('1Gi').add(1).isGreaterThan(quantity('1G'))",
    "format.named('dns1123Label').value().validate(self.name).hasValue()",
    "semver('1.2.3').major() == 1",
    "url(self.name).getHost() == 'a'",
    "'a' in self.labels && 'a' in self.few",
    "self.name.find('[a-z]') == 'a' && 'a'.lowerAscii() == ['a', 'b'].join('')",
    "sets.contains([1], [1]) && [3, 1].sort() == [1, 3]",
    "self.aB == self.a_b",
    "oldSelf.replicas <= self.replicas",
    "has(self.tasks) ? size(self.tasks) > 0 : true",
]


def problems(expression: str, **more: bool) -> list[str]:
    """Return the problems of an expression, one sentence each."""
    try:
        compile_expression(expression, SPEC, **more)
    except CompilationError as error:
        return error.sentences
    return []


@pytest.mark.parametrize("expression", ACCEPTED)
def test_an_expression_that_the_server_compiles_has_no_problems(expression: str) -> None:
    assert problems(expression) == []


REJECTED = [
    ("self.replicas == 'x'", ["at character 15: == does not take (int, string)"]),
    ("self.replicass > 1", ["self has no field replicass: did you mean replicas?"]),
    ("self.tasks.all(t, t.nme == 'a')", ["self.tasks[] has no field nme: did you mean name?"]),
    ("self.tasks[0] == 1", ["at character 15: == does not take (object self.tasks[], int)"]),
    ("self.open.foo == 1", ["self.open has no field foo: rules see none of its fields"]),
    ("lower(self.name) == 'a'", ["at character 6: lower is not known"]),
    ("self.when < timestamp('x')", ["'x' is no time such as 2006-01-02T15:04:05Z"]),
    ("self.name.find('[0-9') == ''", ["'[0-9' is no pattern of RE2: it has an error, missing ]: `[0-9`"]),
    ("self.name.matches('(?=a)')", ["'(?=a)' is no pattern of RE2: it has look-ahead"]),
    (
        "self.metadata.name == 'a'",
        [
            "self has no field metadata: it has __namespace__, aB, a_b, few, labels, name, open, port, ratio, replicas, short, tasks"
        ],
    ),
]


@pytest.mark.parametrize("expression, sentences", REJECTED)
def test_a_problem_is_one_sentence_with_a_suggestion(expression: str, sentences: list[str]) -> None:
    assert problems(expression) == sentences


def test_syntax_is_checked() -> None:
    (sentence,) = problems("self.replicas >")
    assert sentence.startswith("at character 16: Syntax error")


def test_compilation_returns_the_type_of_an_expression() -> None:
    assert compile_expression("'at least ' + string(self.replicas)", SPEC).returns == "STRING"
    assert compile_expression("self.replicas", SPEC).returns == "INT"


def test_rules_on_the_whole_object_see_its_name() -> None:
    assert problems("self.metadata.name.size() < 10 && self.kind == 'A'", root=True) == []


def test_an_optional_old_self_must_be_unwrapped() -> None:
    assert problems("!oldSelf.hasValue() || self.replicas >= oldSelf.value().replicas", optional_old_self=True) == []
    assert problems("self.replicas >= oldSelf.replicas", optional_old_self=True)


@pytest.mark.parametrize(
    "expression, uses",
    [
        ("self == oldSelf", True),
        ("'oldSelf' == self", False),
        ('self == """oldSelf"""', False),
        (r"self == 'it\'s' && oldSelf == 'a'", True),
        (r"self == r'\' && oldSelf == 'a'", True),
        ("self.oldSelf == 1", False),
        ("oldSelfie == 1", False),
        ("self == 1 // oldSelf", False),
    ],
)
def test_a_transition_rule_uses_old_self(expression: str, uses: bool) -> None:
    assert uses_old_self(expression) is uses


@pytest.mark.parametrize(
    "expression, paths",
    [
        ("self.tasks.all(t, t.n > 0)", ["self.tasks"]),
        ("self.tasks.all(t, t.name.matches('a'))", ["self.tasks", "self.tasks[].name"]),
        ("self.name == oldSelf.name", ["self.name"]),
        ("self.labels.all(k, v, v == 'a')", ["self.labels"]),
        ("size(self.tasks) > 1 && self.short.contains('a')", []),
        ("self.name.startsWith('a') || self.name == 'a' || 'a' in self.labels", []),
    ],
)
def test_unbounded_places_are_reported(expression: str, paths: list[str]) -> None:
    compiled = compile_expression(expression, SPEC)
    price = estimate(compiled.tree, compiled.types, compiled.self_type)
    assert [place.path for place in price.places if not place.bounded] == paths
