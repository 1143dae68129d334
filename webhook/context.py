"""What a default or a rule may know beside the object. Nothing else reaches them: no clock, no network, no globals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Operation(StrEnum):
    """What is being done to the object, as AdmissionReview names it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True)
class User:
    """Who asks, from the request's `userInfo`: the only trustworthy word on it."""

    name: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What this installation says of itself.

    Attributes:
        operator_can: capabilities of the installed operators beyond what their profiles say, as `<plural>/<word>`,
            for example `dijobs/preemptible` where a mended DI-orchestrator runs.
    """

    operator_can: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Context:
    """The circumstances of one review.

    Attributes:
        operation: CREATE or UPDATE.
        namespace: the object's namespace.
        name: the object's name; empty while the API server has not generated it.
        generate_name: the prefix that the name is generated from, or empty.
        user: who asks.
        old: the stored object before an UPDATE.
        settings: what the installation says of itself.
    """

    operation: Operation = Operation.CREATE
    namespace: str = ""
    name: str = ""
    generate_name: str = ""
    user: User = field(default_factory=User)
    old: Mapping[str, Any] | None = None
    settings: Settings = field(default_factory=Settings)
