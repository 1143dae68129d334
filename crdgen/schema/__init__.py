"""From a Pydantic model to a structural schema, one stage a file.

The stages `generate` and `inline` take the model as a whole. The next ones take one node each, and run for the children
before their parents: a union finds members that are complete. `policy`, `tidy` and `order` take the whole again.
"""

from functools import reduce
from typing import Final

from pydantic import BaseModel

from crdgen.schema.bounds import bounds
from crdgen.schema.defaults import defaults
from crdgen.schema.descriptions import descriptions
from crdgen.schema.extensions import extensions
from crdgen.schema.generate import generate
from crdgen.schema.inline import inline
from crdgen.schema.keys import keys
from crdgen.schema.keywords import keywords
from crdgen.schema.known import known
from crdgen.schema.order import order
from crdgen.schema.parents import parents
from crdgen.schema.policy import policy
from crdgen.schema.ranges import ranges
from crdgen.schema.tidy import tidy
from crdgen.schema.unions import unions
from crdgen.schema.walk import Schema, Stage, rewrite
from crdgen.sealed import opened

__all__ = ["STAGES", "Schema", "assembled", "structural_schema"]

# The order is the pipeline's: markers find nodes that already have one type, defaults are held against what the markers
# made of it, and texts are tidied last.
STAGES: Final[tuple[Stage, ...]] = (
    *(keywords, unions, known, keys, extensions, bounds, ranges, parents, defaults, descriptions),
)


def structural_schema(
    model: type[BaseModel],
    path: str | None = None,
    *,
    limit: int | None = None,
    depth: int | None = None,
    computed: bool = False,
) -> Schema:
    """Return the structural schema of what a model accepts.

    It is what the model accepts as JSON, strictly: the coercions that Pydantic also makes (`"3"` for an integer) are no
    part of it, and neither is what validators written in Python refuse.

    Args:
        model: Any Pydantic model; dataclasses and TypedDicts are taken too.
        path: What errors call the model; its class name by default.
        limit: The most characters of a description; None keeps them, 0 drops them. Markers on fields may say otherwise.
        depth: How often a recursive model is written into itself before it is cut, and anything is taken below; None
            refuses recursive models, except where the marker `Depth` stands on the field.
        computed: Whether computed fields are declared too, as a status needs it, which is written from its model. They
            are not required.

    Raises:
        SchemaError: When no structural schema says what the model says.
    """
    at = path or str(getattr(model, "__name__", model))
    schema: Schema = opened(assembled(model, at, limit=limit, depth=depth, written=at if computed else None))
    return schema


def assembled(
    model: type[BaseModel],
    path: str,
    *,
    limit: int | None = None,
    depth: int | None = None,
    written: str | None = None,
) -> Schema:
    """Return the same, in which what is known to be finished is still sealed: for who builds it into another schema.

    Only `written` is new: the path of the part of the schema in which computed fields are declared too.
    """
    inlined = inline(generate(model, path), path, depth, written=written)
    whole = rewrite(inlined, path, _each)
    return order(tidy(policy(whole, limit), path))


def _each(schema: Schema, path: str) -> Schema:
    """Run all stages of one node."""
    return reduce(lambda node, stage: stage(node, path), STAGES, schema)
