"""What APIs send and take."""

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Required, TypeVar
from uuid import UUID

from pydantic import (
    UUID4,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    JsonValue,
    NaiveDatetime,
    RootModel,
    computed_field,
)
from pydantic.dataclasses import dataclass as checked_dataclass
from typing_extensions import TypeAliasType, TypedDict

from tests.differential.zoo.plain.specimen import Specimen

T = TypeVar("T")
UserId = NewType("UserId", int)
Tags = TypeAliasType("Tags", list[Annotated[str, Field(min_length=1)]])


class Address(BaseModel):
    street: str
    city: str
    zip_code: Annotated[str, Field(pattern=r"^\d{5}$", alias="zip")]


class User(BaseModel):
    id: UserId
    name: Annotated[str, Field(min_length=1, max_length=40)]
    born: date | None = None
    address: Address | None = None
    tags: Tags = []

    @computed_field  # type: ignore[prop-decorator]
    @property
    def label(self) -> str:
        return f"{self.name} ({self.id})"


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int = Field(ge=0)
    next: str | None = None


class UserPage(Page[User]):
    requested_by: UserId | None = None


class Names(RootModel[list[str]]):
    """Names, one after the other."""


class Lookup(RootModel[dict[str, Address]]):
    root: dict[str, Address] = {}


class Event(BaseModel):
    id: UUID
    at: AwareDatetime
    until: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    local: NaiveDatetime | None = None
    payload: JsonValue = None
    raw: Json[list[int]] | None = None


class Attachment(BaseModel):
    name: str
    content: Base64Bytes
    checksum: bytes = b""
    kind: UUID4 | None = None


class Point(NamedTuple):
    x: float
    y: float


class Shape(BaseModel):
    corners: list[Point]
    origin: Point = Point(0, 0)
    box: tuple[Point, Point] | None = None
    rgb: tuple[
        Annotated[int, Field(ge=0, le=255)], Annotated[int, Field(ge=0, le=255)], Annotated[int, Field(ge=0, le=255)]
    ] = (0, 0, 0)


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int
    cast: list[str]


class Book(TypedDict):
    title: str
    pages: NotRequired[int]


class Library(BaseModel):
    movies: list[Movie] = []
    books: dict[str, Book] = {}


@dataclass
class Position:
    lat: float
    lon: float = 0.0
    notes: list[str] = field(default_factory=list)


@checked_dataclass
class Trip:
    stops: list[Position]
    km: Annotated[float, Field(gt=0)] = 1.0


class Journey(BaseModel):
    start: Position = Position(lat=1.0)
    trips: list[Trip] = []


class Containers(BaseModel):
    queue: deque[int] = deque([1])
    words: Counter[str] = Counter({"a": 1})
    groups: defaultdict[str, list[int]] = defaultdict(list)
    ordered: OrderedDict[str, bool] = OrderedDict()
    sequence: Sequence[int] = ()
    mapping: Mapping[str, Mapping[str, int]] = {}
    anything: list = []  # type: ignore[type-arg]
    loose: dict = {}  # type: ignore[type-arg]
    pairs: set[tuple[int, int]] = set()


class Status(Enum):
    ON = "on"
    OFF = "off"
    UNKNOWN = 0


class Reading(BaseModel):
    status: Status = Status.UNKNOWN
    mode: Literal["auto", 1, 2] = "auto"
    flag: Literal[True, "maybe"] = True
    grade: Literal["a", "b", None] = "a"  # noqa: PYI061
    only: Literal[3] = 3
    maybe: list[Literal["x", "y"] | None] = []


class Anything(BaseModel):
    required: Any
    optional: Any = None
    preset: Any = {"a": None}
    values: dict[str, Any] = {}
    items: list[Any] = []
    thing: object = 1


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    count: int
    ratio: float = 1
    names: frozenset[str] = frozenset()


class Empty(BaseModel):
    """Nothing."""


class Inherited(User, Strict):
    extra: Empty = Empty()


class Scores(BaseModel):
    by_player: dict[int, float] = {}
    by_status: dict[Literal["won", "lost"], int] = {}
    by_day: dict[date, int] = {}
    by_code: dict[Annotated[str, Field(pattern="^[a-z]{2}$")], Address] = {}
    by_id: Annotated[dict[UUID, int], Field(max_length=10)] = {}


ADDRESS = {"street": "a", "city": "b", "zip": "12345"}
USER = {"id": 1, "name": "a"}
ID = "123e4567-e89b-42d3-a456-426614174000"
EVENT = {"id": ID, "at": "2026-01-02T03:04:05Z"}

