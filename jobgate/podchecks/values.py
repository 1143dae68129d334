"""Rules of single values, each with the plain type of the values in which it surely finds nothing.

One table of rules thus gives both ways of judging a pod: the check that reports, and the type that msgspec checks in C
(`family.py`). A plain type must also be as narrow as the schema of pods: what is `required` there is so here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeAlias, get_origin

from msgspec import UNSET, Meta, defstruct

from jobgate.podchecks import quantity
from jobgate.podchecks.family import Family, always
from jobgate.podchecks.fitting import Never
from jobgate.podchecks.reading import Json, containers
from jobgate.podchecks.shapes import Text
from webhook.cause import Duplicate, Forbidden, Invalid, Notice, NotSupported, Required
from webhook.path import Path
from webhook.values import items, metadata_of, objects, spec_of, text, whole

Check: TypeAlias = Callable[[Any, Path], Iterable[Notice]]
#: Says what is wrong with a text, or None.
FaultOf: TypeAlias = Callable[[str], str | None]

_INT32: Final = 2**31 - 1


def nothing(_: Any, __: Path) -> Iterable[Notice]:
    """Find nothing wrong."""
    return ()


@dataclass(frozen=True, slots=True)
class ValueRule:
    """What is right for a value.

    Attributes:
        check: yields what is wrong with a value that is there and not null.
        plain: the type of values in which `check` surely finds nothing; `Never` where each is looked at.
        required: whether the schema of pods requires the field.
        missing: what to say where the value is absent or empty; None where it may be.
    """

    check: Check = nothing
    plain: Any = Never
    required: bool = False
    missing: str | None = None


Rules: TypeAlias = Mapping[str, ValueRule]


def findings(rules: Rules, owner: Mapping[str, Any], path: Path) -> Iterator[Notice]:
    """Yield what the rules of its fields find in an object."""
    for name, rule in rules.items():
        value = owner.get(name)
        if value is None or (rule.missing is not None and value in ("", [])):
            if rule.missing is not None:
                yield Required(path / name, rule.missing)
        elif rule.check is not nothing:  # to make a path costs more than to find nothing
            yield from rule.check(value, path / name)


def anything(plain: Any) -> ValueRule:
    """Return the rule of a field in which nothing is wrong, of this type in the schema."""
    return ValueRule(plain=plain)


def forbidden(why: str) -> ValueRule:
    """Return the rule of a field that may not be set."""
    return ValueRule(lambda value, path: (Forbidden(path, why),) if value not in ("", [], {}) else ())


def need(rule: ValueRule, missing: str = "") -> ValueRule:
    """Return the rule of a field that must be there and not empty, with what to say where it is not."""
    several = get_origin(rule.plain) is list
    plain = Annotated[rule.plain, Meta(min_length=1)] if several else rule.plain
    return replace(rule, plain=plain, required=True, missing=missing)


def required(rule: ValueRule) -> ValueRule:
    """Return the rule of a field that the schema requires: it reports where the field is absent."""
    return replace(rule, required=True)


def rare(rule: ValueRule) -> ValueRule:
    """Return the rule without its plain type: of a field that sound templates hardly ever have."""
    return replace(rule, plain=Never)


def formatted(fault_of: FaultOf, plain: Any = Never, *, empty: bool = False) -> ValueRule:
    """Return the rule of a text that must have a format; `empty`: also where it is empty."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        if isinstance(value, str) and (value or empty) and (fault := fault_of(value)):
            yield Invalid(path, value, fault)

    return ValueRule(check, plain)


def not_empty(missing: str, rule: ValueRule | None = None) -> ValueRule:
    """Return the rule of a text that may be absent but not empty, as the schema requires it or defaults it."""

    def check(value: Any, path: Path) -> Iterable[Notice]:
        if value == "":
            return (Required(path, missing),)
        return rule.check(value, path) if rule else ()

    return ValueRule(check, rule.plain if rule else Text, required=True)


