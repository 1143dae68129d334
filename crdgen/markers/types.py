"""Types that are Kubernetes' own: their schema is given, not derived."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic_core import PydanticCustomError

from crdgen.formats import FORMATS
from crdgen.generate.inline import OWN
from crdgen.markers.marker import Marker
from crdgen.quantities import QUANTITY_EXAMPLE, QUANTITY_SCHEMA, is_quantity
from crdgen.schema import INT_OR_STRING, Schema


@dataclass(frozen=True, eq=False)
class Replace(Marker):
    """The field's schema is this one, whatever its Python type; description, default and nullability stay the field's.

    Attributes:
        schema: The structural schema, or a function that loads it when a schema is first asked for.
        accepts: Tells whether a value, which already has the Python type, fits the schema.
        wanted: What error messages ask for.
    """

    schema: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    accepts: Callable[[Any], bool] | None = None
    wanted: str = "a valid value"

    replaces: ClassVar[bool] = True

    def apply(self, schema: Schema, path: str) -> Schema:  # noqa: ARG002
        """Return the given schema with the field's own words."""
        given = self.schema() if callable(self.schema) else self.schema
        return {**given, **{key: value for key, value in schema.items() if key in OWN}}

    def check(self, value: Any) -> Any:
        """Refuse what the schema would refuse."""
        if value is not None and self.accepts is not None and not self.accepts(value):
            raise PydanticCustomError("kubernetes_type", "must be {wanted}", {"wanted": self.wanted})
        return value


IntOrString: TypeAlias = Annotated[int | str, Replace({INT_OR_STRING: True})]
"""An integer or a string, such as a port or a percentage."""

Quantity: TypeAlias = Annotated[int | str, Replace(QUANTITY_SCHEMA, accepts=is_quantity, wanted=QUANTITY_EXAMPLE)]
"""An amount with an SI or binary suffix, as Kubernetes parses it."""

Time: TypeAlias = Annotated[
    str,
    Replace(
        {"type": "string", "format": "date-time"}, accepts=FORMATS["date-time"], wanted="an RFC 3339 date and time"
    ),
]
"""A moment, as RFC 3339 writes it."""
