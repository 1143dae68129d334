"""The verdict of API server and webhook on an object, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from traceback import walk_tb
from typing import Any

import jsonpatch
from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel

from crdgen.evaluate.stored import stored_object
from jobgate.configured.catalogue import near
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.prerequisites import WATCHED
from jobgate.jobs.schema import StructuralSchema, unchecked_rules
from jobgate.offline.files import is_item, is_namespace
from jobgate.offline.spelling import suggestion
from jobgate.offline.versions import ServedVersion, served
from jobgate.prerequisites.reference import API_VERSION, GROUP, RESOURCES, named_in, template_of
from webhook import (
    Cause,
    Invalid,
    NotConvertible,
    Notice,
    Objects,
    Operation,
    Phase,
    Registry,
    Request,
    Response,
    User,
    review,
)
from webhook.cause import SCHEMA, Finding
from webhook.context import NoObjects
from webhook.path import join
from webhook.schema import Schema
from webhook.values import difference, lost, metadata_of, text

#: Least similarity of a misspelt group to a known one. `batch` and `batch.volcano.sh` have a similarity of 0.48.
_NEAR = 0.8
#: Rules of the warnings that an object is of another kind, and that rules of its CRD were not checked.
OTHER_KIND, NOT_CHECKED = "other-kind", "not-checked"
#: apiVersion and kind of prerequisites.
_ITEMS = tuple((API_VERSION, kind) for kind in RESOURCES)


class ReviewOptions(Struct, frozen=True):
    """The request and the cluster that a review assumes.

    Attributes:
        kinds: the kinds that are reviewed.
        operation: CREATE, or UPDATE of the object of the same name in `stored`.
        namespace: namespace of objects that set none.
        user: name of the user who applies the objects.
        settings: settings of the installation.
        stored: the objects before an UPDATE.
        objects: other objects of the cluster.
    """

    kinds: Registry[CustomKind]
    operation: Operation = Operation.CREATE
    namespace: str = "default"
    user: str = ""
    settings: Settings = field(default_factory=Settings)
    stored: tuple[Mapping[str, Any], ...] = ()
    objects: Objects = field(default_factory=NoObjects)


class Verdict(Struct, frozen=True):
    """The verdict on an object.

    Attributes:
        allowed: whether it would be stored.
        document: the object as it would be stored; a denied object, as it was when it was denied.
        patch: changes of the user's object, as RFC 6902 operations.
        status: the Status that the user would get, if the object is denied.
        findings: causes and warnings, each with the name of its rule.
        reviewed: whether the object is of a kind of ours.
    """

    allowed: bool
    document: Mapping[str, Any]
    patch: list[dict[str, Any]] = []
    status: dict[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    reviewed: bool = True

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that the user would get."""
        return tuple(str(finding) for _, finding in self.findings if not isinstance(finding, Cause))

    @property
    def rules(self) -> frozenset[str]:
        """Names of the rules that found a fault or gave a warning."""
        return frozenset(name for name, _ in self.findings)


def judge(document: dict[str, Any], options: ReviewOptions) -> Verdict:
    """Return the verdict on an object that `kubectl apply` sends.

    In the API server's order: unknown fields are pruned, defaults are set, the mutating webhook is called, defaults are
    set again, the schema is checked, the validating webhook is called. An object of another served version is converted
    to the version that the webhook reviews.
    """
    version = served(document, options.kinds)
    if version is None:
        if is_item(document):
            return _item(document, options)
        return _near_catalogue(document) or _of_no_kind(document, options.kinds)
    if version.converted_elsewhere:
        warning = f"not reviewed: a conversion webhook converts it to {version.kind.gvk.api_version}"
        return _not_reviewed(document, warning)
    try:
        return _judge(document, version, options)
    except ImportError:
        raise  # a library is missing
    except NotConvertible as error:
        return _denied(document, Cause("", f"the conversion webhook answers: {error}"))
    except Exception as error:  # noqa: BLE001 - a rule of an installed package may raise anything
        return _denied(document, _failure(version.kind, error))


