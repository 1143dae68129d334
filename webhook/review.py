"""The review: a pure function from a request to a response. Server, offline command and tests all call it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from webhook.admission import Request, Response
from webhook.cause import Cause, Notice, TooMany, TypeInvalid
from webhook.context import Access, Context, NoObjects, Objects, Operation, Settings, never
from webhook.draft import Draft
from webhook.job import Job
from webhook.kind import Kind, Registry
from webhook.path import Path
from webhook.ratchet import Identities, identity
from webhook.restore import restoration
from webhook.rule import Rule
from webhook.values import mapping, metadata_of, same, text
from webhook.view import opaque, view, without

#: After so many new causes the review ends: nobody reads more, and hostile objects hold a million.
ENOUGH = 1000

#: What a cause of the schema counts as, where a cause is known by the rule that gave it.
SCHEMA = "schema"
#: And the cause that says that the time for the review was over before its end.
TIME = "time"


class Phase(StrEnum):
    """Which of its two calls the API server makes."""

    MUTATE = "mutate"
    VALIDATE = "validate"


def review(
    request: Request,
    phase: Phase,
    kinds: Registry,
    settings: Settings | None = None,
    objects: Objects | None = None,
    *,
    access: Access | None = None,
    spent: Callable[[], bool] | None = None,
) -> Response:
    """Review one request.

    An object of a kind that is not ours, a subresource, and an UPDATE that leaves the spec, and the reviewed labels and
    annotations of its kind, as they are, are allowed untouched: a finalizer's removal is never denied. A DELETE is
    allowed, too.

    Args:
        request: what is asked.
        phase: MUTATE answers with a patch, and denies only what could not pass the schema after it; VALIDATE answers
            with every fault, and never with a patch.
        kinds: the kinds that are served.
        settings: what the installation says of itself.
        objects: what is known of other objects of the cluster.
        access: what is known of who may do what; None where nobody is to be asked.
        spent: tells whether the time for the review is over; the object is denied then, with that among the causes.
    """
    kind = kinds.get(request.api_version, request.kind)
    if kind is None or request.subresource or request.operation not in _REVIEWED:
        return Response(request.uid)
    document, old = request.document, request.old_document
    name, generate_name = (
        request.name or text(metadata_of(document).get("name")),
        text(metadata_of(document).get("generateName")),
    )
    subject = (kind.kind, kind.group, name or generate_name)
    if not isinstance(document, dict):
        return Response(request.uid, [TypeInvalid("", document, f"must be a {kind.kind} object")], subject=subject)
    updates = request.operation is Operation.UPDATE and isinstance(old, dict)
    if updates and is_unchanged(kind, document, old):
        return Response(request.uid)
    settings = settings or Settings()
    context = Context(
        operation=request.operation,
        namespace=request.namespace,
        name=name,
        generate_name=generate_name,
        user=request.user,
        settings=settings,
        objects=objects or NoObjects(),
        plugins=kinds.plugins,
        access=access,
        spent=spent or never,
    )
    response = Response(request.uid, subject=subject)
    stored = old if updates else None
    if phase is Phase.MUTATE:
        answer = _mutate(kind, document, stored, context, response)
    else:
        answer = _validate(kind, document, stored, context, response)
    return answer if settings.enforces else answer.forgiving(warns=phase is Phase.VALIDATE)


_REVIEWED = frozenset({Operation.CREATE, Operation.UPDATE})


def mutated(kind: Kind, document: dict[str, Any], context: Context) -> Draft:
    """Return the draft of an object after the kind's defaults; some are left out once the time is over.

    An object of more parts than there may be gets none: it is denied, and its defaults could be a million.
    """
    draft = Draft(document)
    for default in () if kind.schema.crowded(document) else kind.defaults:
        if context.spent():
            break
        default(draft, context)
    return draft


def as_stored(kind: Kind, document: Mapping[str, Any], **about: Any) -> dict[str, Any]:
    """Return a stored object with the defaults of today, as those read it who act on it; `about` is for its context.

    Only what admission has reviewed counts: no annotation is copied to where it grants something.
    """
    whole: dict[str, Any] = mutated(kind, kind.schema.default(document), Context(**about, stored=True)).value
    return whole


def is_unchanged(kind: Kind, document: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Tell whether an UPDATE leaves all that is reviewed as it is: the spec, and some labels and annotations."""
    if not same(document.get("spec"), old.get("spec")):
        return False
    for field, keys in kind.reviewed.items():
        new, stored = (mapping(metadata_of(one).get(field)) for one in (document, old))
        if any(new.get(key) != stored.get(key) for key in keys):
            return False
    return True


