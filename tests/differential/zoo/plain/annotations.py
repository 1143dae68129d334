"""Models that use what Python's typing has: generics, aliases of types, named tuples, enums of all kinds."""

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag, StrEnum, auto
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, NewType, Required, TypeVar
from uuid import UUID

from annotated_types import Ge, Interval, Len, MultipleOf
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    HttpUrl,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
    StringConstraints,
    Tag,
    conbytes,
    condecimal,
    confrozenset,
    conint,
    conlist,
    constr,
    field_validator,
)
from pydantic import dataclasses as checked
from pydantic.alias_generators import to_pascal
from typing_extensions import TypeAliasType, TypedDict

from tests.differential.zoo.plain.specimen import Specimen

T = TypeVar("T")
K = TypeVar("K")


class Batch(BaseModel, Generic[T]):
    items: list[T]
    next_token: str | None = None


class Shelf(BaseModel, Generic[K, T]):
    key: K
    by_name: dict[str, Batch[T]] = {}


class Catalogue(BaseModel):
    """Generic models in generic models."""

    shelf: Shelf[UUID, Batch[int]]
    covers: Batch[Batch[HttpUrl]] | None = None


class Medium(StrEnum):
    EMAIL = "email"
    MAIL = "email"
    CHAT = "chat"
    HOOK = "hook"


class ByEmail(BaseModel):
    medium: Literal[Medium.EMAIL] = Medium.EMAIL
    to: list[str] = Field(min_length=1)


class ByChat(BaseModel):
    medium: Literal[Medium.CHAT] = Medium.CHAT
    room: str = "#general"


class ByHook(BaseModel):
    medium: Literal[Medium.HOOK]
    url: HttpUrl
    retry: int = 3


Alert = Annotated[ByEmail | ByChat | ByHook, Field(discriminator="medium")]


class Alerting(BaseModel):
    """A tagged union as a default, in a list, in a map, and beside nothing."""

    usual: Alert = ByChat()
    others: list[Alert] = []
    silenced: set[Medium] = {Medium.MAIL}
    by_medium: dict[Medium, Alert] = {}
    last: Alert | None = None


Slug = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$"), Field(max_length=20)]
Slugs = Annotated[list[Slug], Len(1, 3)]
Percent = NewType("Percent", float)
Handle = NewType("Handle", str)


class Article(BaseModel):
    """Constraints in several layers."""

    slug: Slug
    also_at: Slugs = ["home"]
    author: Handle
    progress: Annotated[Percent, Interval(ge=0, le=100)] = Percent(0)
    columns: Annotated[Annotated[int, Ge(2)], MultipleOf(2)] = 2
    words: Annotated[int | None, Field(ge=0)] = None
    rating: Annotated[int, Field(ge=1, le=5)] | None = None


Span = TypeAliasType("Span", tuple[T, T], type_params=(T,))
Weights = TypeAliasType("Weights", Annotated[dict[str, float], Field(min_length=1)])


class Spot(NamedTuple):
    x: float
    y: float = 0.0


class Route(BaseModel):
    """Tuples of one type, with names and without, and aliases of types."""

    span: Span[int]
    weights: Weights = {"a": 0.5}
    start: Spot
    stops: list[Spot] = [Spot(1, 2)]
    legs: tuple[Span[float], ...] = ()


class Urgency(IntEnum):
    LOW = auto()
    HIGH = auto()


class Share(Enum):
    ONE = 0.5
    TWO = 1


class Odd(Enum):
    COUNT = 1
    WORD = "some"
    NO = False


class Ticket(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, populate_by_name=True, use_enum_values=True)

    urgency: Urgency = Urgency.LOW
    share: Share = Share.ONE
    amount: Odd = Odd.WORD
    seen_by: dict[Urgency, list[Share]] = {}


class Vault(BaseModel):
    home: Path = Path("/home/me")
    mounts: list[PurePosixPath] = []
    password: SecretStr
    salt: SecretBytes | None = None
    sync_every: timedelta = timedelta(minutes=5)