def _judge(document: dict[str, Any], version: ServedVersion, options: ReviewOptions) -> Verdict:
    kind = version.kind
    pruned = version.schema.prune({key: value for key, value in document.items() if key != "status"})
    sent = version.up(version.schema.default(pruned))
    old = _old(sent, version, options)
    before = [*_before_review(document, pruned, old, options, version.schema)]
    before += [(NOT_CHECKED, Notice("", sentence)) for sentence in unchecked_rules(kind)]
    mutation = _review(Phase.MUTATE, kind, sent, old, options)
    result = kind.schema.default(jsonpatch.apply_patch(sent, list(mutation.patch))) if mutation.patch else sent
    validation = _review(Phase.VALIDATE, kind, result, old, options) if mutation.allowed else mutation
    stored = version.down(result)
    if causes := _denied_by_schema(version, stored, old):
        every = {str(finding): (rule, finding) for rule, finding in validation.findings}
        every |= {str(cause): (SCHEMA, cause) for cause in causes if str(cause) not in every}
        validation = replace(validation, findings=tuple(every.values()))
    return Verdict(
        allowed=validation.allowed,
        document=stored,
        patch=difference(document, stored),
        status=None if validation.allowed else validation.status(),
        findings=(*before, *validation.findings),
    )


def _item(document: dict[str, Any], options: ReviewOptions) -> Verdict:
    """Return the verdict on a prerequisite."""
    from jobgate.offline import items  # noqa: PLC0415 - most objects are jobs

    schema = items.SCHEMAS[document["kind"]]
    pruned = schema.prune({key: value for key, value in document.items() if key != "status"})
    sent = schema.default(pruned)
    old = _stored(document, options)
    old = None if old is None else schema.default(schema.prune(old))
    subject = (str(document["kind"]), GROUP, str(metadata_of(document).get("name")))
    response = Response("offline", subject=subject).reporting(*items.denied(sent, old))
    if response.allowed:
        problems = items.not_ready(sent, _namespace(document) or options.namespace, options.objects)
        response = response.reporting(*(Notice("spec.require", problem) for problem in problems))
    elif not options.settings.enforces:
        response = response.forgiving(warns=True)
    return Verdict(
        allowed=response.allowed,
        document=sent,
        patch=difference(document, sent),
        status=None if response.allowed else response.status(),
        findings=(*_before_review(document, pruned, old, options, schema), *response.findings),
    )


