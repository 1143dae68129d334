"""Rules for single values, each with a plain type: a type of values in which it surely finds no fault.

So one table of rules gives both the check that reports faults, and the type that msgspec checks in C (`family.py`). A
plain type must accept no value that the schema of pods rejects: fields that are `required` there are `required` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeAlias, get_origin

from msgspec import UNSET, Meta, Struct, defstruct
from msgspec.structs import replace

from jobgate.podchecks import quantity
from jobgate.podchecks.family import Family, always
from jobgate.podchecks.fitting import Never
from jobgate.podchecks.reading import Json, containers
from jobgate.podchecks.shapes import Text
from webhook.cause import Duplicate, Forbidden, Invalid, Notice, NotSupported, Required
from webhook.path import Path
from webhook.values import items, metadata_of, objects, spec_of, text, whole

Check: TypeAlias = Callable[[Any, Path], Iterable[Notice]]
#: Returns the fault of a text, or None.
FaultOf: TypeAlias = Callable[[str], str | None]

_INT32: Final = 2**31 - 1


def nothing(_: Any, __: Path) -> Iterable[Notice]:
    """Accept every value."""
    return ()


class ValueRule(Struct, frozen=True):
    """The rule for a value.

    Attributes:
        check: yields the faults of a value that is present and not null.
        plain: a type of values in which `check` surely finds no fault; `Never` if every value must be checked.
        required: whether the schema of pods requires the field.
        missing: the message if the value is absent or empty; None if it may be.
    """

    check: Check = nothing
    plain: Any = Never
    required: bool = False
    missing: str | None = None


Rules: TypeAlias = Mapping[str, ValueRule]


def findings(rules: Rules, owner: Mapping[str, Any], path: Path) -> Iterator[Notice]:
    """Yield the faults that the rules for its fields find in an object."""
    for name, rule in rules.items():
        value = owner.get(name)
        if value is None or (rule.missing is not None and value in ("", [])):
            if rule.missing is not None:
                yield Required(path / name, rule.missing)
        elif rule.check is not nothing:  # avoids creating a path
            yield from rule.check(value, path / name)


def anything(plain: Any) -> ValueRule:
    """Return the rule that accepts every value; `plain` is the type in the schema."""
    return ValueRule(plain=plain)


def forbidden(why: str) -> ValueRule:
    """Return the rule for a field that may not be set."""
    return ValueRule(lambda value, path: (Forbidden(path, why),) if value not in ("", [], {}) else ())


def need(rule: ValueRule, missing: str = "") -> ValueRule:
    """Return the rule for a field that must be present and not empty; `missing` is the message if it is not."""
    is_list = get_origin(rule.plain) is list
    plain = Annotated[rule.plain, Meta(min_length=1)] if is_list else rule.plain
    return replace(rule, plain=plain, required=True, missing=missing)


def required(rule: ValueRule) -> ValueRule:
    """Return the rule for a field that the schema requires and reports if it is absent."""
    return replace(rule, required=True)


def rare(rule: ValueRule) -> ValueRule:
    """Return the rule without its plain type, for a field that valid templates rarely have."""
    return replace(rule, plain=Never)


def formatted(fault_of: FaultOf, plain: Any = Never, *, empty: bool = False) -> ValueRule:
    """Return the rule for a text with a format; `empty`: whether an empty text is checked, too."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        if isinstance(value, str) and (value or empty) and (fault := fault_of(value)):
            yield Invalid(path, value, fault)

    return ValueRule(check, plain)


def not_empty(missing: str, rule: ValueRule | None = None) -> ValueRule:
    """Return the rule for a text that may not be empty. If it is absent, the schema reports it or sets a default."""

    def check(value: Any, path: Path) -> Iterable[Notice]:
        if value == "":
            return (Required(path, missing),)
        return rule.check(value, path) if rule else ()

    return ValueRule(check, rule.plain if rule else Text, required=True)


def texts(fault_of: FaultOf, plain: Any = Never) -> ValueRule:
    """Return the rule for a list of texts with a format; null counts as the empty text, as in Kubernetes."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        for index, item in enumerate(items(value)):
            if fault := fault_of(text(item)):
                yield Invalid(path / index, item, fault)

    return ValueRule(check, _list(plain))


def one_of(known: Sequence[str], plain: Sequence[str] | None = None, *, empty: bool = False) -> ValueRule:
    """Return the rule for a text that must be one of these.

    `plain`: the common values, by default all; `empty`: whether an empty text is checked, too.
    """

    def check(value: Any, path: Path) -> Iterator[Notice]:
        if isinstance(value, str) and (value or empty) and value not in known:
            yield NotSupported(path, value, known)

    return ValueRule(check, Literal[tuple(plain or known)])


def number(low: int, high: int = _INT32, right: str = "") -> ValueRule:
    """Return the rule for a whole number within bounds."""
    right = right or (f"must be at least {low}" if high == _INT32 else f"must be between {low} and {high}")

    def check(value: Any, path: Path) -> Iterator[Notice]:
        count = whole(value)
        if count is not None and not low <= count <= high:
            yield Invalid(path, value, right)

    return ValueRule(check, Annotated[int, Meta(ge=low, le=min(high, _INT32))])


def amount(right: str = "", plain: Any = Never, *, above: bool = False) -> ValueRule:
    """Return the rule for a quantity; with the message `right` it must not be negative, with `above` nor zero."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        try:
            parsed = quantity.parse(value)
        except ValueError as error:
            yield Invalid(path, value, str(error))
        else:
            if right and (parsed < 0 or (above and not parsed)):
                yield Invalid(path, value, right)

    return ValueRule(check, plain)


