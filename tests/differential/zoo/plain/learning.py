"""Configurations of machine learning: unions above all."""

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from os import getcwd
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    Tag,
    field_validator,
    model_validator,
)

from crdgen import Depth, Duration, ModelDefault
from tests.differential.zoo.plain.specimen import Specimen


class Adam(BaseModel):
    type: Literal["adam"] = "adam"
    lr: PositiveFloat = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)


class Sgd(BaseModel):
    type: Literal["sgd"] = "sgd"
    lr: Annotated[float, Field(gt=0, le=1)] = 1e-2
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Custom(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["custom", "other"]
    factory: str
    options: dict[str, Any] = {}


Optimizer = Annotated[Adam | Sgd | Custom, Field(discriminator="type")]


class Constant(BaseModel):
    model_config = ConfigDict(extra="forbid")

    value: float


class Cosine(BaseModel):
    model_config = ConfigDict(extra="forbid")

    start: float
    end: float = 0.0
    steps: NonNegativeInt


class Schedule(BaseModel):
    """Rates over time, as a number or as one of several forms."""

    rate: float | Constant | Cosine = 0.1
    warmup: Constant | Cosine | None = None


class Precision(StrEnum):
    FP16 = "fp16"
    BF16 = "bf16"


class Resources(BaseModel):
    cpu: int | float | str = 1
    memory: int | str = "1Gi"
    gpus: Literal["all"] | NonNegativeInt | list[NonNegativeInt] = "all"


class Loader(BaseModel):
    workers: int | Literal["auto"] | None = None
    batch_size: Annotated[int, Field(gt=0)] | None = 32
    shuffle: bool | Annotated[int, Field(ge=2)] = True
    prefetch: int | None


class Local(BaseModel):
    kind: Literal["local"]
    path: str


class Bucket(BaseModel):
    kind: Literal["s3", "gs"]
    path: Annotated[str, Field(min_length=3)]
    region: str = "eu"


class Mixture(BaseModel):
    kind: Literal["mix"]
    sources: Annotated[list[Annotated[Local | Bucket, Field(discriminator="kind")]], Field(min_length=2)]
    weights: list[float] | None = None


class Dataset(BaseModel):
    source: Annotated[Local | Bucket | Mixture, Field(discriminator="kind")]
    split: dict[Literal["train", "test"], float] | None = None
    columns: list[str] | dict[str, str] | None = None


def weight_form(value: Any) -> str:
    return "file" if isinstance(value, str) else "inline"


class Checkpoint(BaseModel):
    model_config = ConfigDict(protected_namespaces=())

    model_weights: Annotated[
        Annotated[str, Tag("file")] | Annotated[dict[str, float], Tag("inline")], Discriminator(weight_form)
    ]
    every: Duration = timedelta(minutes=10)
    timeout: Annotated[Duration, Field(gt=timedelta(0), le=timedelta(hours=1))] = timedelta(minutes=1)
    keep: Annotated[int, Field(ge=-1)] = -1


class Trainer(BaseModel):
    """A run."""

    optimizer: Optimizer = Adam()
    fallbacks: list[Optimizer] = Field(default_factory=list)
    schedule: Schedule = Field(default_factory=Schedule)
    precision: Precision | Literal[32, 64] = Precision.BF16
    epochs: int = 1
    name: Annotated[str, ModelDefault] = Field(default_factory=getcwd)
    seed: int | None = None

    @field_validator("epochs")
    @classmethod
    def positive(cls, value: int) -> int:
        return value

    @model_validator(mode="after")
    def consistent(self) -> "Trainer":
        return self


class Layer(BaseModel):
    units: int
    activation: Literal["relu", "tanh"] | None = None
    children: Annotated[list["Layer"], Depth(3)] = []


class Condition(BaseModel):
    left: "str | Condition"
    op: Literal["and", "or"] = "and"
    right: "Annotated[str | Condition | None, Depth(2)]" = None


class Search(BaseModel):
    """Alternatives of one field, of different lists."""

    values: list[int] | list[float]
    bounds: tuple[float, float] | None = None
    layers: list[Layer] | Layer = []
    names: set[str] | None = None


class Sampler(BaseModel):
    strategy: Literal["grid", "random"] = "grid"
    budget: Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0, lt=1)] = 1


class Base(BaseModel):
    id: int
    labels: dict[str, str] = {}


class Left(Base):
    left: str
    note: str = "l"


class Right(Base):
    right: list[int]
    note: str = "r"


class Tree(BaseModel):
    """Variants that share a base."""

    node: Left | Right
    more: dict[str, Left | Right] = {}
    any_of_all: Left | Right | str | list[str] | None = None


class Unreadable(BaseModel):
    call: Callable[[], int]


COSINE = {"start": 1, "steps": 3}