def _denied_by_schema(version: ServedVersion, stored: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[Cause]:
    """Return causes of the API server alone: transition rules, and the schema of another version."""
    schema = version.schema
    causes = [] if version.is_reviewed else schema.check(stored)
    if old is not None and isinstance(schema, StructuralSchema):
        causes += schema.transitions(stored, version.down(old))
    return causes


def _denied(document: Mapping[str, Any], cause: Cause) -> Verdict:
    group = str(document.get("apiVersion")).rpartition("/")[0]
    subject = (str(document.get("kind")), group, str(metadata_of(document).get("name")))
    response = Response("offline", subject=subject).reporting(cause)
    return Verdict(allowed=False, document=document, status=response.status(), findings=tuple(response.findings))


def _not_reviewed(document: Mapping[str, Any], why: str, rule: str = "") -> Verdict:
    return Verdict(allowed=True, document=document, findings=((rule, Notice("", why)),), reviewed=False)


def _failure(kind: CustomKind, error: Exception) -> Cause:
    """Return the cause for which an object is denied if a rule or a default raises an error.

    In a cluster, the webhook answers 500, and the API server denies the object.
    """
    functions: list[tuple[str, object]] = [(f"rule {rule.name}", rule.check) for rule in kind.rules]
    functions += [(f"default {getattr(default, '__name__', '')}", default) for default in kind.defaults]
    frames = {frame.f_code for frame, _ in walk_tb(error.__traceback__)}
    name = next((name for name, function in functions if getattr(function, "__code__", None) in frames), "the review")
    text = f"{name} of {kind.kind} failed on this object: {type(error).__name__}: {error}"
    if isinstance(error, AttributeError) and isinstance(error.obj, BaseModel):
        text += f"; add a field {error.name} to {type(error.obj).__name__}"
    return Cause("", text)


def _near_catalogue(document: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict on an object of a kind of the catalogue in other case, or of another version."""
    api_version, kind = str(document.get("apiVersion")), str(document.get("kind"))
    described = near(api_version, kind)
    if not described:
        return None
    if all(kind != name for _, name in described):
        return _denied(document, Invalid("kind", kind, f"must be {described[0][1]}"))
    versions = ", ".join(of for of, _ in described)
    return _not_reviewed(document, f"not reviewed: {kind} of {api_version} is not described, but of {versions}")


def _of_no_kind(document: dict[str, Any], kinds: Registry[CustomKind]) -> Verdict:
    """Return the verdict on an object of an unknown kind: denied if a known kind was probably meant, else ignored."""
    names = [*kinds.names(), *_ITEMS]
    known = ", ".join(f"{api_version} {kind}" for api_version, kind in names)
    api_version = document.get("apiVersion")
    of_group = kinds.of_group(str(api_version).rpartition("/")[0])
    conversions = (kind.older(document) for kind in of_group if kind.older is not None)
    conversion = next((conversion for conversion in conversions if conversion is not None), None)
    if conversion is not None:
        what = conversion.fault or "is no longer served: use `jobgate convert`"
        return _denied(document, Invalid("apiVersion", api_version, what))
    group, _, _ = str(api_version).rpartition("/")
    groups = [of.rpartition("/")[0] for of, name in names if name.lower() == str(document.get("kind")).lower()]
    if get_close_matches(group, groups, cutoff=_NEAR):
        what = f"is not a kind of {api_version}; known kinds: {known}"
        return _denied(document, Invalid("kind", document.get("kind"), what))
    if kinds.lacking and "." in group and not group.endswith(".k8s.io"):
        return _denied(document, Cause("", f"is of no kind that is known; {'; '.join(kinds.lacking)}"))
    if is_namespace(document):
        return _not_reviewed(document, "not reviewed; its labels count for the objects in it")
    if named_in(template_of(document)) is not None:
        return _not_reviewed(document, "not reviewed; `jobgate explain` checks the prerequisites that it names")
    return _not_reviewed(document, f"not reviewed; known kinds: {known}", OTHER_KIND)


def _review(
    phase: Phase, kind: CustomKind, document: Mapping[str, Any], old: dict[str, Any] | None, options: ReviewOptions
) -> Response:
    of_cluster = kind.resource is not None and kind.resource.scope == "Cluster"
    request = Request(
        uid="offline",
        api_version=kind.gvk.api_version,
        kind=kind.kind,
        operation=options.operation,
        name=text(metadata_of(document).get("name")),
        namespace="" if of_cluster else _namespace(document) or options.namespace,
        user=User(options.user),
        document=document,
        old_document=old,
    )
    return review(request, phase, options.kinds, options.settings, _Watched(kind, options.objects))


class _Watched:
    """The objects that a server of the kind would know. Implements `webhook.Objects`."""

    def __init__(self, kind: CustomKind, objects: Objects) -> None:
        self._watched, self._objects = {*kind.watches, *kind.reads, *WATCHED}, objects

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object; raises LookupError for a resource that no server would know."""
        if resource not in self._watched:
            raise LookupError(f"{resource} is not in `watches` of the kind, nor in @looks_up(…) of a rule")
        return self._objects.get(resource, name, namespace)


def _old(document: Mapping[str, Any], version: ServedVersion, options: ReviewOptions) -> dict[str, Any] | None:
    """Return the stored object of the same kind and name, as the webhook gets it: in its version, with defaults."""
    if (stored := _stored(document, options)) is None:
        return None
    of = served(stored, options.kinds) or version
    return of.up(of.schema.default(of.schema.prune(stored)))


def _stored(document: Mapping[str, Any], options: ReviewOptions) -> Mapping[str, Any] | None:
    """Return the stored object of the same kind and name, as it was given."""
    is_update = options.operation is Operation.UPDATE
    return stored_object(document, options.stored, options.namespace) if is_update else None


def _namespace(document: Mapping[str, Any]) -> str:
    return text(metadata_of(document).get("namespace"))


def _before_review(
    document: Mapping[str, Any], pruned: Any, old: Mapping[str, Any] | None, options: ReviewOptions, schema: Schema
) -> Iterator[Finding]:
    for steps in lost({key: value for key, value in document.items() if key != "status"}, pruned):
        near = suggestion(schema.shape.node, steps) if isinstance(schema, StructuralSchema) else ""
        hint = f": did you mean {near}?" if near else ""
        yield (
            "unknown-field",
            Notice(join(steps), f"unknown field: rejected by kubectl, dropped for other clients{hint}"),
        )
    if old is None and options.operation is Operation.UPDATE:
        yield "", Notice("", "reviewed as a new object: --old contains no object of this kind and name")
