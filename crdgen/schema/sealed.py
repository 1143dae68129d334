"""Parts of schemas that are finished: no stage looks into them again.

A pod template has over a thousand nodes, the same in every CRD that has one. They go through the stages and the linter
once, where they are made; in all schemas around them they stay one piece, until these are finished too.
"""

from collections.abc import Mapping
from typing import Any


class Sealed(dict[str, Any]):
    """A schema node whose inside is complete, in order, and taken by the API server wherever it stands."""


def sealed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node with its children sealed. The node itself stays open: its field has words of its own."""
    result = dict(schema)
    if "properties" in result:
        result["properties"] = {name: Sealed(child) for name, child in result["properties"].items()}
    if isinstance(result.get("items"), dict):
        result["items"] = Sealed(result["items"])
    return result


def opened(value: Any) -> Any:
    """Return a copy without seals: plain JSON, which shares nothing with other schemas."""
    if isinstance(value, dict):
        return {key: opened(child) for key, child in value.items()}
    if isinstance(value, list):
        return [opened(item) for item in value]
    return value
