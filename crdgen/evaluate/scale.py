"""What the scale subresource wants of an object (k8s.io/apiextensions-apiserver, registry/customresource/validator.go).

The schema may say more: this is asked of every object of a kind that can be scaled, at each write.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.evaluate.violation import Reason, Violation
from crdgen.integers import RANGES

_MOST: Final = RANGES["int32"][1]
_ABSENT: Final = object()


def scale(subresources: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the fields that scaling reads and writes."""
    paths = subresources.get("scale") or {}
    for name in ("specReplicasPath", "statusReplicasPath"):
        if not (path := paths.get(name)):
            continue
        steps = tuple(path.removeprefix(".").split("."))
        replicas = _at(written, steps)
        whole = isinstance(replicas, int) and not isinstance(replicas, bool)
        if replicas is not _ABSENT and not (whole and 0 <= replicas <= _MOST):
            yield Violation(steps, Reason.INVALID, replicas, f"must be an integer from 0 to {_MOST}, for scaling")
    if path := paths.get("labelSelectorPath"):
        steps = tuple(path.removeprefix(".").split("."))
        selector = _at(written, steps)
        if selector is not _ABSENT and not isinstance(selector, str):
            yield Violation(steps, Reason.INVALID, selector, "must be a string, for scaling")


def _at(value: Any, steps: tuple[str, ...]) -> Any:
    """Return what stands at the path: nothing, where a part of it is not there; what is in the way, if no object."""
    for step in steps:
        if not isinstance(value, dict):
            return value
        if step not in value:
            return _ABSENT
        value = value[step]
    return value
