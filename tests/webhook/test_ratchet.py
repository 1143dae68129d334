"""What makes a fault the same before and after an UPDATE."""

from typing import Any

import pytest

from webhook import Cause, Forbidden, Invalid, Path, Required
from webhook.ratchet import Identities, identity

HERE = Path("spec") / "a"


def same(cause: Cause, old: Any, new: Any, new_cause: Cause | None = None) -> bool:
    """Tell whether a cause in an old object and one in a new object are the same fault."""
    known = Identities()
    return identity("rule", cause, old, known) == identity("rule", new_cause or cause, new, known)


@pytest.mark.parametrize(
    "cause, old, new, expected",
    [
        (Forbidden(HERE, "no"), 1, 1, True),
        (Forbidden(HERE, "no"), 1, 2, False),
        (Forbidden(HERE, "no"), 1, True, False),
        (Forbidden(HERE, "no"), 1, 1.0, False),
        (Forbidden(HERE, "no"), "1", 1, False),
        (Forbidden(HERE, "no"), {"path": "/data", "x": [1, {"y": 2}]}, {"x": [1, {"y": 2}], "path": "/data"}, True),
        (Forbidden(HERE, "no"), {"path": "/data"}, {"path": "/"}, False),
        (Forbidden(HERE, "no"), {"x": [1, {"y": 2}]}, {"x": [1, {"y": 3}]}, False),
        (Forbidden(HERE, "no"), {"x": [[1], 2]}, {"x": [[1, 2]]}, False),
        (Forbidden(HERE, "no", "part"), {"x": "part"}, {"x": "part", "y": 1}, True),
        (Forbidden(HERE, "no", "part"), "one", "other", False),
        (Invalid(HERE, "hostPath", "no"), "/data", "/", False),
        (Required(HERE, "one of them"), {"x": 1}, {"x": 2}, True),
        (Required(HERE / "b"), {"c": 1}, {"c": 2}, True),
        (Forbidden(Path("spec.gone[3].x"), "no"), {}, {"y": 1}, True),
    ],
    ids=[
        "a value",
        "another value",
        "truth is not one",
        "a float is not an integer",
        "a text is not a number",
        "an object in another order",
        "an object",
        "deep inside",
        "another nesting",
        "around what the rule names",
        "beside what the rule names",
        "a rule that names too little",
        "around what is lacking",
        "beside what is lacking",
        "a place that is not there",
    ],
)
def test_a_fault_is_the_same_if_what_the_user_wrote_is(cause: Cause, old: Any, new: Any, expected: bool) -> None:
    assert same(cause, {"spec": {"a": old}}, {"spec": {"a": new}}) is expected


def test_a_fault_moves_with_its_item_and_belongs_to_one_rule() -> None:
    old = {"spec": {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 1}]}}
    new = {"spec": {"a": [{"name": "y", "v": 1}, {"name": "x", "v": 1}]}}
    assert same(Forbidden(HERE / 0 / "v", "no"), old, new, Forbidden(HERE / 1 / "v", "no"))
    assert not same(Forbidden(HERE / 0 / "v", "no"), old, new)
    assert not same(Forbidden(HERE / 0 / "v", "no"), old, old, Invalid(HERE / 0 / "v", None, "no"))
    known = Identities()
    cause = Forbidden(HERE, "no")
    assert identity("one", cause, old, known) != identity("other", cause, old, known)


def test_what_is_nested_beyond_reason_is_compared_too() -> None:
    def nested(inner: Any) -> Any:
        for _ in range(100_000):
            inner = [inner]
        return inner

    value, equal, different = nested(1), nested(1), nested(2)
    known = Identities()
    assert known.value(value) == known.value(equal) != known.value(different)
    for whole in (value, equal, different):  # Python frees it level by level, and would recurse doing so
        value = whole
        while isinstance(value, list):
            value = value.pop()


def test_a_value_is_looked_through_once_for_all_causes_about_it() -> None:
    value, known = {"x": ["word"] * 10}, Identities()
    assert known.value(value) is known.value(value)
