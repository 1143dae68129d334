"""Services, documents and other things that people describe."""

from datetime import UTC, date, datetime, timedelta
from enum import Enum
from ipaddress import IPv4Interface, IPv6Network
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar
from uuid import UUID, uuid4

from pydantic import (
    AfterValidator,
    AliasChoices,
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FilePath,
    FiniteFloat,
    FutureDate,
    NegativeInt,
    PastDatetime,
    PlainSerializer,
    PrivateAttr,
    SecretBytes,
    StrictBool,
    StrictInt,
    StrictStr,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
    conint,
    conlist,
    constr,
)
from pydantic.json_schema import SkipJsonSchema

from tests.differential.zoo.plain.specimen import Specimen

K = TypeVar("K")
V = TypeVar("V", bound="Money | Quota")
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$", strip_whitespace=True)]


class Colour(Enum):
    RED = (255, 0, 0)


class Size(Enum):
    SMALL = 0.5
    LARGE = 2.0


class Money(BaseModel):
    amount: FiniteFloat
    currency: Literal["EUR", "USD"] = "EUR"


class Quota(BaseModel):
    limit: conint(ge=0, le=10)  # type: ignore[valid-type]
    names: conlist(constr(max_length=3), min_length=1)  # type: ignore[valid-type]


class Pair(BaseModel, Generic[K, V]):
    key: K
    value: V


class Wallet(BaseModel):
    first: Pair[str, Money]
    second: Pair[int, Quota] | None = None
    open: Pair = Pair(key=1, value=Money(amount=1))  # type: ignore[type-arg]


class Service(BaseModel):
    """A service.

    With a second paragraph.
    """

    VERSION: ClassVar[int] = 3
    _cache: dict[str, int] = PrivateAttr(default_factory=dict)

    name: Slug
    port: StrictInt = 80
    tls: StrictBool = False
    owner: StrictStr | None = None
    interface: IPv4Interface | None = None
    ranges: list[IPv6Network] = []
    home: AnyHttpUrl | None = None
    size: Size = Size.SMALL


class Release(BaseModel):
    version: Annotated[str, Field(pattern=r"^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?$")]
    on: Annotated[date, Field(ge=date(2020, 1, 1), lt=date(2100, 1, 1))]
    at: Annotated[datetime, Field(gt=datetime(2020, 1, 1, tzinfo=UTC))] | None = None
    notes: Annotated[str, Field(max_length=200)] = ""
    previous: "Release.Ref | None" = None

    class Ref(BaseModel):
        version: str


class Window(BaseModel):
    length: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(hours=1)
    pause: Annotated[timedelta, Field(ge=timedelta(0))] | None = None
    offset: timedelta = timedelta(0)


class Validated(BaseModel):
    even: Annotated[int, AfterValidator(lambda value: value)] = 2
    trimmed: Annotated[str, BeforeValidator(str.strip)] = ""
    wrapped: Annotated[int, WrapValidator(lambda value, handler: handler(value))] = 1
    written: Annotated[int, PlainSerializer(lambda value: value, return_type=int)] = 1
    described: Annotated[Any, WithJsonSchema({"type": ["string", "null"], "maxLength": 3})] = None
    hidden: int | SkipJsonSchema[None] = None


class Times(BaseModel):
    born: PastDatetime | None = None
    due: FutureDate | None = None
    low: NegativeInt = -1


class Files(BaseModel):
    source: FilePath | None = None
    token: SecretBytes | None = None
    mode: Annotated[int, Field(ge=0, le=0o777)] = 0o644


class Reserved(BaseModel):
    """Names that are words elsewhere."""

    model_config = ConfigDict(protected_namespaces=())

    kind: str = "k"
    metadata: dict[str, str] = {}
    namespace: str = "n"
    in_: int = Field(0, alias="in")
    dashed: int = Field(0, alias="x-dashed.name/y")
    items: list[int] = []
    properties: dict[str, int] = {}
    type: str = "t"
    ref: str = Field("", alias="$ref")
    default: int | None = None
    required: bool = False


class Narrow(BaseModel):
    model_config = ConfigDict(str_min_length=1, str_max_length=5, str_strip_whitespace=True)

    name: str
    other: str | None = None


class Deep(BaseModel):
    class Level(BaseModel):
        class Leaf(BaseModel):
            value: int = 1

        leaf: Leaf = Leaf()
        leaves: dict[str, list[Leaf]] = {"a": [Leaf(value=2)]}

    level: Level = Level()
    maybe: Level | None = None
    required: Level


class Copy(Deep):
    """The same with other defaults."""

    level: Deep.Level = Deep.Level(leaf=Deep.Level.Leaf(value=7))

    def copied(self) -> Self:
        return self


