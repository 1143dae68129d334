"""Settings of applications."""

import logging
from datetime import time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum, auto
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AnyUrl,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    HttpUrl,
    IPvAnyAddress,
    IPvAnyNetwork,
    PositiveInt,
    PostgresDsn,
    RedisDsn,
    SecretStr,
)
from pydantic.alias_generators import to_camel, to_pascal

from tests.differential.zoo.plain.specimen import Specimen


class LogLevel(StrEnum):
    DEBUG = auto()
    INFO = auto()
    ERROR = auto()


class Verbosity(IntEnum):
    QUIET = logging.ERROR
    LOUD = logging.DEBUG


class Logging(BaseModel):
    """How the application logs."""

    level: LogLevel = LogLevel.INFO
    verbosity: Verbosity = Verbosity.QUIET
    handlers: list[Literal["console", "file", "syslog"]] = ["console"]
    path: Path | None = None
    rotate_at: time = time(3, 30)
    keep: timedelta = timedelta(days=7)


class Database(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dsn: PostgresDsn
    replica: PostgresDsn | None = None
    pool_size: PositiveInt = 5
    timeout: float = Field(30.0, gt=0, le=600)
    password: SecretStr = SecretStr("")
    options: dict[str, str] = {}


class Cache(BaseModel):
    url: RedisDsn = RedisDsn("redis://localhost:6379/0")
    ttl: timedelta | None = None
    max_memory: ByteSize = ByteSize(1024)


class Server(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    bind_host: IPvAnyAddress | Literal["localhost"] = "localhost"
    bind_port: Annotated[int, Field(ge=1, le=65535)] = 8080
    allowed_networks: set[IPvAnyNetwork] = set()
    base_url: HttpUrl = HttpUrl("http://localhost:8080")
    max_body: Annotated[int, Field(ge=0, multiple_of=1024)] = 1024 * 1024


class Network(BaseModel):
    gateway: IPv4Address
    gateway6: IPv6Address | None = None
    subnet: IPv4Network = IPv4Network("10.0.0.0/8")
    names: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+\.example\.com$", max_length=80)]] = []


class Feature(BaseModel):
    name: str
    enabled: bool = False
    rollout: Annotated[float, Field(ge=0, le=1)] = 1.0


class Features(BaseModel):
    flags: list[Feature] = [Feature(name="beta"), Feature(name="dark", enabled=True)]
    default: Feature = Feature(name="none")
    overrides: dict[str, bool | float | str] = Field(default_factory=dict)


class Retry(BaseModel):
    attempts: int = Field(default=3, gt=0, ge=1, lt=11, le=20)
    backoff: Literal["none", "linear", "exponential"] | None = "linear"
    codes: frozenset[int] = frozenset({502, 503})
    jitter: bool | float = True


class Pascal(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, title="Settings of the old service")

    connection_string: str = Field(min_length=1, max_length=200)
    retry_policy: Retry = Field(default_factory=Retry)


class Environment(Enum):
    DEV = "dev"
    PROD = "prod"


class Application(BaseModel):
    """All of it."""

    model_config = ConfigDict(extra="allow", str_max_length=1000)

    environment: Environment | None = None
    debug: bool = False
    logging: Logging = Logging()
    features: Features = Field(default_factory=Features)
    database: Database
    admins: tuple[str, ...] = ("root",)
    extra_settings: dict[str, Any] = Field(default_factory=lambda: {"a": [1, 2], "b": {"c": None}})


class Pricing(BaseModel):
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] = "EUR"
    vat: Decimal = Decimal("0.19")
    minimum: Annotated[Decimal, Field(ge=0, max_digits=8, decimal_places=2)] = Decimal("9.99")
    discount: Annotated[Decimal, Field(gt=-1, lt=1)] | None = None


class Proxy(BaseModel):
    url: AnyUrl
    bypass: list[str] | str = "localhost"
    weight: int | Literal["auto"] = "auto"
    ports: list[int | tuple[int, int]] = []


class Mail(BaseModel):
    """Deprecated things, titles and examples."""

    sender: str = Field(title="Sender", examples=["a@example.com", "b@example.com"])
    reply_to: str | None = Field(None, deprecated="use sender")
    footer: str = Field("", description="Below each mail.", json_schema_extra={"x-order": 3, "ui:widget": "area"})


class Either(BaseModel):
    """One of two, as JSON Schema says it."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": ["file"]}, {"required": ["inline"], "properties": {"inline": {"minLength": 1}}}]
        }
    )

    file: str | None = None
    inline: str | None = None


PG = "postgresql://user@host:5432/db"

SPECIMENS = (
    Specimen(
        Logging,
        takes=(
            {},
            {"level": "debug", "path": "/var/log/a", "rotate_at": "23:59:59", "keep": "P1DT12H"},
            {"path": None},
        ),
        rejects=(
            {"level": "trace"},
            {"verbosity": 1},
            {"handlers": ["mail"]},
            {"rotate_at": "noon"},
            {"keep": "a while"},
        ),
    ),
    Specimen(
        Database,
        takes=({"dsn": PG}, {"dsn": PG, "options": {"a": "b"}, "timeout": 600}),
        rejects=(
            {},
            {"dsn": "mysql://a/b"},
            {"dsn": PG, "timeout": 0},
            {"dsn": PG, "pool_size": 0},
            {"dsn": PG, "options": {"a": 1}},
        ),
    ),
    Specimen(
        Cache,
        takes=({}, {"max_memory": "10MB"}, {"max_memory": 10}, {"ttl": "PT5M"}),
        rejects=({"url": "http://a"}, {"max_memory": -1}, {"ttl": "x"}),
    ),
    Specimen(
        Server,
        takes=(
            {},
            {"bindHost": "10.0.0.1", "bindPort": 1},
            {"bindHost": "::1"},
            {"bindHost": "localhost", "allowedNetworks": ["10.0.0.0/8", "fd00::/8"]},
        ),
        rejects=(
            {"bindHost": "x"},
            {"bindPort": 0},
            {"bindPort": 65536},
            {"baseUrl": "ftp://a"},
            {"maxBody": 1000},
            {"allowedNetworks": ["a"]},
        ),
    ),
    Specimen(
        Network,
        takes=(
            {"gateway": "10.0.0.1", "names": ["a.example.com"]},
            {"gateway": "10.0.0.1", "gateway6": "fd00::1", "subnet": "10.1.0.0/16"},
        ),
        rejects=(
            {},
            {"gateway": "::1"},
            {"gateway": "10.0.0.1", "subnet": "fd00::/8"},
            {"gateway": "10.0.0.1", "names": ["b.example.org"]},
        ),
    ),
    Specimen(
        Features,
        takes=({}, {"flags": []}, {"overrides": {"a": True, "b": 0.5, "c": "x"}}),
        rejects=(
            {"flags": [{}]},
            {"flags": [{"name": "a", "rollout": 1.5}]},
            {"overrides": {"a": []}},
            {"overrides": {"a": {}}},
        ),
    ),
    Specimen(
        Retry,
        takes=({}, {"attempts": 10, "backoff": None, "codes": [500], "jitter": 0.5}),
        rejects=({"attempts": 0}, {"attempts": 11}, {"backoff": "quick"}, {"codes": ["a"]}, {"jitter": "much"}),
    ),
    Specimen(
        Pascal,
        takes=({"ConnectionString": "a"}, {"ConnectionString": "a", "RetryPolicy": {"attempts": 1}}),
        rejects=({}, {"ConnectionString": ""}, {"ConnectionString": "a", "RetryPolicy": {"attempts": 0}}),
    ),
    Specimen(
        Application,
        takes=({"database": {"dsn": PG}}, {"database": {"dsn": PG}, "environment": "prod", "more": {"a": 1}}),
        rejects=(
            {},
            {"database": {}},
            {"database": {"dsn": PG}, "environment": "test"},
            {"database": {"dsn": PG}, "admins": [1]},
        ),
    ),
    Specimen(
        Pricing,
        takes=(
            {},
            {"vat": 0.07, "minimum": "0", "discount": "-0.5"},
            {"minimum": 5.25},
            {"vat": "1e-2", "discount": None},
        ),
        rejects=(
            {"vat": "much"},
            {"vat": []},
            {"minimum": "-0.01"},
            {"minimum": "-1.2"},
            {"discount": 1},
            {"discount": -1},
            {"currency": "eur"},
        ),
    ),
    Specimen(
        Proxy,
        takes=(
            {"url": "socks5://a:1"},
            {"url": "http://a", "bypass": ["a", "b"], "weight": 3, "ports": [80, [90, 99]]},
        ),
        rejects=(
            {"url": ""},
            {"url": "http://a", "bypass": [1]},
            {"url": "http://a", "bypass": 1},
            {"url": "http://a", "weight": "some"},
            {"url": "http://a", "ports": [[1]]},
            {"url": "http://a", "ports": ["x"]},
        ),
    ),
    Specimen(
        Mail, takes=({"sender": "a"}, {"sender": "a", "reply_to": "b", "footer": "c"}), rejects=({}, {"sender": 1})
    ),
    Specimen(Either, takes=({"file": "a"}, {"inline": "b"})),
)
