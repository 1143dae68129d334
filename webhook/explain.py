"""Finds what is wrong with an object that is not known to be valid: the findings of its schema and of its rules.

A rule does not declare what it reads. If the object does not fit its schema, the rule is called on the typed view of
the parts that fit. If it then reads a field that does not fit, it is called again without the items of lists that lack
the field: a broken item hides no fault of the others. If no item lacks it, the rule cannot judge the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from webhook.cause import SCHEMA, Cause, Finding, Notice, TooMany
from webhook.context import Context, UnknownObjects
from webhook.kind import Kind
from webhook.object import Object, object_of
from webhook.path import Path
from webhook.rule import Rule, call_rules, unchecked
from webhook.view import unreadable, with_absent, without

#: Most new causes of one review. Nobody reads more, and a hostile object can have a million.
ENOUGH: Final = 1000


def explain(
    kind: Kind,
    document: Mapping[str, Any],
    context: Context[Any],
    violations: list[Cause] | None = None,
    *,
    ratchets: bool,
) -> Iterator[Finding]:
    """Yield what the schema and every rule find in an object.

    Args:
        kind: the kind of the object.
        document: the object, with its defaults.
        context: the context of the review.
        violations: what the schema rejects; None if it has not been asked.
        ratchets: whether the object is the new or the old one of an UPDATE. Then violations may be stored already, and
            must not keep a rule from judging the rest of the object.
    """
    if violations is None:
        violations = [] if kind.schema.fits(document) else kind.schema.check(document)
    yield from ((SCHEMA, violation) for violation in violations)
    if violations:
        # A list with too many items is hidden, too: its limit also bounds the work of the rules.
        hidden = [
            violation.path for violation in violations if kind.hides(violation.path) or isinstance(violation, TooMany)
        ]
        document, context = _hide(document, context, hidden)
    spec, complete = kind.read(document)
    if ratchets and violations and not complete:
        document, context = _hide(document, context, [*_unreadable_paths(kind.missing(spec), violations)])
        spec, complete = kind.read(document)
    absent = [path.steps for path, _ in kind.missing(spec)]
    rules = kind.when.rules(document, for_update=context.old is not None, absent=absent)
    obj = object_of(kind, document, spec)
    if complete and not violations:
        yield from call_rules(rules, obj, context)
        return
    rejected = _Paths(violations)
    for rule in rules:
        for finding in _findings_of(rule, obj, context, most_causes=None if ratchets else ENOUGH):
            if rule.checked(finding).path not in rejected:
                yield rule.name, finding
        if context.spent():
            yield kind.out_of_time()
            break


def _findings_of(rule: Rule, obj: Object[Any], context: Context[Any], *, most_causes: int | None) -> Sequence[Notice]:
    """Return the findings of a rule in an object with fields that do not fit its schema."""
    spec = obj.spec
    for name in rule.when:
        places = obj.kind.all_fields(name)
        if len(places) == 1:  # several are parts of the object, which are left out one by one
            spec = with_absent(spec, places[0].attributes)
    readable: Object[Any] | None = obj if spec is obj.spec else object_of(obj.kind, obj.document, spec)
    while readable is not None:
        findings: list[Notice] = []
        try:
            _collect(rule.check(readable, context), most_causes, findings)
        except UnknownObjects as error:
            return [*findings, unchecked(error, rule, obj)]
        except AttributeError as error:
            fields = unreadable(error)
            if not fields:
                raise
            readable = readable.leaving_out(fields)
        else:
            return findings
    return ()


def _collect(found: Iterable[Notice], most_causes: int | None, findings: list[Notice]) -> None:
    """Add what is found to the findings, up to a number of causes; None: all."""
    causes = 0
    for finding in found:
        findings.append(finding)
        causes += isinstance(finding, Cause)
        if causes == most_causes:
            break


def _hide(
    document: Mapping[str, Any], context: Context[Any], paths: Sequence[Path]
) -> tuple[Mapping[str, Any], Context[Any]]:
    """Return the object and the old one in the context, both without these paths: a missing one would be a change."""
    if context.old is not None:
        context = replace(context, old=without(context.old, paths))
    return without(document, paths), context


def _unreadable_paths(missing: Iterable[tuple[Path, bool]], violations: Iterable[Cause]) -> Iterator[Path]:
    """Yield the paths of fields of the spec, and of whole items of lists, that do not fit the schema."""
    rejected: set[tuple[str | int, ...]] = set()
    items: dict[tuple[str | int, ...], list[Path]] = {}
    for violation in violations:
        steps = violation.path.steps
        rejected.add(steps)
        items.setdefault(steps[:-1], []).append(violation.path)
    for path, holds_objects in missing:
        if not holds_objects or path.steps in rejected:
            yield path
        else:
            yield from items.get(path.steps, ())


class _Paths:
    """The paths that the schema rejects. There can be as many as findings, so a lookup takes constant time."""

    def __init__(self, violations: Iterable[Cause]) -> None:
        self.paths = {violation.path.steps for violation in violations if violation.path}
        self.lengths = {len(steps) for steps in self.paths}

    def __contains__(self, path: Path) -> bool:
        """Tell whether a path is one of these, or inside one."""
        steps = path.steps if self.paths else ()
        return any(steps[:length] in self.paths for length in self.lengths if length <= len(steps))