def listed(item: ValueRule, *also: Check, agreed: bool = False) -> ValueRule:
    """Return the rule for a list.

    Args:
        item: the rule for each item.
        also: checks of the whole list.
        agreed: whether the family's `agree` makes these checks for plain lists.
    """

    def check(value: Any, path: Path) -> Iterator[Notice]:
        for index, entry in enumerate(items(value)):
            if entry is not None:
                yield from item.check(entry, path / index)
        for each in also:
            yield from each(value, path)

    return ValueRule(check, Never if also and not agreed else _list(item.plain))


def agreed(_: Any) -> bool:
    """Leave the combination of fields in plain objects to the family's `agree`."""
    return True


def fields(also: Check | None = None, agree: Callable[[Any], bool] | None = None, /, **rules: ValueRule) -> ValueRule:
    """Return the rule for an object, from the rules for its fields.

    Args:
        also: checks the combination of the fields.
        agree: returns True only if `also` finds no fault in a plain object, in which absent fields are `UNSET`; or
            `agreed`.
        rules: by field.
    """

    def check(value: Any, path: Path) -> Iterable[Notice]:
        if not isinstance(value, dict):
            return ()
        of_fields = findings(rules, value, path)
        return of_fields if also is None else chain(of_fields, also(value, path))

    return ValueRule(check, Never if also and not agree else _struct(rules, agree))


def family(
    also: Callable[[Json, Path], Iterable[Notice]] | None = None,
    *,
    metadata: Rules | None = None,
    spec: Rules | None = None,
    container: Rules | None = None,
    agree: Callable[[Json, Sequence[Json]], bool] = always,
    agree_on: str = "",
) -> Family:
    """Return a family from rules for fields of a pod.

    Args:
        also: checks the combination of the fields of a pod.
        metadata: rules by field of the pod's metadata.
        spec: rules by field of its spec.
        container: rules by field of its containers and init containers.
        agree: see `Family`.
        agree_on: see `Family`.
    """
    of_pod, of_spec, of_containers = metadata or {}, spec or {}, container or {}

    def check(pod: Json, path: Path) -> Iterator[Notice]:
        yield from findings(of_pod, metadata_of(pod), path / "metadata")
        yield from findings(of_spec, spec_of(pod), path / "spec")
        for each in containers(pod, path) if of_containers else ():
            yield from findings(of_containers, each.json, each.path)
        if also is not None:
            yield from also(pod, path)

    return Family(
        check=check,
        needs=frozenset(name for name, rule in of_containers.items() if rule.missing is not None),
        metadata=plain_types(of_pod),
        spec=plain_types(of_spec),
        container=plain_types(of_containers),
        agree=agree,
        agree_on=agree_on,
    )


def plain_types(rules: Rules) -> dict[str, Any]:
    """Return the plain type of each field."""
    return {name: rule.plain for name, rule in rules.items()}


def distinct(name: str, detail: str = "") -> Check:
    """Return the check that a field is unique among the items of a list; `detail` may contain `{first}`, a path."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        seen: dict[str, int] = {}
        for index, item in objects(value):
            key = text(item.get(name))
            if key and seen.setdefault(key, index) != index:
                yield Duplicate(path / index / name, key, detail.format(first=path / seen[key]))

    return check


def one_source(sources: Rules, why: str = "", missing: str = "") -> Check:
    """Return the check that an object has exactly one of these fields.

    Args:
        sources: the fields.
        why: why only one is allowed. Then each further field is reported, and only the first is checked; without it,
            the object is reported, and all are checked.
        missing: the message if there is none; empty if there need not be one.
    """
    order = {name: place for place, name in enumerate(sources)}

    def check(value: Any, path: Path) -> Iterator[Notice]:
        present = sorted((name for name in value if name in order and value[name] is not None), key=order.__getitem__)
        if missing and not present:
            yield Required(path, missing)
        if len(present) > 1 and not why:
            yield Forbidden(path, f"must have exactly one source, but has {', '.join(present)}")
        for extra in present[1:] if why else ():
            yield Forbidden(path / extra, f"may not be set together with {present[0]}, as {why}: remove one of them")
        for name in present[:1] if why else present:
            yield from sources[name].check(value[name], path / name)

    return check


def _list(plain: Any) -> Any:
    return Never if plain is Never else list[plain]


def _struct(rules: Rules, agree: Callable[[Any], bool] | None) -> Any:
    if any(rule.required and rule.plain is Never for rule in rules.values()):
        return Never
    known = [
        (name, rule.plain) if rule.required else (name, rule.plain, UNSET)
        for name, rule in rules.items()
        if rule.plain is not Never
    ]

    def reject(self: Any) -> None:
        if agree is not None and not agree(self):
            raise ValueError("not plain")

    namespace = {"__post_init__": reject} if agree not in (None, agreed) else {}
    return defstruct("Plain", sorted(known, key=len), namespace=namespace, forbid_unknown_fields=True, gc=False)