class Parcel(BaseModel):
    """The old functions of constraints."""

    code: constr(min_length=1, max_length=3, pattern="^x")  # type: ignore[valid-type]
    sizes: conlist(int, min_length=1, max_length=2)  # type: ignore[valid-type]
    count: conint(gt=0, lt=10) = 3  # type: ignore[valid-type]
    price: condecimal(max_digits=5, decimal_places=2) = Decimal("1.50")  # type: ignore[valid-type]
    marks: confrozenset(int, max_length=2) = frozenset({1})  # type: ignore[valid-type]
    tags: frozenset[str] = frozenset({"b", "a"})
    stamp: conbytes(max_length=3) = b"ab"  # type: ignore[valid-type]


class Switches(BaseModel):
    """Literals with None, and of several types."""

    mode: Literal["fast", None] = None  # noqa: PYI061 - people write both
    level: Literal[1, 2, None] = 2  # noqa: PYI061
    only: Literal[True] | None = None
    tint: Literal[Medium.CHAT, "none"] = "none"
    either: Literal["auto", 0] = "auto"


class Clause(BaseModel):
    name: str
    weight: float = 1


class Policy(BaseModel):
    """Unions in lists in optionals."""

    parts: list[int | list[str] | Clause] | None = None
    depth: list[list[list[int]] | None] = []
    limits: dict[str, int | list[str | float] | None] = {}
    when: Annotated[str | int, Field(union_mode="left_to_right")] = "always"


class Account(BaseModel):
    """Private attributes, class variables and validators are no fields."""

    KIND: ClassVar[str] = "account"
    _cache: dict[str, int] = PrivateAttr(default_factory=dict)

    name: str
    quota: int = Field(default=10, ge=0, frozen=True)

    @field_validator("name", mode="before")
    @classmethod
    def stripped(cls, name: Any) -> Any:
        return name.strip() if isinstance(name, str) else name


@dataclass(frozen=True, slots=True)
class Window:
    start: int
    _: KW_ONLY
    size: int = 1
    tags: list[str] = field(default_factory=lambda: ["x"])


@checked.dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Pool:
    least: int = 0
    windows: list[Window] = Field(default_factory=list, max_length=4)


class Extras(TypedDict, total=False):
    owner: Required[str]
    cost: float


class Plan(BaseModel):
    """Dataclasses and typed dictionaries inside of a model."""

    first: Window = Window(1)
    pools: dict[str, Pool] = {}
    spare: Pool = Pool(least=2)
    extras: Extras = {"owner": "me"}


class Labels(RootModel[dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], str]]):
    pass


class Words(RootModel[list[str]]):
    root: list[str] = ["a"]


class Index(BaseModel):
    """Root models in maps, and as defaults."""

    labels: Labels = Labels({"a": "b"})
    by_letter: dict[str, Words] = {}
    words: Words = Words()


class Collections(BaseModel):
    steps: Sequence[int] = ()
    scores: Mapping[str, float] = {}
    recent: deque[int] = deque(maxlen=3)
    groups: defaultdict[str, list[int]] = defaultdict(list)
    ordered: OrderedDict[str, int] = OrderedDict()
    seen: Counter[str] = Counter()
    names: tuple[str, ...] = ()


class Keywords(BaseModel):
    """Fields that are called as keywords of schemas are."""

    type: str = "x"
    properties: dict[str, int] = {"required": 1}
    items: list[str] = ["b", "a"]
    required: list[str] = ["b", "a"]
    default: Clause | None = None
    enum: list[int] = [3, 1]
    allOf: list[Clause] = []  # noqa: N815
    format: str = "int32"
    description: str = "d"
    nullable: bool = False
    reference: str = Field("#/x", alias="$ref")
    definitions: Clause | None = Field(None, alias="$defs")
    negated: int = Field(1, alias="not")
    anything: Any = {"required": ["b", "a"], "type": "null"}


