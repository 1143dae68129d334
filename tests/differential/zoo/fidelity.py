"""Where a CRD is stricter or looser than its model: a table by Python type, of what samples show.

`python -m tests.differential.zoo.fidelity` writes it into its page.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import (
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    NaiveDatetime,
    SecretStr,
    ValidationError,
    create_model,
)

from crdgen import Depth, Duration, Model, Quantity, structural_schema
from crdgen.docs.markdown import code, table
from crdgen.docs.types import type_of
from crdgen.evaluate import Evaluator

PAGE: Final = Path("docs/reference/crdgen-fidelity.md")
BEGIN: Final = "<!-- Below is written by `python -m tests.differential.zoo.fidelity`. -->\n\n"
END: Final = "\n\n<!-- Above is written by a program. -->"
UUID_TEXT: Final = "123e4567-e89b-42d3-a456-426614174000"


class Rank(IntEnum):
    LOW = 1
    HIGH = 2


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 1


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first_name: Annotated[str, Field(alias="firstName")]


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)
    a: Annotated[str, Field(min_length=1)]


class Encoded(BaseModel):
    model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")
    a: bytes


class Tree(BaseModel):
    size: int
    under: Annotated[list["Tree"], Depth(1)] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tail: str


class Exact(Model):
    count: int


def even(value: Any) -> Any:
    if value % 2:
        raise ValueError("must be even")
    return value


@dataclass(frozen=True)
class Type:
    """A type of a field, and JSON that its model or its CRD may take.

    Attributes:
        name: How the page calls it; code stands between backticks.
        annotation: The type.
        samples: JSON of which one of the two, or both, take or reject; the page shows where they differ.
        default: Of the field; without, it is required.
        advice: What to do about a difference.
    """

    name: str
    annotation: Any
    samples: tuple[Any, ...]
    default: Any = ...
    advice: str = ""

    @cached_property
    def model(self) -> type[BaseModel]:
        """A model with the one field, `value`."""
        model: type[BaseModel] = create_model("Spec", value=(self.annotation, self.default))
        return model

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of the model."""
        return structural_schema(self.model)

    @cached_property
    def evaluator(self) -> Evaluator:
        """An evaluator of objects with the model as their spec."""
        return Evaluator({"type": "object", "properties": {"spec": self.schema}})

    def taken_by_model(self, sample: Any) -> bool:
        """Tell whether the model takes the sample, as JSON."""
        try:
            self.model.model_validate_json(json.dumps({"value": sample}))
        except ValidationError:
            return False
        return True

    def taken_by_crd(self, sample: Any) -> bool:
        """Tell whether the API server would take it, after pruning and defaulting."""
        stored = self.evaluator.default(self.evaluator.prune({"spec": {"value": sample}}))
        return not self.evaluator.validate(stored)

    @cached_property
    def stricter(self) -> list[Any]:
        """The samples that only the model takes."""
        return [sample for sample in self.samples if self.taken_by_model(sample) and not self.taken_by_crd(sample)]

    @cached_property
    def looser(self) -> list[Any]:
        """The samples that only the CRD takes."""
        return [sample for sample in self.samples if self.taken_by_crd(sample) and not self.taken_by_model(sample)]

    def row(self) -> tuple[str, ...]:
        """Return the type's row of the table."""
        shown = re.sub(r"`([^`]+)`", lambda found: code(found[1]), self.name)
        return (
            shown,
            type_of(self.schema["properties"]["value"]),
            _listed(self.stricter),
            _listed(self.looser),
            self.advice,
        )


def _listed(samples: list[Any]) -> str:
    return ", ".join(code(json.dumps(sample, ensure_ascii=False)) for sample in samples)


STRICT = "`crdgen.Model` is as strict as the CRD"
RULE = "say it as a `ValidationRule`, or in a webhook"