SPECIMENS = (
    Specimen(Address, takes=(ADDRESS,), rejects=({}, {**ADDRESS, "zip": "1234"})),
    Specimen(
        User,
        takes=(USER, {**USER, "born": "2000-02-29", "address": ADDRESS, "tags": ["a"]}),
        rejects=(
            {},
            {"id": "x", "name": "a"},
            {**USER, "name": ""},
            {**USER, "tags": [""]},
            {**USER, "born": "2001-02-29"},
            {**USER, "address": {}},
        ),
    ),
    Specimen(
        Page[int],
        takes=({"items": [1], "total": 1},),
        rejects=({"items": ["x"], "total": 1}, {"items": [1], "total": -1}),
    ),
    Specimen(UserPage, takes=({"items": [USER], "total": 1},), rejects=({"items": [{}], "total": 1},)),
    Specimen(Names, takes=(["a"], []), rejects=([1], {})),
    Specimen(Lookup, takes=({"a": ADDRESS}, {}), rejects=({"a": {}}, {"a": 1})),
    Specimen(
        Event,
        takes=(EVENT, {**EVENT, "local": "2026-01-02T03:04:05", "payload": [{"a": None}, 1], "raw": "[1]"}),
        rejects=(
            {},
            {**EVENT, "id": "x"},
            {**EVENT, "at": "2026-01-02T03:04:05"},
            {**EVENT, "local": "2026-01-02T03:04:05Z"},
        ),
    ),
    Specimen(
        Attachment,
        takes=({"name": "a", "content": "YWJj"}, {"name": "a", "content": "YWJj", "checksum": "abc", "kind": ID}),
        rejects=({"name": "a", "content": "YWJ"}, {"name": "a", "content": "YWJj", "kind": "x"}),
    ),
    Specimen(
        Shape,
        takes=({"corners": [[1, 2.5]]}, {"corners": [], "box": [[0, 0], [1, 1]], "rgb": [1, 2, 255]}),
        rejects=(
            {"corners": [[1]]},
            {"corners": [[1, 2, 3]]},
            {"corners": [], "rgb": [1, 2]},
            {"corners": [], "rgb": [1, 2, 256]},
            {"corners": [], "box": [[0, 0]]},
        ),
    ),
    Specimen(
        Library,
        takes=({}, {"movies": [{"title": "a", "year": 1}], "books": {"x": {"title": "b"}}}),
        rejects=({"movies": [{}]}, {"books": {"x": {"pages": 1}}}, {"movies": [{"title": "a", "year": "old"}]}),
    ),
    Specimen(
        Journey,
        takes=({}, {"start": {"lat": 2}, "trips": [{"stops": [{"lat": 1, "notes": ["a"]}]}]}),
        rejects=({"start": {}}, {"trips": [{"stops": [], "km": 0}]}),
    ),
    Specimen(
        Containers,
        takes=(
            {},
            {
                "queue": [1],
                "words": {"a": 2},
                "groups": {"a": [1]},
                "mapping": {"a": {"b": 1}},
                "anything": [None, {"a": 1}],
                "loose": {"a": {"b": None}},
                "pairs": [[1, 2], [2, 1]],
            },
        ),
        rejects=({"queue": ["a"]}, {"words": {"a": "b"}}, {"mapping": {"a": 1}}, {"pairs": [[1]]}, {"loose": 1}),
    ),
    Specimen(
        Reading,
        takes=({}, {"status": "on", "mode": 2, "flag": "maybe", "grade": None, "maybe": ["x", None]}, {"status": 0}),
        rejects=(
            {"status": 1},
            {"mode": 3},
            {"mode": "manual"},
            {"flag": False},
            {"flag": "no"},
            {"grade": "c"},
            {"only": 4},
            {"maybe": ["z"]},
        ),
    ),
    Specimen(
        Anything,
        takes=(
            {"required": None},
            {"required": {"a": [None]}, "preset": None, "items": [None], "values": {"a": {"b": None}}},
        ),
        rejects=({}, {"required": 1, "values": []}),
    ),
    Specimen(
        Strict,
        takes=({"count": 1}, {"count": 1, "ratio": 2.5, "names": ["a"]}),
        rejects=({}, {"count": "1"}, {"count": 1, "ratio": "x"}),
    ),
    Specimen(Empty, takes=({},), rejects=([], "x")),
    Specimen(Inherited, takes=({**USER, "count": 1},), rejects=(USER, {"count": 1})),
    Specimen(
        Scores,
        takes=(
            {
                "by_player": {"1": 2.5},
                "by_status": {"won": 1},
                "by_day": {"2026-01-02": 1},
                "by_code": {"de": ADDRESS},
                "by_id": {ID: 1},
            },
        ),
        rejects=({"by_player": {"1": "x"}}, {"by_code": {"de": {}}}),
        by_rule=(
            {"by_player": {"a": 1}},
            {"by_status": {"drawn": 1}},
            {"by_code": {"DE": ADDRESS}},
        ),
    ),
)