class Mapped(BaseModel):
    nested: dict[str, dict[str, list[int | None]]] = {}
    optional: dict[str, Money | None] = {}
    chosen: dict[Literal["a", "b"], Any] = {}
    pairs: list[dict[str, str]] = []
    matrix: list[list[float]] = [[1.0, 0.0], [0.0, 1.0]]


class Opted(BaseModel):
    needed: int | None
    needed_text: Literal["a", "b"] | None
    defaulted: int | None = 3
    absent: list[int] | None = None
    money: Money | None


class Tokens(BaseModel):
    id: UUID = Field(default_factory=uuid4)


class Aliased(BaseModel):
    name: str = Field(validation_alias=AliasChoices("name", "title"))


class Half(BaseModel):
    name: str = Field(serialization_alias="Name")


class Colours(BaseModel):
    colour: Colour


class Looking(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")

    password: Annotated[str, Field(pattern=r"^(?=.*\d).{8,}$")]


class Chosen(BaseModel):
    value: Money | dict[str, int]


class First(BaseModel):
    limit: int


class Second(BaseModel):
    limit: list[int]


class Clash(BaseModel):
    either: First | Second


class Person(BaseModel):
    friends: list["Person"] = []


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]

    name: str


class Record(BaseModel):
    row: tuple[int, str, float]


class Numbered(BaseModel):
    values: dict[int, Any]


class Volume(BaseModel):
    name: str
    size: Annotated[int, Field(ge=1)] | None = None


class Mount(BaseModel):
    volume: Volume | str
    path: Annotated[str, Field(pattern="^/")] = "/data"


class Step(BaseModel):
    run: str | list[str]
    env: dict[str, str | int | bool] = {}
    mounts: list[Mount] = []
    when: bool | str = True


class Matrix(BaseModel):
    axes: dict[str, list[str | int | float]]
    exclude: list[dict[str, str | int]] = []


class Pipeline(BaseModel):
    """Steps, one after the other or at the same time."""

    steps: list[Step | list[Step]]
    matrix: Matrix | None = None


class Timer(BaseModel):
    cron: Annotated[str, Field(pattern=r"^(\S+ ){4}\S+$")] | None = None
    every: Annotated[int, Field(gt=0)] | None = None


class Rule(BaseModel):
    action: Literal["allow", "deny"]
    ports: set[int] | Literal["*"] = "*"


class Firewall(BaseModel):
    rules: list[Rule] = [Rule(action="deny")]


MONEY = {"amount": 1.5}
LEVEL: dict[str, Any] = {"leaf": {"value": 3}}

