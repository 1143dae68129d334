"""Label selectors of options: how they are read, and whether two can select the same object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from crdgen.labels import selects
from crdgen.reading import UnreadableManifest, read_value
from jobgate.podchecks.placement import SELECTOR
from webhook.path import Path


class Requirement(TypedDict):
    """A condition of a label selector."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: NotRequired[list[str]]


class LabelSelector(TypedDict, total=False):
    """A label selector as Kubernetes has it."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    matchLabels: dict[str, str]
    matchExpressions: list[Requirement]


def _valid(selector: LabelSelector) -> LabelSelector:
    if causes := [*SELECTOR.check(selector, Path())]:
        raise ValueError("; ".join(map(str, causes)))
    return selector


#: A label selector that the API server accepts.
Selector = Annotated[LabelSelector, AfterValidator(_valid)]


def parsed(text: str) -> LabelSelector:
    """Return the label selector of a YAML text.

    Raises:
        ValueError: the text is no label selector.
    """
    try:
        return TypeAdapter[LabelSelector](Selector).validate_python(read_value(text.encode(), "selector"))
    except UnreadableManifest as error:
        raise ValueError(str(error)) from None


def conditions(*selectors: LabelSelector) -> Iterator[Requirement]:
    """Yield all conditions of selectors."""
    for selector in selectors:
        for key, value in (selector.get("matchLabels") or {}).items():
            yield {"key": key, "operator": "In", "values": [value]}
        yield from selector.get("matchExpressions") or ()


def overlap(*selectors: Any) -> bool:
    """Return whether an object can have labels that all of these valid label selectors select."""
    every = [*conditions(*selectors)]
    for key in {condition["key"] for condition in every}:
        of_key = [condition for condition in every if condition["key"] == key]
        values = [value for condition in of_key for value in condition.get("values") or ()]
        labels = ({}, *({key: value} for value in (*values, "".join(values) + "x")))  # the last is in no condition
        if not any(selects({"matchExpressions": of_key}, each) for each in labels):
            return False
    return True