def texts(fault_of: FaultOf, plain: Any = Never) -> ValueRule:
    """Return the rule of a list of texts of one format; null counts as the empty text, as in Kubernetes."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        for index, one in enumerate(items(value)):
            if fault := fault_of(text(one)):
                yield Invalid(path / index, one, fault)

    return ValueRule(check, _list(plain))


def one_of(known: Sequence[str], plain: Sequence[str] | None = None, *, empty: bool = False) -> ValueRule:
    """Return the rule of a text that must be one of these; `plain`: those of sound templates; `empty`: "" is none."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        if isinstance(value, str) and (value or empty) and value not in known:
            yield NotSupported(path, value, known)

    return ValueRule(check, Literal[tuple(plain or known)])


def number(least: int, most: int = _INT32, right: str = "") -> ValueRule:
    """Return the rule of a whole number within bounds."""
    right = right or (f"must be at least {least}" if most == _INT32 else f"must be between {least} and {most}")

    def check(value: Any, path: Path) -> Iterator[Notice]:
        count = whole(value)
        if count is not None and not least <= count <= most:
            yield Invalid(path, value, right)

    return ValueRule(check, Annotated[int, Meta(ge=least, le=min(most, _INT32))])


def amount(right: str = "", plain: Any = Never, *, above: bool = False) -> ValueRule:
    """Return the rule of a quantity; with `right` one that is not negative, and with `above` neither zero."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        try:
            given = quantity.parse(value)
        except ValueError as error:
            yield Invalid(path, value, str(error))
        else:
            if right and (given < 0 or (above and not given)):
                yield Invalid(path, value, right)

    return ValueRule(check, plain)


def listed(item: ValueRule, *also: Check, agreed: bool = False) -> ValueRule:
    """Return the rule of a list.

    Args:
        item: the rule of each item.
        also: what must hold of the list as a whole.
        agreed: whether the `agree` of the family sees to that in plain lists.
    """

    def check(value: Any, path: Path) -> Iterator[Notice]:
        for index, one in enumerate(items(value)):
            if one is not None:
                yield from item.check(one, path / index)
        for each in also:
            yield from each(value, path)

    return ValueRule(check, Never if also and not agreed else _list(item.plain))


def agreed(_: Any) -> bool:
    """Leave it to the `agree` of the family whether the fields of plain objects go together."""
    return True


def fields(also: Check | None = None, agree: Callable[[Any], bool] | None = None, /, **rules: ValueRule) -> ValueRule:
    """Return the rule of an object by those of its fields.

    Args:
        also: what must hold of the fields together.
        agree: whether that surely holds of a plain object, of which absent fields are `UNSET`, or `agreed`.
        rules: by field.
    """

    def check(value: Any, path: Path) -> Iterable[Notice]:
        if not isinstance(value, dict):
            return ()
        found = findings(rules, value, path)
        return found if also is None else chain(found, also(value, path))

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
    """Return the family of the rules of some fields of a pod.

    Args:
        also: yields what is wrong with a pod beyond single fields.
        metadata: by field of the pod's metadata.
        spec: by field of its spec.
        container: by field of its containers and init containers.
        agree: see `Family`.
        agree_on: see `Family`.
    """
    of_pod, of_spec, of_containers = metadata or {}, spec or {}, container or {}

    def check(pod: Json, path: Path) -> Iterator[Notice]:
        yield from findings(of_pod, metadata_of(pod), path / "metadata")
        yield from findings(of_spec, spec_of(pod), path / "spec")
        for one in containers(pod, path) if of_containers else ():
            yield from findings(of_containers, one.json, one.path)
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
    """Return the check that the items of a list differ in a field; `detail` may say where it is used `{first}`."""

    def check(value: Any, path: Path) -> Iterator[Notice]:
        seen: dict[str, int] = {}
        for index, item in objects(value):
            given = text(item.get(name))
            if given and seen.setdefault(given, index) != index:
                yield Duplicate(path / index / name, given, detail.format(first=path / seen[given]))

    return check


def one_source(sources: Rules, why: str = "", missing: str = "") -> Check:
    """Return the check that an object has one of these fields.

    Args:
        sources: the fields.
        why: there may be no second, where each further one is reported; else the object is, and all are looked at.
        missing: what to say where there is none; empty where there need not be one.
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