def which(given: Any) -> str:
    name = given.get("kind") if isinstance(given, dict) else getattr(given, "kind", "")
    return "round" if name == "disc" else "square"


class Disc(BaseModel):
    kind: Literal["disc"]
    radius: float


class Tile(BaseModel):
    kind: Literal["tile"]
    side: float


class Drawing(BaseModel):
    """A union that a function tells apart."""

    shape: Annotated[Annotated[Disc, Tag("round")] | Annotated[Tile, Tag("square")], Discriminator(which)]


class Rights(IntFlag):
    READ = 4
    WRITE = 2


class Grant(BaseModel):
    rights: Rights = Rights.READ


class Coordinates(NamedTuple):
    name: str
    height: float


class Peak(BaseModel):
    at: Coordinates


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | float | bool | None")


class Document(BaseModel):
    content: Json


class Corners(Enum):
    NORTH = (0, 1)
    SOUTH = (0, -1)


class Compass(BaseModel):
    heading: Corners


_UUID = "123e4567-e89b-42d3-a456-426614174000"

SPECIMENS: tuple[Specimen, ...] = (
    Specimen(
        Catalogue,
        takes=(
            {"shelf": {"key": _UUID}},
            {"shelf": {"key": _UUID, "by_name": {"a": {"items": [{"items": [1]}], "next_token": "b"}}}},
            {"shelf": {"key": _UUID}, "covers": {"items": [{"items": ["https://a.example/b"]}]}},
        ),
        rejects=(
            {"shelf": {"key": "x"}},
            {"shelf": {"key": _UUID, "by_name": {"a": {"items": [{"items": ["x"]}]}}}},
            {"shelf": {"key": _UUID}, "covers": {"items": [{}]}},
        ),
    ),
    Specimen(
        Alerting,
        takes=(
            {},
            {"usual": {"medium": "email", "to": ["a"]}, "silenced": []},
            {"others": [{"medium": "chat"}, {"medium": "hook", "url": "https://a.example"}]},
            {"by_medium": {"chat": {"medium": "chat", "room": "#a"}}},
        ),
        rejects=(
            {"usual": {"medium": "email"}},
            {"usual": {"medium": "email", "to": []}},
            {"usual": {"room": "#a"}},
            {"others": [{"medium": "pigeon"}]},
            {"last": {"medium": "hook"}},
            {"silenced": ["post"]},
        ),
        by_rule=({"by_medium": {"pigeon": {"medium": "chat"}}},),
    ),
    Specimen(
        Article,
        takes=(
            {"slug": "a-b", "author": "me"},
            {"slug": "a", "author": "me", "progress": 1.5, "columns": 4, "rating": 5},
        ),
        rejects=(
            {"slug": "A", "author": "me"},
            {"slug": "a" * 21, "author": "me"},
            {"slug": "a", "author": "me", "also_at": []},
            {"slug": "a", "author": "me", "also_at": ["a", "b", "C"]},
            {"slug": "a", "author": "me", "columns": 3},
            {"slug": "a", "author": "me", "columns": 0},
            {"slug": "a", "author": "me", "words": -1},
            {"slug": "a", "author": "me", "rating": 6},
        ),
    ),
    Specimen(
        Route,
        takes=({"span": [1, 2], "start": [1.5, 2]}, {"span": [1, 2], "start": [1], "legs": [[1, 2], [2.5, 3]]}),
        rejects=(
            {"span": [1], "start": [1, 2]},
            {"span": [1, 2], "start": []},
            {"span": [1, 2], "start": [1, 2, 3]},
            {"span": [1, 2], "start": [1, 2], "weights": {}},
            {"span": [1, 2], "start": [1, 2], "legs": [[1]]},
        ),
    ),
    Specimen(
        Ticket,
        takes=({}, {"Urgency": 2, "Share": 1, "Amount": False}, {"Amount": 1, "SeenBy": {"1": [0.5]}}),
        rejects=({"Urgency": 3}, {"Share": 2}, {"Amount": "none"}, {"SeenBy": {"1": [2]}}),
        by_rule=({"SeenBy": {"3": []}},),
    ),
    Specimen(
        Vault,
        takes=({"password": "a"}, {"password": "a", "home": "~", "mounts": ["/a"], "sync_every": "PT30S"}),
        rejects=({}, {"password": 1}, {"password": "a", "sync_every": "soon"}, {"password": "a", "mounts": [1]}),
    ),
    Specimen(
        Parcel,
        takes=({"code": "x", "sizes": [1]}, {"code": "xyz", "sizes": [1, 2], "price": "99.99", "marks": [1, 2]}),
        rejects=(
            {"code": "y", "sizes": [1]},
            {"code": "x", "sizes": []},
            {"code": "x", "sizes": [1], "count": 10},
            {"code": "x", "sizes": [1], "marks": [1, 2, 3]},
            {"code": "x", "sizes": [1], "stamp": "abcd"},
        ),
    ),
    Specimen(
        Switches,
        takes=({}, {"mode": "fast", "level": 1, "only": True}, {"tint": "chat", "either": 0}),
        rejects=({"mode": "slow"}, {"level": 3}, {"only": False}, {"tint": "email"}, {"either": 1}),
    ),
    Specimen(
        Policy,
        takes=({}, {"parts": [1, ["a"], {"name": "b"}]}, {"depth": [[[1]], []], "limits": {"a": 1, "b": ["c", 0.5]}}),
        rejects=({"parts": [{}]}, {"parts": [[{}]]}, {"depth": [[1]]}, {"limits": {"a": {}}}, {"when": []}),
    ),
    Specimen(Account, takes=({"name": "a"}, {"name": "a", "quota": 0}), rejects=({}, {"name": "a", "quota": -1})),
    Specimen(
        Plan,
        takes=(
            {},
            {"first": {"start": 2}, "pools": {"a": {"windows": [{"start": 1, "size": 2}]}}},
            {"extras": {"owner": "a", "cost": 0.5}},
        ),
        rejects=(
            {"first": {}},
            {"pools": {"a": {"windows": [{}]}}},
            {"pools": {"a": {"windows": [{"start": 1}] * 5}}},
            {"extras": {"cost": 1}},
        ),
    ),
    Specimen(
        Index,
        takes=({}, {"labels": {"x": "y"}, "by_letter": {"a": ["b"]}, "words": []}),
        rejects=({"labels": []}, {"by_letter": {"a": [1]}}, {"words": "a"}),
        by_rule=({"labels": {"X": "y"}},),
    ),
    Specimen(
        Collections,
        takes=({}, {"steps": [1], "scores": {"a": 1}, "groups": {"a": [1]}, "seen": {"a": 2}, "names": ["a"]}),
        rejects=({"steps": ["x"]}, {"scores": {"a": "x"}}, {"groups": {"a": 1}}, {"seen": {"a": 0.5}}, {"names": "a"}),
    ),
    Specimen(
        Keywords,
        takes=(
            {},
            {"type": "y", "properties": {"a": 1}, "default": {"name": "a"}, "$ref": "b", "not": 2, "anything": []},
        ),
        rejects=({"type": 1}, {"default": {}}, {"allOf": [{}]}, {"$defs": {"name": 1}}, {"enum": "a"}),
    ),
    Specimen(
        Drawing,
        takes=({"shape": {"kind": "disc", "radius": 1}}, {"shape": {"kind": "tile", "side": 0.5}}),
        rejects=({"shape": {"kind": "disc"}}, {"shape": {"kind": "cone", "side": 1}}, {}),
    ),
)

REJECTED: tuple[tuple[type[BaseModel], str], ...] = (
    (Grant, "Grant.rights: Rights is a Flag"),
    (Peak, "Peak.at: a tuple of different types"),
    (Document, "Document.content.*: the model Json contains itself"),
    (Compass, "Compass.heading: no JSON is read as the value (0, 1) of the enum Corners"),
)
"""Models that no structural schema can say, and how the error begins."""
