"""The review: a pure function from a request to a response. The server, the offline commands and the tests call it.

Read it from top to bottom: parse, default, accept or explain, ratchet, answer. `document` is the object of the request,
`stored` the object before an UPDATE, as the API server sends it, and `context.old` the same with today's defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from webhook.admission import Request, Response
from webhook.cause import SCHEMA, TIME, Cause, Finding, Notice, TypeInvalid
from webhook.context import Access, Context, NoObjects, Objects, Operation, Settings, UnknownObjects, never
from webhook.draft import Draft
from webhook.explain import ENOUGH, explain
from webhook.kind import Kind, Registry
from webhook.object import object_of
from webhook.ratchet import StoredFaults
from webhook.restore import restoration
from webhook.rule import call_rules, unchecked
from webhook.values import mapping, metadata_of, same, text

_REVIEWED: Final = frozenset({Operation.CREATE, Operation.UPDATE})
_DEFAULT_SETTINGS: Final = Settings()


class Phase(StrEnum):
    """Which of its two calls the API server makes."""

    MUTATE = "mutate"
    VALIDATE = "validate"


def review(
    request: Request,
    phase: Phase,
    kinds: Registry[Any],
    settings: Settings = _DEFAULT_SETTINGS,
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
        settings: the settings of the installation, of the class that the rules of the kinds read.
        objects: the known objects of the cluster.
        access: the known answers of RBAC; None if rights are not checked.
        spent: tells whether the time for the review is over. Then the object is denied, and a cause says so.
    """
    kind = kinds.get(request.api_version, request.kind)
    if kind is None or request.subresource or request.operation not in _REVIEWED:
        return Response(request.uid)
    document, stored = request.document, request.old_document
    metadata = metadata_of(document)
    name, generate_name = request.name or text(metadata.get("name")), text(metadata.get("generateName"))
    response = Response(request.uid, subject=(kind.kind, kind.group, name or generate_name))
    if not isinstance(document, dict):
        return response.reporting(TypeInvalid("", document, f"must be a {kind.kind} object"))
    if request.operation is not Operation.UPDATE or not isinstance(stored, dict):
        stored = None
    elif is_unchanged(kind, document, stored):
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
    answer = _mutate if phase is Phase.MUTATE else _validate
    response = answer(kind, document, stored, context, response)
    return response if settings.enforces and kind.enforced else response.forgiving(warns=phase is Phase.VALIDATE)


def is_unchanged(kind: Kind, document: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Tell whether an UPDATE changes nothing that is reviewed: the spec, and some labels and annotations."""
    if not same(document.get("spec"), stored.get("spec")):
        return False
    for field, keys in kind.reviewed.items():
        new, old = (mapping(metadata_of(version).get(field)) for version in (document, stored))
        if any(new.get(key) != old.get(key) for key in keys):
            return False
    return True


def _mutate(
    kind: Kind, document: dict[str, Any], stored: dict[str, Any] | None, context: Context[Any], response: Response
) -> Response:
    """Answer with the patch; or with every fault, if the schema would reject the patched object."""
    if metadata_of(document).get("deletionTimestamp"):
        return response
    if stored and kind.restores(context):
        return replace(response, patch=restoration(document, stored))
    draft = defaulted(kind, document, context)
    if context.spent():
        return replace(response, findings=[kind.out_of_time()])
    violations = [] if kind.schema.fits(draft.value) else kind.schema.check(draft.value)
    if not violations:
        return replace(response, patch=patch) if (patch := draft.patch) else response
    findings = _enforced(kind, draft.value, _with_old(kind, stored, context), violations)
    if any(rule == SCHEMA and isinstance(finding, Cause) for rule, finding in findings):
        return replace(response, findings=[pair for pair in findings if isinstance(pair[1], Cause)])
    # All violations are stored already. The API server tolerates them only if the values around them do not change: a
    # default that we add beside them would make it deny what it would have allowed.
    return response


def _validate(
    kind: Kind, document: dict[str, Any], stored: dict[str, Any] | None, context: Context[Any], response: Response
) -> Response:
    """Answer with every fault."""
    skipped: list[Finding] = []
    draft = defaulted(kind, document, context, skipped)
    if context.spent():
        return replace(response, findings=[kind.out_of_time()])
    findings = skipped + _enforced(kind, draft.value, _with_old(kind, stored, context))
    return replace(response, findings=findings) if findings else response


def defaulted(
    kind: Kind, document: dict[str, Any], context: Context[Any], skipped: list[Finding] | None = None
) -> Draft:
    """Return the draft of an object after the kind's defaults; not after all of them if the time is over.

    Defaults that cannot look something up are skipped; `skipped` gets a warning for each. An object with more parts
    than allowed gets no defaults: it is denied, and they could be a million.
    """
    draft = Draft(document)
    for default in () if kind.schema.crowded(document) else kind.defaults:
        if context.spent():
            break
        try:
            default(draft, context)
        except UnknownObjects as error:
            if skipped is not None:
                skipped.append((getattr(default, "__name__", "default"), unchecked(error)))
    return draft


def as_stored(kind: Kind, document: Mapping[str, Any], context: Context[Any]) -> dict[str, Any]:
    """Return a stored object with today's defaults, for programs that act on it.

    Only what admission has reviewed counts: no annotation is copied to where it grants something.
    """
    return defaulted(kind, kind.schema.default(document), replace(context, is_stored=True)).value


def _with_old(kind: Kind, stored: dict[str, Any] | None, context: Context[Any]) -> Context[Any]:
    """Return the context for rules. The old object has today's defaults, so that none of them counts as a change."""
    if stored is None:
        return context
    return replace(context, old=defaulted(kind, stored, replace(context, is_stored=True)).value)


def _enforced(
    kind: Kind, document: dict[str, Any], context: Context[Any], violations: list[Cause] | None = None
) -> list[Finding]:
    """Return the findings in an object, up to a limit of new causes.

    A cause that the old object has already becomes a warning.
    """
    findings: list[Finding] = []
    causes_left = warnings_left = ENOUGH
    old, faults = context.old, None
    if old is not None:
        faults = StoredFaults(old, _findings(kind, old, replace(context, old=None), ratchets=True))
    for rule, finding in _findings(kind, document, context, violations, ratchets=old is not None):
        if isinstance(finding, Cause):
            if faults is not None and rule != TIME and faults.include(rule, finding, document):
                if warnings_left:
                    findings.append((rule, Notice(finding.path, f"{finding.message} (already stored; not enforced)")))
                    warnings_left -= 1
                continue
            causes_left -= 1
        findings.append((rule, finding))
        if not causes_left:
            break
    return findings


def _findings(
    kind: Kind,
    document: Mapping[str, Any],
    context: Context[Any],
    violations: list[Cause] | None = None,
    *,
    ratchets: bool,
) -> Iterator[Finding]:
    """Yield the findings of the schema and of the rules in an object with its defaults.

    Nearly all objects are valid: one fast question accepts them, and only the rules about fields that they have are
    called.

    Args:
        kind: the kind of the object.
        document: the object.
        context: the context of the review.
        violations: what the schema rejects; None if it has not been asked.
        ratchets: whether the object is the new or the old one of an UPDATE: see `explain`.
    """
    if violations is None and (spec := kind.accepted(document)) is not None:
        rules = kind.when.rules(document, for_update=context.old is not None)
        yield from call_rules(rules, object_of(kind, document, spec, fits=True), context)
        return
    yield from explain(kind, document, context, violations, ratchets=ratchets)
