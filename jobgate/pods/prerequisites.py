"""The prerequisites of one pod: which ones it names, who may use them, and what goes into it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.jobs.prerequisites import UNKNOWN_ITEMS, USE, refusal
from jobgate.jobs.wiring import WORKLOADS, ClaimedJob
from jobgate.plugins import Part
from jobgate.plugins.crew import RUN_LABEL
from jobgate.pods.access import PermissionCache, Question
from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.inject import annotate, inject
from jobgate.prerequisites.item import RECORD, recorded
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, InvalidReference, Reference, annotated, named_in
from jobgate.prerequisites.resolve import Resolution, finder, resolve
from webhook import Cause, Draft, Forbidden, Invalid, Objects, Path, Request, User
from webhook.values import mapping, metadata_of, objects, spec_of, text

_ACCOUNT = "system:serviceaccount:"
#: The accounts of Kubernetes' controllers that make pods and workloads: one for each, or one for all, by how the
#: control plane is set up.
_MANAGER = "system:kube-controller-manager"
_JOB_CONTROLLERS = frozenset({_MANAGER, f"{_ACCOUNT}kube-system:job-controller"})
_CONTROLLERS = _JOB_CONTROLLERS | {
    f"{_ACCOUNT}kube-system:{name}-controller"
    for name in ("cronjob", "daemon-set", "deployment", "replicaset", "replication", "statefulset")
}

#: The annotation of a pod.
PLACE = (Path("metadata") / "annotations").key(ANNOTATION)


@dataclass(frozen=True, slots=True)
class PodReferences:
    """What a pod or a pod template names.

    Attributes:
        references: of the pod or its job.
        container: the container that its job names for them, or empty.
        annotated: whether the pod itself names them.
        job: the job that names them, if one does: the permission of its author was checked.
        start: beginning of the chain in messages.
        plugins: whether items may have plugins, as those of a job's pod.
        place: path of the annotation.
    """

    references: tuple[Reference, ...]
    container: str = ""
    annotated: bool = True
    job: ClaimedJob | None = None
    start: str = ""
    plugins: bool = False
    place: Path = PLACE


def wanted(
    pod: Mapping[str, Any], job: ClaimedJob | None, part: Part | None, request: Request, place: Path = PLACE
) -> PodReferences | Cause | None:
    """Return what a pod, or the template of a workload, names, or what is wrong with that; None if it names nothing.

    For a pod of a job, the `part` of the `job` names it.
    """
    said = named_in(pod)
    try:
        own = () if said is None else annotated(said)
    except InvalidReference as error:
        return Invalid(place, said, str(error))
    start = f"{request.kind} {request.name or text(metadata_of(pod).get('generateName')) or '(unnamed)'}"
    if part is not None and part.prerequisites and own in {(), part.prerequisites}:
        return PodReferences(part.prerequisites, part.container, bool(own), job, start=start, plugins=True)
    return PodReferences(own, start=start, plugins=part is not None, place=place) if own else None


def _is_made_by_a_controller(request: Request) -> bool:
    """Tell whether a controller of Kubernetes' own makes a pod or workload of a workload that was checked itself."""
    return request.user.name in _CONTROLLERS and _controller_of(request.document) in WORKLOADS


def _is_made_of_the_runners(request: Request, job: ClaimedJob, runs: Container[str]) -> bool:
    """Tell whether the controller of batch Jobs makes a pod of one that the runner has made for a job.

    An admission policy keeps all others from writing the label by which such a pod names its job.
    """
    return (
        RUN_LABEL in job.claim.facts
        and job.kind.qualified_plural in runs
        and request.kind == "Pod"
        and request.user.name in _JOB_CONTROLLERS
        and _controller_of(request.document) == ("batch", "Job")
    )


def _controller_of(document: Any) -> tuple[str, Any] | None:
    """Return the group and the kind of the controller that the owner references of an object name."""
    for _, one in objects(metadata_of(mapping(document)).get("ownerReferences")):
        if one.get("controller") is True:
            return text(one.get("apiVersion")).rpartition("/")[0], one.get("kind")
    return None


class Prerequisites:
    """Puts prerequisites into pods. `runs` are the kinds whose jobs the runner runs, by qualified plural."""

    def __init__(self, known: Objects, access: PermissionCache, runs: Container[str] = ()) -> None:
        self._known = known
        self._access = access
        self._runs = runs

    async def put(self, draft: Draft, wanted: PodReferences, request: Request) -> list[Cause]:
        """Put what a pod names into it, and return what cannot be.

        Raises:
            LookupError: the items, or whether they may be used, are not known yet; the text is for the client.
        """
        try:
            resolution = resolve(wanted.references, finder(self._known, request.namespace))
        except LookupError:
            raise LookupError(UNKNOWN_ITEMS) from None
        trusted = await self._trusts(wanted, request)
        if trusted is not True:
            refused = await self._not_permitted(resolution, wanted, draft.value, request, known=trusted is not None)
            if refused:
                return refused  # and nothing of what is in these items
        content, conflicts = content_of(resolution)
        causes = [_cause(one, wanted) for one in (*resolution.problems, *conflicts)]
        if content.plugins and not wanted.plugins:
            detail = f"only jobs have plugins, and an item asks for {', '.join(content.plugins)}"
            causes.append(_cause(PrerequisiteProblem(ProblemReason.UNSUPPORTED_PLUGIN, (), detail), wanted))
        if causes:
            return causes
        causes = [_cause(one, wanted) for one in inject(draft, content, wanted.container)]
        annotate(draft, RECORD, recorded(resolution.items.values()))
        return causes

    async def _trusts(self, wanted: PodReferences, request: Request) -> bool | None:
        """Tell whether the permission was checked when the pod's job or workload was; None where that is not known.

        Labels and owner references of a job prove nothing: who may create pods can copy them from another user's. An
        operator is known as such by its right to write the status of all jobs, which only an administrator grants. It
        owns pods by the job that it makes them for; labels alone may come from the template of another job.
        """
        if wanted.annotated and _is_made_by_a_controller(request):
            return True
        if wanted.job is None or not (wanted.job.claim.owned or wanted.annotated):
            return False
        if _is_made_of_the_runners(request, wanted.job, self._runs):
            return True
        kind = wanted.job.kind
        status = f"{kind.plural}/status.{kind.version}.{kind.group}"
        questions = [(request.user, verb, status, "", "") for verb in ("update", "patch")]
        await self._access.learn(questions, request.namespace)
        answers = [self._access.may(*one) for one in questions]
        return True if True in answers else None if None in answers else False

    async def _not_permitted(
        self,
        resolution: Resolution,
        wanted: PodReferences,
        pod: Mapping[str, Any],
        request: Request,
        *,
        known: bool,
    ) -> list[Cause]:
        """Return what of the items may not be used, by who creates the pod nor by the account that it runs under.

        `known`: that who creates it is no operator.

        Raises:
            LookupError: whether some may be used is not known now; the text is for the client.
        """
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
            may = None if None in answers or not known else False
            refused = refusal(request.user, one.item, (wanted.start, *one.chain), may)
            if may is None:
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
