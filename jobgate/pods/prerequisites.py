"""The prerequisites of one pod: which ones it names, who may use them, and what goes into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of, text
from jobgate.kinds.common.prerequisites import UNKNOWN_ITEMS, USE, refusal
from jobgate.kinds.common.wiring import WORKLOADS
from jobgate.plugins import Part
from jobgate.pods.access import PermissionCache, Question
from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.inject import annotate, inject
from jobgate.prerequisites.item import RECORD, recorded
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, InvalidReference, Reference, annotated
from jobgate.prerequisites.resolve import Resolution, finder, resolve
from webhook import Cause, Draft, Forbidden, Invalid, Objects, Path, Request, User

#: The accounts of Kubernetes' controllers: one for each, or one for all, by how the control plane is set up.
_CONTROLLERS, _MANAGER = "system:serviceaccount:kube-system:", "system:kube-controller-manager"
_ACCOUNT = "system:serviceaccount:"

#: The annotation of a pod.
PLACE = (Path("metadata") / "annotations").key(ANNOTATION)


@dataclass(frozen=True, slots=True)
class PodReferences:
    """What a pod or a pod template names.

    Attributes:
        references: of the pod or its job.
        container: the container that its job names for them, or empty.
        trusted: whether the permission was checked when the pod's job or workload was created.
        start: beginning of the chain in messages.
        plugins: whether items may have plugins, as those of a job's pod.
        place: path of the annotation.
    """

    references: tuple[Reference, ...]
    container: str = ""
    trusted: bool = False
    start: str = ""
    plugins: bool = False
    place: Path = PLACE


def wanted(
    pod: Mapping[str, Any], part: Part | None, request: Request, place: Path = PLACE
) -> PodReferences | Cause | None:
    """Return what a pod, or the template of a workload, names, or what is wrong with that; None if it names nothing.

    For a pod of a job, the `part` of the job names it: the permission of the job's author was checked. For what a pod
    names by itself, its own author needs the permission. Owners are those of the request's object, not of a template.
    """
    said = mapping(metadata_of(pod).get("annotations")).get(ANNOTATION)
    try:
        own = () if said is None else annotated(said)
    except InvalidReference as error:
        return Invalid(place, said, str(error))
    start = f"{request.kind} {request.name or text(metadata_of(pod).get('generateName')) or '(unnamed)'}"
    if part is not None and part.prerequisites and own in {(), part.prerequisites}:
        trusted = _may_be_an_operator(request)
        return PodReferences(part.prerequisites, part.container, trusted=trusted, start=start, plugins=True)
    if not own:
        return None
    trusted = _is_made_by_a_controller(mapping(request.document), request.user)
    return PodReferences(own, trusted=trusted, start=start, plugins=part is not None, place=place)


def _may_be_an_operator(request: Request) -> bool:
    """Tell whether an operator may have made a job's pod: an account that users of the job's namespace cannot take.

    Labels and owner references prove nothing: who may create pods can copy them from a pod of another user's job.
    """
    name = request.user.name
    if name == _MANAGER:
        return True
    return name.startswith(_ACCOUNT) and not name.startswith(f"{_ACCOUNT}{request.namespace}:")


def _is_made_by_a_controller(made: Mapping[str, Any], user: User) -> bool:
    """Tell whether a controller of Kubernetes' own makes a pod or workload of a workload that was checked itself."""
    if user.name != _MANAGER and not user.name.startswith(_CONTROLLERS):
        return False
    owners = (one for _, one in objects(metadata_of(made).get("ownerReferences")) if one.get("controller") is True)
    return any((text(one.get("apiVersion")).rpartition("/")[0], one.get("kind")) in WORKLOADS for one in owners)


class Prerequisites:
    """Puts prerequisites into pods."""

    def __init__(self, known: Objects, access: PermissionCache) -> None:
        self._known = known
        self._access = access

    async def put(self, draft: Draft, wanted: PodReferences, request: Request) -> list[Cause]:
        """Put what a pod names into it, and return what cannot be.

        Raises:
            LookupError: the items, or whether they may be used, are not known yet; the text is for the client.
        """
        try:
            resolution = resolve(wanted.references, finder(self._known, request.namespace))
        except LookupError:
            raise LookupError(UNKNOWN_ITEMS) from None
        content, conflicts = content_of(resolution)
        causes = [_cause(one, wanted) for one in (*resolution.problems, *conflicts)]
        if content.plugins and not wanted.plugins:
            detail = f"only jobs have plugins, and an item asks for {', '.join(content.plugins)}"
            causes.append(_cause(PrerequisiteProblem(ProblemReason.UNSUPPORTED_PLUGIN, (), detail), wanted))
        if not wanted.trusted:
            causes += await self._not_permitted(resolution, wanted, draft.value, request)
        if causes:
            return causes
        causes = [_cause(one, wanted) for one in inject(draft, content, wanted.container)]
        annotate(draft, RECORD, recorded(resolution.items.values()))
        return causes

    async def _not_permitted(
        self, resolution: Resolution, wanted: PodReferences, pod: Mapping[str, Any], request: Request
    ) -> list[Cause]:
        """Return what of the items may not be used, by who creates the pod nor by the account that it runs under."""
        users = list(_users(pod, request))
        instances = {one.item.source: one for one in resolution.instances}
        questions: dict[str, list[Question]] = {
            source: [(user, USE, one.item.resource, one.item.name, request.namespace) for user in users]
            for source, one in instances.items()
        }
        await self._access.learn(question for several in questions.values() for question in several)
        causes: list[Cause] = []
        unknown = ""
        for source, one in instances.items():
            answers = [self._access.may(*question) for question in questions[source]]
            if True in answers:
                continue
            refused = refusal(request.user, one.item, (wanted.start, *one.chain), None if None in answers else False)
            if None in answers:
                unknown = refused
            else:
                causes.append(Forbidden(wanted.place, refused, source))
        if unknown and not causes:
            raise LookupError(unknown)
        return causes


def _users(pod: Mapping[str, Any], request: Request) -> Iterator[User]:
    """Yield who may have the right: who asks, and for a controller's pod the account that the pod runs under."""
    yield request.user
    owned = any(one.get("controller") is True for _, one in objects(metadata_of(pod).get("ownerReferences")))
    if owned and request.user.name.startswith(_ACCOUNT):
        account = text(spec_of(pod).get("serviceAccountName")) or "default"
        groups = "system:serviceaccounts", f"system:serviceaccounts:{request.namespace}", "system:authenticated"
        yield User(f"{_ACCOUNT}{request.namespace}:{account}", groups)


def _cause(problem: PrerequisiteProblem, wanted: PodReferences) -> Cause:
    about = wanted.references if problem.place is None else [wanted.references[problem.place]]
    return Invalid(wanted.place, ", ".join(one.name for one in about), problem.said(wanted.start))
