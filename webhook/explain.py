"""What is wrong with an object that is not known to be valid: the findings of its schema and of its rules.

A rule does not declare what it reads. If the object does not fit its schema, the rule is called on the typed view of
what fits. If it then reads a field that is not there, it is called again without the items that lack the field: a
broken task hides no fault of the others. If the field is in no item of a list, the rule cannot judge the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from webhook.cause import Cause, Notice, TooMany
from webhook.context import Context
from webhook.kind import Kind
from webhook.object import Object, object_of
from webhook.path import Path
from webhook.rule import Rule
from webhook.view import missing_fields, opaque, unreadable, view, with_absent, without

#: A finding, with the name of its rule.
Finding: TypeAlias = tuple[str, Notice]

#: The name of the schema, among the names of rules.
SCHEMA: Final = "schema"
#: The name for the cause that the review takes too long.
TIME: Final = "time"
#: Most new causes of one review: nobody reads more, and a hostile object can have a million.
ENOUGH: Final = 1000


def call(rules: Iterable[Rule], obj: Object[Any], context: Context[Any]) -> Iterator[Finding]:
    """Yield what the rules find in an object that fits its schema."""
    for rule in rules:
        for finding in rule.check(obj, context):
            yield rule.name, checked(finding, rule)
        if context.spent():  # a rule that goes through much asks for itself
            yield late()
            break


def explain(
    kind: Kind,
    document: Mapping[str, Any],
    context: Context[Any],
    violations: list[Cause] | None = None,
    *,
    updates: bool,
) -> Iterator[Finding]:
    """Yield what the schema and every rule find in an object.

    Args:
        kind: of the object.
        document: the object, with its defaults.
        context: of the review.
        violations: what the schema rejects; None if it has not been asked.
        updates: whether it is the object before or after an UPDATE. What the schema rejects may then be stored, and
            must not keep a rule from the rest of the object.
    """
    if violations is None:
        violations = [] if kind.schema.fits(document) else kind.schema.check(document)
    yield from ((SCHEMA, violation) for violation in violations)
    if violations:
        # No rule goes through more items than there may be: that is what their limit is for.
        hidden = [one.path for one in violations if opaque(kind.spec, one.path) or isinstance(one, TooMany)]
        document, context = _hide(document, context, hidden)
    spec, whole = view(kind.spec, document.get("spec"))
    if updates and violations and not whole:
        document, context = _hide(document, context, [*_unreadable_paths(spec, violations)])
        spec, whole = view(kind.spec, document.get("spec"))
    absent = [path.steps for path, _ in missing_fields(spec, Path("spec"))]
    rules = kind.when.rules(document, update=context.old is not None, absent=absent)
    obj = object_of(kind, document, spec)
    if whole and not violations:
        yield from call(rules, obj, context)
        return
    rejected = _Paths(violations)
    for rule in rules:
        for finding in _findings(rule, obj, context, updates=updates):
            if checked(finding, rule).path not in rejected:
                yield rule.name, finding
        if context.spent():
            yield late()
            break


def checked(finding: object, rule: Rule) -> Notice:
    """Return what a rule has yielded.

    Raises:
        TypeError: it is no finding. The request fails then: nothing is allowed by a mistake in a rule.
    """
    if not isinstance(finding, Notice):
        raise TypeError(f"the rule {rule.name} must yield a Cause or a Notice, not {type(finding).__name__}")
    return finding


def late() -> Finding:
    """Return the finding that the time for the review is over."""
    return TIME, Cause("", "it takes too long to judge: make it smaller, for example with fewer tasks")


def _findings(rule: Rule, obj: Object[Any], context: Context[Any], *, updates: bool) -> Sequence[Notice]:
    """Return what a rule finds in an object of which some fields cannot be read."""
    spec = obj.spec
    for name in rule.when:
        places = obj.kind.all_fields(name)
        if len(places) == 1:  # several are parts of the object, which are left out one by one
            spec = with_absent(spec, places[0].attributes)
    seen: Object[Any] | None = obj if spec is obj.spec else object_of(obj.kind, obj.document, spec)
    while seen is not None:
        try:
            return _collected(rule.check(seen, context), None if updates else ENOUGH)
        except AttributeError as error:
            fields = unreadable(error)
            if not fields:
                raise
            seen = seen.leaving_out(fields)
    return ()


def _collected(findings: Iterable[Notice], most_causes: int | None) -> Sequence[Notice]:
    collected: list[Notice] = []
    causes = 0
    for finding in findings:
        collected.append(finding)
        causes += isinstance(finding, Cause)
        if causes == most_causes:
            break
    return collected


def _hide(
    document: Mapping[str, Any], context: Context[Any], paths: Sequence[Path]
) -> tuple[Mapping[str, Any], Context[Any]]:
    """Return the object and the context without these paths: of the stored object, too, or they would be changes."""
    if context.old is not None:
        context = replace(context, old=without(context.old, paths))
    return without(document, paths), context


def _unreadable_paths(spec: Any, violations: Iterable[Cause]) -> Iterator[Path]:
    """Yield what does not fit the schema and is no field of an item: fields of the spec, and whole items."""
    rejected: set[tuple[str | int, ...]] = set()
    items: dict[tuple[str | int, ...], list[Path]] = {}
    for violation in violations:
        steps = violation.path.steps
        rejected.add(steps)
        items.setdefault(steps[:-1], []).append(violation.path)
    for path, holds_objects in missing_fields(spec, Path("spec")):
        if not holds_objects or path.steps in rejected:
            yield path
        else:
            yield from items.get(path.steps, ())


class _Paths:
    """The paths that the schema rejects. There may be as many as findings, so a lookup takes constant time."""

    def __init__(self, violations: Iterable[Cause]) -> None:
        self.paths = {violation.path.steps for violation in violations if violation.path}
        self.lengths = {len(steps) for steps in self.paths}

    def __contains__(self, path: Path) -> bool:
        """Tell whether a path is one of these, or inside one."""
        steps = path.steps if self.paths else ()
        return any(steps[:length] in self.paths for length in self.lengths if length <= len(steps))
