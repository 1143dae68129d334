"""What is known of a model of the zoo."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True)
class Specimen:
    """A plain model, with JSON that it takes and JSON that it rejects.

    Attributes:
        model: Written with no Kubernetes in mind.
        takes: Each is taken by the model and by the schema.
        rejects: Each is rejected by both.
        by_rule: Each is rejected by both, and by the schema through a CEL rule.
    """

    model: type[BaseModel]
    takes: tuple[Any, ...]
    rejects: tuple[Any, ...] = ()
    by_rule: tuple[Any, ...] = ()
