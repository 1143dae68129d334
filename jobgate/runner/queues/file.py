"""The file of queues: YAML. Each fault is reported with its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from crdgen.reading import UnreadableManifest, read_value
from jobgate.names import HTTP_ADDRESS, dns_subdomain, qualified_name
from jobgate.podchecks.quantity import parse
from jobgate.runner.queues.admission import DEFAULT, HOLD, MAX_WAIT, Amounts, Order, Queue, Queues
from jobgate.runner.queues.demand import resource
from jobgate.runner.queues.selectors import SelectorName

#: The greatest weight: shares finer than a thousandth are of no use.
_WEIGHT_LIMIT: Final = 1000
_WAIT_LIMIT: Final = 2**31 - 1


class InvalidQueues(ValueError):
    """A file holds no queues; the message says what is wrong, each fault with its path."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class _Queue(_Model):
    name: str
    weight: Annotated[int, Field(strict=True, ge=1, le=_WEIGHT_LIMIT)] = 1
    quota: dict[str, str | int | float] = {}
    order: Order = Order.PRIORITY
    max_wait_seconds: Annotated[int, Field(strict=True, ge=0, le=_WAIT_LIMIT)] = MAX_WAIT
    elastic: Annotated[bool, Field(strict=True)] = False
    notify: Annotated[str, Field(pattern=HTTP_ADDRESS)] = ""


class _File(_Model):
    selector: SelectorName = SelectorName.SMOOTH_WRR
    quota: dict[str, str | int | float] = {}
    hold_seconds: Annotated[int, Field(strict=True, ge=1, le=_WAIT_LIMIT)] = HOLD
    queues: Annotated[list[_Queue], Field(min_length=1)]


def read_queues(content: str) -> Queues:
    """Return the queues in a file, and the queue `default` in any case.

    Raises:
        InvalidQueues: the file has none, or an invalid one.
    """
    try:
        document = read_value(content.encode(), "the file")
    except UnreadableManifest as error:
        raise InvalidQueues(f"line {error.line}, column {error.column}: {error.message}") from None
    try:
        written = _File.model_validate(document)
    except ValidationError as error:
        raise InvalidQueues(
            "; ".join(f"{_path(fault['loc'])}: {_sentence(fault)}" for fault in error.errors())
        ) from None
    if faults := list(_faults(written)):
        raise InvalidQueues("; ".join(faults))
    queues = {
        each.name: Queue(
            each.weight, _amounts(each.quota), each.order, each.max_wait_seconds, each.elastic, each.notify
        )
        for each in written.queues
    }
    queues = queues if DEFAULT in queues else {**queues, DEFAULT: Queue()}
    return Queues(queues, written.selector, _amounts(written.quota), written.hold_seconds)


def _faults(written: _File) -> Iterator[str]:
    yield from _quota_faults("quota", written.quota)
    first: dict[str, int] = {}
    for index, queue in enumerate(written.queues):
        place = f"queues[{index}]"
        if fault := dns_subdomain(queue.name):
            yield f"{place}.name: Invalid value: {queue.name!r}: {fault}"
        if first.setdefault(queue.name, index) != index:
            yield f"{place}.name: Duplicate value: {queue.name!r}: queues[{first[queue.name]}] has this name"
        yield from _quota_faults(f"{place}.quota", queue.quota)


def _quota_faults(place: str, quota: Mapping[str, str | int | float]) -> Iterator[str]:
    written: dict[str, str] = {}
    for name, value in quota.items():
        here = f"{place}[{name}]"
        full = resource(name)
        if full is None or qualified_name(name.removeprefix("requests.").removeprefix("limits.")):
            yield f"{here}: Invalid value: {name!r}: must be pods or a resource of containers, as cpu or limits.memory"
            continue
        if written.setdefault(full, name) != name:
            yield f"{here}: Duplicate value: {name!r}: {written[full]} is the same resource"
        try:
            amount = parse(value)
        except ValueError as error:
            yield f"{here}: Invalid value: {value!r}: {error}"
            continue
        if amount < 0:
            yield f"{here}: Invalid value: {value!r}: must not be negative"


def _amounts(quota: Mapping[str, str | int | float]) -> Amounts:
    amounts: dict[str, Decimal] = {}
    for name, value in quota.items():
        if full := resource(name):
            amounts[full] = parse(value)
    return amounts


def _path(steps: tuple[int | str, ...]) -> str:
    # Of a union, pydantic adds which of its types was tried.
    known = [step for step in steps if step not in {"str", "int", "float"}]
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in known)
    return text.removeprefix(".") or "the file"


def _sentence(error: Any) -> str:
    messages = {
        "extra_forbidden": "unknown field",
        "missing": "Required value",
        "model_type": "must be a mapping",
        "string_pattern_mismatch": "must be a URL with http or https and without a user, as https://example.com/jobs",
    }
    return messages.get(error["type"]) or str(error["msg"]).replace("Input should", "must").replace("should", "must")
