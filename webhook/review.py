"""The review: a pure function from a request to a response. Server, offline command and tests all call it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from webhook.admission import Request, Response
from webhook.cause import Cause, Notice, TypeInvalid
from webhook.context import Access, Context, NoObjects, Objects, Operation, S, Settings, never
from webhook.draft import Draft
from webhook.explain import ENOUGH, SCHEMA, TIME, Finding, call, explain, late
from webhook.kind import Kind, Registry
from webhook.object import object_of
from webhook.ratchet import StoredFaults
from webhook.restore import restoration
from webhook.values import mapping, metadata_of, same, text
from webhook.view import view

_REVIEWED: Final = frozenset({Operation.CREATE, Operation.UPDATE})
_PLAIN: Final = Settings()


class Phase(StrEnum):
    """Which of its two calls the API server makes."""

    MUTATE = "mutate"
    VALIDATE = "validate"


def review(
    request: Request,
    phase: Phase,
    kinds: Registry[Any],
    settings: Settings = _PLAIN,
    objects: Objects | None = None,
    *,
    access: Access | None = None,
    spent: Callable[[], bool] = never,
) -> Response:
    """Review one request.

    Objects of other kinds, subresources, DELETE, and an UPDATE that changes neither the spec nor the reviewed labels
    and annotations are allowed without a patch: the removal of a finalizer is never denied.

    Args:
        request: the request of the API server.
        phase: MUTATE answers with a patch, and denies only objects that the schema would reject after it. VALIDATE
            answers with every fault, and never with a patch.
        kinds: the kinds that are served.
        settings: of the installation.
        objects: the known objects of the cluster.
        access: the known answers of RBAC; None if rights are not checked.
        spent: tells whether the time for the review is over; the object is denied then, with that among the causes.
    """
    kind = kinds.get(request.api_version, request.kind)
    if kind is None or request.subresource or request.operation not in _REVIEWED:
        return Response(request.uid)
    document, old = request.document, request.old_document
    name, generate_name = request.name or _metadata_text(document, "name"), _metadata_text(document, "generateName")
    response = Response(request.uid, subject=(kind.kind, kind.group, name or generate_name))
    if not isinstance(document, dict):
        return replace(response, causes=[TypeInvalid("", document, f"must be a {kind.kind} object")])
    stored = old if request.operation is Operation.UPDATE and isinstance(old, dict) else None
    if stored is not None and is_unchanged(kind, document, stored):
        return Response(request.uid)
    context = Context(
        settings,
        request.operation,
        request.namespace,
        name,
        generate_name,
        request.user,
        objects=objects or NoObjects(),
        access=access,
        spent=spent,
    )
    if phase is Phase.MUTATE:
        response = _mutate(kind, document, stored, context, response)
    else:
        document = defaulted(kind, document, context).value
        findings = [late()] if spent() else _enforced(kind, document, _with_old(kind, stored, context), None)
        response = _answer(response, findings)
    return response if settings.enforces else response.forgiving(warns=phase is Phase.VALIDATE)


def _mutate(
    kind: Kind, document: dict[str, Any], stored: dict[str, Any] | None, context: Context[S], response: Response
) -> Response:
    """Answer with the patch; or, if the schema would reject the patched object, with the whole verdict."""
    if metadata_of(document).get("deletionTimestamp"):
        return response
    if stored and kind.restores(context):
        return replace(response, patch=restoration(document, stored))
    draft = defaulted(kind, document, context)
    if context.spent():
        return _answer(response, [late()], warns=False)
    violations = [] if kind.schema.fits(draft.value) else kind.schema.check(draft.value)
    if not violations:
        return replace(response, patch=patch) if (patch := draft.patch) else response
    findings = _enforced(kind, draft.value, _with_old(kind, stored, context), violations)
    if any(rule == SCHEMA and isinstance(finding, Cause) for rule, finding in findings):
        return _answer(response, findings, warns=False)
    # All violations are stored already. The API server tolerates them only if the values around them do not change: a
    # default that we add beside them would make it deny what it would have allowed.
    return response


def defaulted(kind: Kind, document: dict[str, Any], context: Context[S]) -> Draft:
    """Return the draft of an object after the kind's defaults; some are left out if the time is over.

    An object with more parts than there may be gets none: it is denied, and its defaults could be a million.
    """
    draft = Draft(document)
    for default in () if kind.schema.crowded(document) else kind.defaults:
        if context.spent():
            break
        default(draft, context)
    return draft


def as_stored(kind: Kind, document: Mapping[str, Any], context: Context[S]) -> dict[str, Any]:
    """Return a stored object with the defaults of today, for those who act on it.

    Only what admission has reviewed counts: no annotation is copied to where it grants something.
    """
    whole: dict[str, Any] = defaulted(kind, kind.schema.default(document), replace(context, stored=True)).value
    return whole


def _with_old(kind: Kind, stored: dict[str, Any] | None, context: Context[S]) -> Context[S]:
    """Return the context of an UPDATE's rules. The old object has today's defaults, so none of them is a change."""
    if stored is None:
        return context
    return replace(context, old=defaulted(kind, stored, replace(context, stored=True)).value)


def findings_in(
    kind: Kind,
    document: Mapping[str, Any],
    context: Context[S],
    violations: list[Cause] | None = None,
    *,
    updates: bool = False,
) -> Iterator[Finding]:
    """Yield what schema and rules find in an object with its defaults.

    Nearly all objects are valid: one fast question accepts them, and only the rules about fields that they have are
    called.

    Args:
        kind: of the object.
        document: the object, with its defaults.
        context: of the review.
        violations: what the schema rejects; None if it has not been asked.
        updates: whether it is the object before or after an UPDATE.
    """
    if violations is None and kind.schema.accepts(document):
        spec, whole = view(kind.spec, document.get("spec"))
        if whole:
            rules = kind.when.rules(document, update=context.old is not None)
            return call(rules, object_of(kind, document, spec, fits=True), context)
    return explain(kind, document, context, violations, updates=updates)


def _enforced(
    kind: Kind, document: dict[str, Any], context: Context[S], violations: list[Cause] | None
) -> list[Finding]:
    """Return all findings, up to a limit of new causes; faults that an updated object had already become warnings."""
    findings: list[Finding] = []
    old = context.old
    stored: StoredFaults | None = None
    left, warnings_left = ENOUGH, ENOUGH
    for rule, finding in findings_in(kind, document, context, violations, updates=old is not None):
        if isinstance(finding, Cause) and old is not None and rule != TIME:
            if stored is None:
                before = findings_in(kind, old, replace(context, old=None), updates=True)
                stored = StoredFaults(old, before, whole=SCHEMA)
            if stored.has(rule, finding, document):
                if warnings_left:
                    findings.append((rule, Notice(finding.path, f"{finding.message} (already stored; not enforced)")))
                    warnings_left -= 1
                continue
        findings.append((rule, finding))
        left -= isinstance(finding, Cause)
        if left <= 0:
            break
    return findings


def _answer(response: Response, findings: Iterable[Finding], *, warns: bool = True) -> Response:
    """Return the response with its findings; a denial if a cause is among them."""
    causes, rules, notices = [], [], []
    for rule, finding in findings:
        if isinstance(finding, Cause):
            causes.append(finding)
            rules.append(rule)
        elif warns:
            notices.append(finding)
    return replace(response, causes=causes, rules=rules, notices=notices) if causes or notices else response


def is_unchanged(kind: Kind, document: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Tell whether an UPDATE changes nothing that is reviewed: the spec, and some labels and annotations."""
    if not same(document.get("spec"), old.get("spec")):
        return False
    for field, keys in kind.reviewed.items():
        new, stored = (mapping(metadata_of(side).get(field)) for side in (document, old))
        if any(new.get(key) != stored.get(key) for key in keys):
            return False
    return True


def _metadata_text(document: Any, key: str) -> str:
    return text(metadata_of(document).get(key))