def _with_old(kind: Kind, stored: dict[str, Any] | None, context: Context) -> Context:
    """Return the context of an UPDATE's rules. The old object has today's defaults, so none is taken for a change."""
    if stored is None:
        return context
    return replace(context, old=mutated(kind, stored, replace(context, stored=True)).value)


def _mutate(
    kind: Kind, document: dict[str, Any], stored: dict[str, Any] | None, context: Context, response: Response
) -> Response:
    """Answer with the patch; or, where no validating call would ever come, with the whole verdict."""
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and metadata.get("deletionTimestamp"):
        return response
    if stored and context.user.name in context.settings.forgetful_writers:
        return replace(response, patch=restoration(document, stored))
    draft = mutated(kind, document, context)
    if context.spent():
        return _denied(response, [_late()])
    violations = [] if kind.schema.fits(draft.value) else kind.schema.check(draft.value)
    if violations:
        verdict = _verdict(kind, draft.value, _with_old(kind, stored, context), violations)
        if any(rule == SCHEMA and isinstance(finding, Cause) for rule, finding in verdict):
            return _denied(response, verdict)
        # All of them were stored before. The API server forgives that only where the values around them are untouched:
        # a default that we add beside them would have it deny what it would have let through.
        return response
    patch = draft.patch
    return replace(response, patch=patch) if patch else response


def _validate(
    kind: Kind, document: dict[str, Any], stored: dict[str, Any] | None, context: Context, response: Response
) -> Response:
    """Answer with the whole verdict on the object, as it is with its defaults: they are there already, or meant."""
    for_rules = _with_old(kind, stored, context)
    job: Job[Any] | None = Job(kind, document, plain=True) if kind.plain(document) else None
    if job is None or not kind.plan.quiet.defaulted(job, context):
        given, document = document, mutated(kind, document, context).value
        if document is not given:
            job = Job(kind, document, plain=True) if kind.plain(document) else None
    verdict = [_late()] if context.spent() else _verdict(kind, document, for_rules, None, job)
    if not verdict:
        return response
    notices = [finding for _, finding in verdict if not isinstance(finding, Cause)]
    return replace(_denied(response, verdict), notices=notices)


def _denied(response: Response, verdict: Iterable[tuple[str, Cause | Notice]]) -> Response:
    """Return the response with the causes of a verdict, each with its rule; without any it is no denial."""
    causes = [(rule, finding) for rule, finding in verdict if isinstance(finding, Cause)]
    return replace(response, causes=[cause for _, cause in causes], rules=[rule for rule, _ in causes])


def _verdict(
    kind: Kind,
    document: dict[str, Any],
    context: Context,
    violations: list[Cause] | None,
    plain: Job[Any] | None = None,
) -> list[tuple[str, Cause | Notice]]:
    """Return all findings, up to so many new causes; what was as wrong before an UPDATE is no longer denied."""
    verdict: list[tuple[str, Cause | Notice]] = []
    stored: _Stored | None = None
    left = ENOUGH
    for rule, finding in (
        _findings_in_plain(plain, context)
        if plain is not None
        else _findings(kind, document, context, violations, updates=context.old is not None)
    ):
        if isinstance(finding, Cause) and context.old is not None and rule != TIME:
            stored = stored or _Stored(kind, context.old, context)
            if stored.has(rule, finding, document):
                if stored.warned < ENOUGH:
                    verdict.append((rule, Notice(finding.path, f"{finding.message} (already stored; not enforced)")))
                    stored.warned += 1
                continue
        verdict.append((rule, finding))
        left -= isinstance(finding, Cause)
        if left <= 0:
            break
    return verdict