TYPES: Final = (
    Type("`str`", str, ("a", "", 1, None)),
    Type("`int`", int, (1, 1.0, "1", True, 1.5, 2**63, None), advice=STRICT),
    Type("`float`", float, (1, 1.5, "1.5", True, None), advice=STRICT),
    Type("`bool`", bool, (True, "true", "yes", 1, 0, None), advice=STRICT),
    Type("`int` in a `crdgen.Model`", Exact, ({"count": 1}, {"count": 1.0}, {"count": "1"}, {"count": True})),
    Type(
        "`Annotated[int, Field(ge=-(2**63), lt=2**63)]`",
        Annotated[int, Field(ge=-(2**63), lt=2**63)],
        (0, 2**63 - 1, -(2**63), 2**63),
    ),
    Type(
        "`Annotated[int, Field(gt=0, le=10**18 - 1)]`",
        Annotated[int, Field(gt=0, le=10**18 - 1)],
        (0, 1, 10**18 - 1, 10**18),
    ),
    Type(
        "`Field(ge=0, lt=2**64)`",
        Annotated[int, Field(ge=0, lt=2**64)],
        (0, 2**63 - 1, 2**63, -1),
        advice="an integer has 64 bits, one of them its sign: use text with a pattern",
    ),
    Type("`int = 3`", int, (1, None), 3, "where the CRD has a default it takes the place of null"),
    Type("`int | None`", int | None, (1, None)),
    Type("`int | None = None`", int | None, (1, None), None),
    Type("`Literal['a', 1]`", Literal["a", 1], ("a", 1, "1", "b")),
    Type("`IntEnum`", Rank, (1, "1", 1.0, True, 3), advice=STRICT),
    Type(
        r"`Field(pattern=r'^\d+$')`",
        Annotated[str, Field(pattern=r"^\d+$")],
        ("1", "\u0661", "1\n"),
        advice=r"of Unicode, `\d`, `\w` and `\s` mean ASCII in a CRD",
    ),
    Type(
        "`Field(multiple_of=0.5)`",
        Annotated[float, Field(multiple_of=0.5)],
        (0.5, 1, 1.5, 0.3),
        advice="of a step below 1 the API server takes no integer: use a `ValidationRule`",
    ),
    Type(
        "`str`, stripped, `min_length=1`",
        Stripped,
        ({"a": "x"}, {"a": " "}),
        advice="a CRD changes no texts; give a `pattern`",
    ),
    Type("a validator", Annotated[int, BeforeValidator(even)], (2, 3), advice=RULE),
    Type(
        "`datetime`",
        datetime,
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02", 1767323045),
        advice="give times a zone",
    ),
    Type("`AwareDatetime`", AwareDatetime, ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z")),
    Type("`NaiveDatetime`", NaiveDatetime, ("2026-01-02T03:04:05", "2026-01-02T03:04:05Z", "2026-02-30T03:04:05")),
    Type("`date`", date, ("2026-01-02", "2026-02-30", "2026-01-02T00:00:00", 1767312000)),
    Type("`time`", time, ("03:04:05", "03:04", "25:00", 60)),
    Type(
        "`timedelta`",
        timedelta,
        ("PT30S", "1 day, 0:00:30", 30, "30s", "P", "P1Y"),
        advice="`crdgen.Duration` writes `30s`",
    ),
    Type("`crdgen.Duration`", Duration, ("30s", "1h30m", "PT30S", 30)),
    Type("`Decimal`", Decimal, (1, 1.5, "1.5", "1e3", "abc", "NaN", True)),
    Type(
        "`Field(max_digits=5, decimal_places=2)` of a `Decimal`",
        Annotated[Decimal, Field(max_digits=5, decimal_places=2)],
        ("1.23", "1.234", 1.23, 1.234, 1000, "1000", "1e2"),
        advice="check digits in a webhook",
    ),
    Type("`Field(ge=0)` of a `Decimal`", Annotated[Decimal, Field(ge=0)], ("1.5", "-1", -1, "1e2")),
    Type("`crdgen.Quantity`", Quantity, (1, "500m", "1Gi", "x")),
    Type("`bytes`", bytes, ("abc", "ä", 1)),
    Type(
        "`Base64Bytes`", Base64Bytes, ("YWJj", "YWJ", "!", ""), advice="`byte` takes no empty text: leave the field out"
    ),
    Type(
        "`bytes`, with `val_json_bytes='base64'`",
        Encoded,
        ({"a": "-_8="}, {"a": "+/8"}, {"a": ""}, {"a": "-/8="}, {"a": "A"}),
    ),
    Type("`SecretStr`", SecretStr, ("a", 1)),
    Type("`UUID`", UUID, (UUID_TEXT, UUID_TEXT.replace("-", ""), f"urn:uuid:{UUID_TEXT}", f"{{{UUID_TEXT}}}", "x")),
    Type("`IPv4Address`", IPv4Address, ("10.0.0.1", "10.0.0.256", 167772161, "::1")),
    Type("`IPv4Network`", IPv4Network, ("10.0.0.0/8", "10.0.0.1/8", "10.0.0.1", "10.0.0.0/255.0.0.0", "::/0")),
    Type("`AnyUrl`", AnyUrl, ("https://a.example", "/a", "a.example", "https://")),
    Type("`HttpUrl`", HttpUrl, ("https://a.example", "/a", "ftp://a.example", "https://")),
    Type("`list[int]`", list[int], ([1, 1], [], ["1"], [None], {})),
    Type("`set[str]`", set[str], (["a"], ["a", "a"]), advice="a list whose items are there twice is rejected"),
    Type("`tuple[int, int]`", tuple[int, int], ([1, 2], [1], [1, 2, 3])),
    Type("`dict[str, int]`", dict[str, int], ({"a": 1}, {"a": None}, {"a": "1"}, [])),
    Type("`dict[int, str]`", dict[int, str], ({"1": "a"}, {"a": "a"}, {"1.0": "a"}, {"1" * 20: "a"})),
    Type("`dict[Literal['a'], int]`", dict[Literal["a"], int], ({"a": 1}, {"b": 1})),
    Type("`int | str`", int | str, (1, "a", "1", 1.5, True, None), advice=STRICT),
    Type("`int | bool`", int | bool, (1, True, "1", 1.5)),
    Type("`str | list[str]`", str | list[str], ("a", ["a"], 1, [1])),
    Type("`Any`", Any, (1, None, {"a": [None]})),
    Type("a model", Open, ({}, {"a": 2, "b": 1}, [])),
    Type(
        "a model with `extra='forbid'`",
        Closed,
        ({"a": 1}, {"a": 1, "b": 1}),
        advice="a CRD drops unknown fields; `kubectl` rejects them (`--validate=strict`)",
    ),
    Type(
        "a model with `populate_by_name`",
        Named,
        ({"firstName": "a"}, {"first_name": "a"}),
        advice="a field has one name in a CRD",
    ),
    Type(
        "`Cat | Dog`, with `discriminator='kind'`",
        Annotated[Cat | Dog, Field(discriminator="kind")],
        ({"kind": "cat", "lives": 9}, {"kind": "cat"}, {"kind": "dog", "tail": "a", "lives": 9}, {"kind": "cow"}),
    ),
    Type(
        "a model within itself, `Depth(1)`",
        Tree,
        ({"size": 1, "under": [{"size": 2}]}, {"size": 1, "under": [{}]}),
        advice="below the depth anything is taken: declare more",
    ),
)
"""The types of the page."""


def written() -> str:
    """Return the table."""
    head = ("in Python", "in the CRD", "the CRD rejects", "the CRD takes", "what to do")
    return table(head, [each.row() for each in TYPES])


def parts(text: str) -> Iterator[str]:
    """Yield the text of the page before the table, the table, and what follows."""
    before, rest = text.split(BEGIN)
    between, after = rest.split(END)
    yield from (before, between, after)


def main() -> None:
    """Write the table into its page."""
    before, _, after = parts(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{before}{BEGIN}{written()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
