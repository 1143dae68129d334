"""Amounts of resources, of a container or of a pod as a whole: how they are read, and what holds for both.

The rules are those of `core/v1` validation of Kubernetes (`validateResourceRequirements`), fields `limits` and
`requests`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import ROUND_UP, Context, Decimal
from typing import Any, Final, TypeAlias

from jobgate import names
from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod.reading import Json, mapping
from webhook.cause import Cause, Forbidden, Invalid, Required
from webhook.path import Path
from webhook.text import shown

Amounts: TypeAlias = dict[str, Decimal]

#: What every container may ask for; and the beginning of what it may where its node has such pages.
PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE_PAGES: Final = "hugepages-"

#: Resources are kept to a thousandth: what is finer is rounded up.
_MILLI: Final = Decimal("0.001")

#: Amounts beyond what 64 bits hold count as 0 where Kubernetes divides them.
_INT64: Final = 2**63


def read(resources: Json, side: str, path: Path, faults: list[Cause]) -> Amounts:
    """Return the amounts of one side, `limits` or `requests`, and add a cause to `faults` for each that is none."""
    found: Amounts = {}
    given = resources.get(side)
    for name, value in given.items() if isinstance(given, dict) else ():
        try:
            found[name] = quantity.parse(value)
        except ValueError as error:
            faults.append(Invalid((path / side).key(name), value, str(error)))
    return found


def rounded(given: Amounts) -> Amounts:
    """Return amounts as resources keep them."""
    return {name: _rounded(amount) for name, amount in given.items()}


def written(resources: Json, side: str, name: str, amount: Decimal) -> Any:
    """Return what to show for an amount: what the user wrote, or the amount where it is computed."""
    return mapping(resources.get(side)).get(name, str(amount))


def may_overcommit(name: str) -> bool:
    """Return whether limits of a resource may exceed requests: what is Kubernetes' own, but for huge pages."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Return whether a resource is Kubernetes' own, and not a device that others tell it of."""
    return "/" not in name or "kubernetes.io/" in name


def extended_fault(name: str) -> str | None:
    """Return what is wrong with the name of a device, which is a qualified name, or None."""
    if name.startswith("requests."):
        return "must not begin with 'requests.', which is reserved for quotas"
    if names.qualified_name(f"requests.{name}"):
        return "must have a domain of at most 244 characters, as quotas add the prefix 'requests.'"
    return None


def amounts_are_legal(resources: Json, side: str, given: Amounts, path: Path) -> Iterator[Cause]:
    """No amount is negative, devices are counted whole, and huge pages are a multiple of their size."""
    for name, amount in given.items():
        if amount < 0:
            value = written(resources, side, name, amount)
            yield Invalid((path / side).key(name), value, "must not be negative")
        if name in PLAIN:
            continue
        if not is_native(name) and not quantity.is_whole(amount) and not extended_fault(name):
            value = written(resources, side, name, amount)
            yield Invalid(
                (path / side).key(name), value, "must be a whole number: extended resources cannot be divided"
            )
        if name.startswith(HUGE_PAGES) and not _is_multiple(amount, size := name.removeprefix(HUGE_PAGES)):
            value = written(resources, side, name, amount)
            right = f"must be a multiple of the page size {size}, which must be a valid quantity"
            yield Invalid((path / side).key(name), value, right)


def requests_fit_limits(resources: Json, requests: Amounts, limits: Amounts, path: Path) -> Iterator[Cause]:
    """A request is at most the limit; of devices and huge pages it is the limit, which then must be there."""
    for name, request in requests.items():
        limit = limits.get(name)
        if limit == request:
            continue
        if limit is None:
            if not may_overcommit(name):
                yield Required((path / "limits").key(name), f"must equal the request: {name} cannot be overcommitted")
        elif request > limit or not may_overcommit(name):
            relation = "at most" if may_overcommit(name) else "equal to"
            right = f"must be {relation} the limit {shown(written(resources, 'limits', name, limit))}"
            yield Invalid((path / "requests").key(name), written(resources, "requests", name, request), right)


def huge_pages_have_company(given: Collection[str], path: Path) -> Iterator[Cause]:
    """What asks for huge pages also asks for CPU or memory."""
    if "cpu" not in given and "memory" not in given and any(name.startswith(HUGE_PAGES) for name in given):
        yield Forbidden(path, "must also request cpu or memory when it requests huge pages")


def _rounded(amount: Decimal) -> Decimal:
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -3:
        return amount
    return amount.quantize(_MILLI, rounding=ROUND_UP, context=Context(prec=max(amount.adjusted() + 5, 1)))


def _is_multiple(amount: Decimal, size: str) -> bool:
    try:
        page = quantity.parse(size)
    except ValueError:
        return False
    if page <= 0 or not quantity.is_whole(page):
        return False
    divisor = _int64(page)
    return divisor != 0 and _int64(amount) % divisor == 0


def _int64(amount: Decimal) -> int:
    """Return an amount as a number of 64 bits, rounded away from zero; 0 where it does not fit."""
    if amount.adjusted() > len(str(_INT64)):
        return 0
    value = int(amount.to_integral_value(ROUND_UP))
    return value if -_INT64 <= value < _INT64 else 0
