"""Label selectors."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from crdgen.schema.look import mapping, members


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether a valid LabelSelector selects these labels; an empty one selects all."""
    return all(labels.get(key) == value for key, value in mapping(selector, "matchLabels").items()) and all(
        _OPERATORS[expression["operator"]](expression, labels)
        for expression in members(selector.get("matchExpressions"))
    )


#: The operators of a LabelSelector; the API server rejects others.
_OPERATORS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]]] = {
    "In": lambda expression, labels: labels.get(expression["key"]) in expression["values"],
    "NotIn": lambda expression, labels: labels.get(expression["key"]) not in expression["values"],
    "Exists": lambda expression, labels: expression["key"] in labels,
    "DoesNotExist": lambda expression, labels: expression["key"] not in labels,
}
