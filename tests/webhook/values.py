"""JSON of any shape, and crews of nearly any shape."""

from typing import Any

from hypothesis import strategies as st

#: Text as it can arrive in UTF-8: lone surrogates cannot.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=10
)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Valid values, and in an eighth of all cases any JSON."""
    return st.integers(0, 7).flatmap(lambda luck: strategy if luck else json_values)


names = st.sampled_from(["a", "b", "lead", "", "x/y~z"])
part = st.fixed_dictionaries(
    {},
    optional={
        "name": _maybe(names | st.none()),
        "role": _maybe(st.sampled_from(["lead", "none", None, "captain"])),
        "replicas": _maybe(st.integers(-1, 4) | st.none()),
        "template": _maybe(st.fixed_dictionaries({}, optional={"image": _maybe(names), "privileged": json_values})),
        "x/y~z": json_values,
    },
)
bounds = st.fixed_dictionaries({}, optional={"least": _maybe(st.integers(0, 4)), "most": _maybe(st.integers(0, 4))})
spec = st.fixed_dictionaries(
    {},
    optional={
        "parts": _maybe(st.lists(_maybe(part), max_size=4)),
        "bounds": _maybe(bounds),
        "maxParts": _maybe(st.integers(0, 4)),
        "extra": json_values,
    },
)
metadata = _maybe(
    st.fixed_dictionaries(
        {},
        optional={
            "name": _maybe(names),
            "generateName": _maybe(names),
            "labels": json_values,
            "deletionTimestamp": _maybe(st.just("2026-01-01T00:00:00Z")),
        },
    )
)
jobs = st.fixed_dictionaries({"kind": st.just("Crew")}, optional={"metadata": metadata, "spec": _maybe(spec)})
documents = _maybe(jobs)
