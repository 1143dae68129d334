"""From a Pydantic model to a structural schema, one stage a file."""

from pydantic import BaseModel

from crdgen.schema.descriptions import descriptions
from crdgen.schema.extensions import extensions
from crdgen.schema.generate import generate
from crdgen.schema.inline import inline
from crdgen.schema.keywords import keywords
from crdgen.schema.known import known
from crdgen.schema.order import order
from crdgen.schema.parents import parents
from crdgen.schema.policy import policy
from crdgen.schema.unions import unions
from crdgen.schema.walk import Schema, rewrite

__all__ = ["Schema", "structural_schema"]

# The order is the pipeline's: markers find nodes that already have one type, and act before texts are tidied.
_STAGES = (keywords, unions, known, extensions, parents, descriptions)


def structural_schema(model: type[BaseModel], path: str | None = None, *, limit: int | None = None) -> Schema:
    """Return the structural schema of what a model accepts.

    Args:
        model: Any Pydantic model.
        path: What errors call the model; its class name by default.
        limit: The most characters of a description; None keeps them, 0 drops them. Markers on fields may say otherwise.

    Raises:
        SchemaError: When no structural schema says what the model says.
    """
    at = path or model.__name__
    schema = inline(generate(model, at), at)
    for stage in _STAGES:
        schema = rewrite(schema, at, stage)
    return order(policy(schema, limit))