class _Stored:
    """What was wrong with an object before an UPDATE.

    Attributes:
        warned: of how many of these faults the user has been warned again.
    """

    def __init__(self, kind: Kind, old: Mapping[str, Any], context: Context) -> None:
        self.warned = 0
        self._known = Identities()
        self._causes = {
            identity(rule, finding, old, self._known, whole=rule == SCHEMA)
            for rule, finding in _findings(kind, old, replace(context, old=None), None, updates=True)
            if isinstance(finding, Cause)
        }

    def has(self, rule: str, cause: Cause, document: Mapping[str, Any]) -> bool:
        """Tell whether a cause in the new object is a fault of the old one, too."""
        return identity(rule, cause, document, self._known, whole=rule == SCHEMA) in self._causes


def _findings(
    kind: Kind, document: Mapping[str, Any], context: Context, violations: list[Cause] | None, *, updates: bool
) -> Iterator[tuple[str, Cause | Notice]]:
    """Yield what the schema and every rule find, each with the name of the rule.

    Args:
        kind: of the object.
        document: the object, with its defaults.
        context: of the review.
        violations: what the schema denies; None where it has not been asked.
        updates: whether it is the object before or after an UPDATE. What the schema denies may be stored then: it
            keeps no rule from the rest.
    """
    if violations is None:
        violations = [] if kind.schema.fits(document) else kind.schema.check(document)
    yield from ((SCHEMA, violation) for violation in violations)
    if violations:
        parts = kind.plan.word(kind.parts).path
        # No rule goes through more parts than there may be: that is what their bound is for.
        hidden = [
            one.path
            for one in violations
            if opaque(kind.spec, one.path) or (isinstance(one, TooMany) and one.path == parts)
        ]
        document, context = _hide(document, context, hidden)
    spec, whole = view(kind.spec, document.get("spec"))
    if updates and violations and not whole:
        document, context = _hide(document, context, [*_in_the_way(kind, spec, violations)])
        spec, whole = view(kind.spec, document.get("spec"))
    broken = _Broken(violations)
    for rule, job in kind.plan.calls(Job(kind, document, spec), whole=whole, updates=context.old is not None):
        for finding in rule.check(job, context):
            if _finding(finding, rule).path not in broken:
                yield rule.name, finding
        if context.spent():  # a rule that goes through much asks for itself
            yield _late()
            break


def _finding(found: object, rule: Rule) -> Cause | Notice:
    """Return what a rule has yielded; what is no finding fails the request, and is never allowed."""
    if not isinstance(found, Notice):
        raise TypeError(f"the rule {rule.name} must yield a Cause or a Notice, not {type(found).__name__}")
    return found


def _hide(document: Mapping[str, Any], context: Context, places: Sequence[Path]) -> tuple[Mapping[str, Any], Context]:
    """Return the object and the context without these places, in the stored object too: else they would be changes."""
    if context.old is not None:
        context = replace(context, old=without(context.old, places))
    return without(document, places), context


def _findings_in_plain(job: Job[Any], context: Context) -> Iterator[tuple[str, Cause | Notice]]:
    """Yield what the rules find in a plain job: most find nothing, and are not called."""
    for rule in job.kind.plan.quiet.calls(job, context):
        for finding in rule.check(job, context):
            yield rule.name, _finding(finding, rule)
    if context.spent():  # once: what is plain is soon judged
        yield _late()


def _in_the_way(kind: Kind, spec: BaseModel, violations: Iterable[Cause]) -> Iterator[Path]:
    """Yield what does not fit the schema and would keep rules from all tasks: a word of the job, a task itself."""
    parts = kind.plan.word(kind.parts).path.steps
    yield from (one.path for one in violations if one.path.steps[:-1] == parts)
    yield from kind.plan.unreadable(spec)


def _late() -> tuple[str, Cause]:
    return TIME, Cause("", "it takes too long to judge: make it smaller, for example with fewer tasks")


class _Broken:
    """The places that the schema denies. There may be as many as findings, so each is asked for in constant time."""

    def __init__(self, violations: Iterable[Cause]) -> None:
        self.places = {violation.path.steps for violation in violations if violation.path}
        self.lengths = {len(steps) for steps in self.places}

    def __contains__(self, path: Path) -> bool:
        """Tell whether a path is one of these places, or inside one."""
        steps = path.steps if self.places else ()
        return any(steps[:length] in self.places for length in self.lengths if length <= len(steps))