SPECIMENS: tuple[Specimen, ...] = (
    Specimen(
        Money,
        takes=(MONEY, {"amount": 1, "currency": "USD"}),
        rejects=({}, {"amount": "x"}, {"amount": 1, "currency": "GBP"}),
    ),
    Specimen(
        Quota,
        takes=({"limit": 0, "names": ["abc"]},),
        rejects=({"limit": 11, "names": ["a"]}, {"limit": 1, "names": []}, {"limit": 1, "names": ["abcd"]}),
    ),
    Specimen(
        Wallet,
        takes=(
            {"first": {"key": "a", "value": MONEY}},
            {"first": {"key": "a", "value": MONEY}, "second": {"key": 1, "value": {"limit": 1, "names": ["a"]}}},
        ),
        rejects=({"first": {"key": 1, "value": MONEY}}, {"first": {"key": "a", "value": {}}}),
    ),
    Specimen(
        Service,
        takes=(
            {"name": "a-1"},
            {"name": "a", "size": 2, "interface": "10.0.0.1/24", "ranges": ["fd00::/8"], "home": "https://a.b/c"},
        ),
        rejects=(
            {"name": "A"},
            {"name": "a", "port": "80"},
            {"name": "a", "tls": 1},
            {"name": "a", "size": 1},
            {"name": "a", "interface": "x"},
            {"name": "a", "home": "ftp://a"},
        ),
    ),
    Specimen(
        Release,
        takes=(
            {"version": "v1.2.3-rc.1", "on": "2026-01-02", "at": "2026-01-02T00:00:00Z", "previous": {"version": "x"}},
        ),
        rejects=({"version": "1.2", "on": "2026-01-02"}, {"version": "1.2.3"}, {"version": "1.2.3", "on": "x"}),
        by_rule=(
            {"version": "1.2.3", "on": "2019-12-31"},
            {"version": "1.2.3", "on": "2100-01-01"},
            {"version": "1.2.3", "on": "2026-01-02", "at": "2020-01-01T00:00:00Z"},
        ),
    ),
    Specimen(
        Window,
        takes=({}, {"length": "PT1S", "pause": "PT0S", "offset": "-PT1H"}),
        rejects=({"length": "-PT1S"}, {"length": "PT0S"}, {"pause": "-P1D"}, {"offset": "soon"}),
    ),
    Specimen(Validated, takes=({}, {"even": 4, "described": "abc", "hidden": 3})),
    Specimen(Times, takes=({}, {"born": "2000-01-02T03:04:05Z", "low": -5}), rejects=({"low": 0}, {"born": "x"})),
    Specimen(Files, takes=({}, {"mode": 0}), rejects=({"mode": 512},)),
    Specimen(
        Reserved,
        takes=({}, {"in": 1, "x-dashed.name/y": 2, "$ref": "a", "properties": {"a": 1}, "items": [1], "type": "x"}),
        rejects=({"in": "a"}, {"properties": {"a": "b"}}, {"items": ["a"]}, {"$ref": 1}),
    ),
    Specimen(
        Narrow,
        takes=({"name": "a"}, {"name": "abcde", "other": None}),
        rejects=({"name": ""}, {"name": "abcdef"}, {"name": "a", "other": ""}),
    ),
    Specimen(
        Deep,
        takes=({"required": {}}, {"required": LEVEL, "maybe": {"leaves": {"b": [{}]}}}),
        rejects=({}, {"required": {"leaf": {"value": "x"}}}, {"required": {"leaves": {"b": [1]}}}),
    ),
    Specimen(Copy, takes=({"required": {}},), rejects=({},)),
    Specimen(
        Mapped,
        takes=({"nested": {"a": {"b": [1, None]}}, "optional": {"a": None, "b": MONEY}, "matrix": []},),
        rejects=({"nested": {"a": {"b": ["x"]}}}, {"optional": {"a": {}}}, {"pairs": [{"a": 1}]}),
    ),
    Specimen(
        Opted,
        takes=(
            {"needed": None, "needed_text": None, "money": None},
            {"needed": 1, "needed_text": "a", "money": MONEY, "defaulted": None, "absent": None},
        ),
        rejects=(
            {},
            {"needed": 1, "money": None},
            {"needed": 1, "needed_text": "c", "money": None},
            {"needed": 1, "needed_text": "a", "money": {}},
        ),
    ),
)

STEP = {"run": "make"}

SPECIMENS += (
    Specimen(
        Mount,
        takes=({"volume": "a"}, {"volume": {"name": "a", "size": 1}}),
        rejects=(
            {},
            {"volume": {}},
            {"volume": 1},
            {"volume": []},
            {"volume": {"name": "a", "size": 0}},
            {"volume": "a", "path": "b"},
        ),
    ),
    Specimen(
        Pipeline,
        takes=(
            {"steps": [STEP, [STEP, {"run": ["a", "b"], "env": {"a": 1, "b": True, "c": "d"}}]]},
            {"steps": [], "matrix": {"axes": {"os": ["a", 1, 2.5]}, "exclude": [{"os": "a"}]}},
        ),
        rejects=(
            {"steps": ["make"]},
            {"steps": [{}]},
            {"steps": [[{}]]},
            {"steps": [{"run": [1]}]},
            {"steps": [{"run": "a", "env": {"a": []}}]},
            {"steps": [], "matrix": {"axes": {"os": [[]]}}},
        ),
    ),
    Specimen(Timer, takes=({"cron": "* * * * *"}, {"every": 5}), rejects=({"cron": "daily"}, {"every": 0})),
    Specimen(
        Firewall,
        takes=({}, {"rules": [{"action": "allow", "ports": [80, 443]}, {"action": "deny", "ports": "*"}]}),
        rejects=(
            {"rules": [{"action": "allow", "ports": "all"}]},
            {"rules": [{"action": "allow", "ports": ["http"]}]},
            {"rules": [{}]},
        ),
    ),
)

REJECTED: tuple[tuple[type[BaseModel], str], ...] = (
    (Tokens, "Tokens.id: its default_factory may give another value each time"),
    (Aliased, "Aliased.name: the field is read from other places"),
    (Half, "Half.name: the field is read as `name` and written as `Name`"),
    (Colours, "Colours.colour: no JSON is read as the value"),
    (Looking, "Looking.password: the pattern '^(?=.*\\\\d).{8,}$' has look-ahead"),
    (Chosen, "Chosen.value: the variants of a union disagree on its additionalProperties"),
    (Clash, "Clash.either.limit: the variants of a union disagree on its type (integer, array)"),
    (Person, "Person.friends[]: the model Person contains itself"),
    (Extra, "Extra: named fields and typed extra fields exclude each other"),
    (Numbered, "Numbered.values: no rule can check the keys of a map whose values have no single type"),
    (Record, "Record.row: a tuple of different types cannot be a structural list"),
)