SPECIMENS = (
    Specimen(Adam, takes=({}, {"betas": [0.1, 0.2]}), rejects=({"lr": 0}, {"betas": [0.1]}, {"type": "sgd"})),
    Specimen(Sgd, takes=({"lr": 1},), rejects=({"lr": 1.5}, {"momentum": 1})),
    Specimen(Custom, takes=({"type": "other", "factory": "a", "options": {"b": [None]}},), rejects=({"factory": "a"},)),
    Specimen(
        Schedule,
        takes=({}, {"rate": 1}, {"rate": {"value": 1}}, {"rate": COSINE, "warmup": COSINE}, {"warmup": {"value": 2}}),
        rejects=(
            {"rate": "x"},
            {"rate": {}},
            {"rate": {"value": 1, "steps": 1}},
            {"warmup": {"start": 1}},
            {"rate": {**COSINE, "steps": -1}},
            {"rate": []},
        ),
    ),
    Specimen(Constant, takes=({"value": 1},), rejects=({},)),
    Specimen(
        Resources,
        takes=({}, {"cpu": 0.5, "memory": 1024, "gpus": [0, 1]}, {"cpu": "500m", "gpus": 2}),
        rejects=({"cpu": []}, {"memory": 1.5}, {"gpus": "some"}, {"gpus": -1}, {"gpus": [-1]}, {"gpus": 1.5}),
    ),
    Specimen(
        Loader,
        takes=({"prefetch": None}, {"prefetch": 1, "workers": "auto", "batch_size": None, "shuffle": 3}),
        rejects=(
            {},
            {"prefetch": 1, "workers": "many"},
            {"prefetch": 1, "batch_size": 0},
            {"prefetch": 1, "shuffle": -1},
        ),
    ),
    Specimen(
        Dataset,
        takes=(
            {"source": {"kind": "local", "path": "a"}},
            {"source": {"kind": "gs", "path": "abc"}, "columns": ["a"]},
            {
                "source": {"kind": "mix", "sources": [{"kind": "local", "path": "a"}, {"kind": "s3", "path": "abc"}]},
                "columns": {"a": "b"},
                "split": {"train": 0.9},
            },
        ),
        rejects=(
            {"source": {"path": "a"}},
            {"source": {"kind": "ftp", "path": "a"}},
            {"source": {"kind": "s3", "path": "a"}},
            {"source": {"kind": "mix", "sources": [{"kind": "local", "path": "a"}]}},
            {"source": {"kind": "mix", "sources": [{"kind": "mix", "path": "a"}, {"kind": "s3", "path": "abc"}]}},
            {"source": {"kind": "local", "path": "a"}, "columns": [1]},
            {"source": {"kind": "local", "path": "a"}, "columns": {"a": 1}},
        ),
        by_rule=({"source": {"kind": "local", "path": "a"}, "split": {"dev": 1}},),
    ),
    Specimen(
        Checkpoint,
        takes=({"model_weights": "a"}, {"model_weights": {"a": 1}, "every": "1h30m", "timeout": "1h"}),
        rejects=(
            {},
            {"model_weights": [1]},
            {"model_weights": {"a": "b"}},
            {"model_weights": "a", "every": "PT1H"},
            {"model_weights": "a", "keep": -2},
        ),
        by_rule=({"model_weights": "a", "timeout": "0s"}, {"model_weights": "a", "timeout": "61m"}),
    ),
    Specimen(
        Trainer,
        takes=(
            {},
            {"optimizer": {"type": "sgd", "momentum": 0.5}, "precision": 32, "name": "a"},
            {"fallbacks": [{"type": "custom", "factory": "x"}]},
        ),
        rejects=(
            {"optimizer": {}},
            {"optimizer": {"type": "custom"}},
            {"optimizer": {"type": "sgd", "lr": 2}},
            {"precision": 16},
            {"precision": "fp8"},
            {"fallbacks": [{"type": "none"}]},
        ),
    ),
    Specimen(
        Layer,
        takes=({"units": 1, "children": [{"units": 2, "children": [{"units": 3, "children": [{"units": 4}]}]}]},),
        rejects=({}, {"units": 1, "children": [{"units": 2, "children": [{}]}]}, {"units": 1, "activation": "elu"}),
    ),
    Specimen(
        Search,
        takes=(
            {"values": [1, 2.5]},
            {"values": [], "layers": {"units": 1}},
            {"values": [], "layers": [{"units": 1}], "names": ["a"]},
        ),
        rejects=(
            {"values": ["a"]},
            {"values": [], "layers": {}},
            {"values": [], "layers": "a"},
            {"values": [], "bounds": [1]},
        ),
    ),
    Specimen(
        Sampler,
        takes=({}, {"strategy": "random", "budget": 0.5}, {"budget": 7}),
        rejects=({"strategy": "best"}, {"budget": 1.5}, {"budget": 0}),
    ),
    Specimen(
        Tree,
        takes=(
            {"node": {"id": 1, "left": "a"}},
            {"node": {"id": 1, "right": [1]}, "more": {"x": {"id": 2, "left": ""}}},
            {"node": {"id": 1, "left": "a"}, "any_of_all": "x"},
            {"node": {"id": 1, "left": "a"}, "any_of_all": ["x"]},
            {"node": {"id": 1, "left": "a"}, "any_of_all": {"id": 1, "right": []}},
        ),
        rejects=(
            {"node": {"id": 1}},
            {"node": {"left": "a"}},
            {"node": {"id": 1, "right": ["a"]}},
            {"node": {"id": 1, "left": "a"}, "any_of_all": 1},
            {"node": {"id": 1, "left": "a"}, "any_of_all": {"id": 1}},
            {"node": {"id": 1, "left": "a"}, "more": {"x": {}}},
        ),
    ),
)

REJECTED: tuple[tuple[type[BaseModel], str], ...] = (
    (Unreadable, "Unreadable.call: a function has no form in JSON"),
    (Condition, "Condition.left: the model Condition contains itself"),
)
