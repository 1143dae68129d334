"""The prerequisites of one pod: finds them, checks the permission to use them, and injects them."""

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
from jobgate.prerequisites.inject import inject
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import (
    ANNOTATION,
    RECORD,
    InvalidReference,
    Reference,
    annotate,
    annotated,
    named_in,
    recorded,
)
from jobgate.prerequisites.resolve import Resolution, finder, resolve
from webhook import Cause, Draft, Forbidden, Invalid, Objects, Path, Request, User
from webhook.values import mapping, metadata_of, objects, spec_of, text

_ACCOUNT = "system:serviceaccount:"
#: The accounts of Kubernetes' controllers that create pods and workloads: one for each controller, or one for all,
#: depending on the control plane.
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
    """The references of a pod or a pod template to prerequisites.

    Attributes:
        references: of the pod or its job.
        container: the container that its job names for them, or empty.
        annotated: whether the pod itself names them.
        job: the job that names them, if any: the permission of its author was checked.
        start: beginning of the chain in messages.
        plugins: whether items may have plugins; only pods of jobs can.
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
    """Return the references of a pod or of the template of a workload, or their fault; None if there are none.

    A pod of a `job` has the references of the `part`. Jobs of configured kinds need not have been reviewed: their
    references count as those of the pod itself.
    """
    built_in = job is not None and job.kind.resource is not None
    annotation = named_in(pod)
    try:
        own = () if annotation is None else annotated(annotation)
    except InvalidReference as error:
        return Invalid(place, annotation, str(error))
    start = f"{request.kind} {request.name or text(metadata_of(pod).get('generateName')) or '(unnamed)'}"
    if part is not None and part.prerequisites and own in {(), part.prerequisites}:
        return PodReferences(part.prerequisites, part.container, bool(own), job if built_in else None, start, built_in)
    return PodReferences(own, start=start, plugins=built_in and part is not None, place=place) if own else None


def _is_from_a_workload(request: Request) -> bool:
    """Return whether a controller of Kubernetes creates the object from a workload that was checked itself."""
    return request.user.name in _CONTROLLERS and _controller_of(request.document) in WORKLOADS


def _is_from_the_runner(request: Request, job: ClaimedJob, runs: Container[str]) -> bool:
    """Return whether the controller of batch Jobs creates the pod from a Job of the runner.

    An admission policy prevents everyone else from writing the label by which such a pod names its job.
    """
    return (
        RUN_LABEL in job.claim.facts
        and job.kind.qualified_plural in runs
        and request.kind == "Pod"
        and request.user.name in _JOB_CONTROLLERS
        and _controller_of(request.document) == ("batch", "Job")
    )


def _controller_of(document: Any) -> tuple[str, Any] | None:
    """Return the group and the kind of the controller in the owner references of an object."""
    for _, owner in objects(metadata_of(mapping(document)).get("ownerReferences")):
        if owner.get("controller") is True:
            return text(owner.get("apiVersion")).rpartition("/")[0], owner.get("kind")
    return None


class Prerequisites:
    """Injects prerequisites into pods. `runs` are the kinds that the runner runs, by qualified plural."""

    def __init__(self, known: Objects, access: PermissionCache, runs: Container[str] = ()) -> None:
        self._known = known
        self._access = access
        self._runs = runs

    async def put(self, draft: Draft, wanted: PodReferences, request: Request) -> list[Cause]:
        """Inject the prerequisites of a pod, and return the faults.

        Raises:
            LookupError: the items or permissions are not known yet; the message is for the client.
        """
        try:
            resolution = resolve(wanted.references, finder(self._known, request.namespace))
        except LookupError:
            raise LookupError(UNKNOWN_ITEMS) from None
        trusted = await self._trusts(wanted, request)
        if trusted is not True:
            refused = await self._not_permitted(resolution, wanted, draft.value, request, known=trusted is not None)
            if refused:
                return refused  # without any content of these items
        content, conflicts = content_of(resolution)
        causes = [_cause(problem, wanted) for problem in (*resolution.problems, *conflicts)]
        if content.plugins and not wanted.plugins:
            detail = f"only jobs of built-in kinds get plugins of items: {', '.join(content.plugins)}"
            causes.append(_cause(PrerequisiteProblem(ProblemReason.UNSUPPORTED_PLUGIN, (), detail), wanted))
        if causes:
            return causes
        causes = [_cause(problem, wanted) for problem in inject(draft, content, wanted.container)]
        annotate(draft, RECORD, recorded(resolution.items.values()))
        return causes

    async def _trusts(self, wanted: PodReferences, request: Request) -> bool | None:
        """Return whether the permission was checked with the pod's job or workload; None if that is unknown.

        Labels and owner references prove nothing: any user who may create pods can copy them. An operator is recognized
        by its permission to write the status of all jobs, which only an administrator grants. It sets owner references
        in the pods that it creates; labels alone may come from the template of another job.
        """
        if wanted.annotated and _is_from_a_workload(request):
            return True
        if wanted.job is None or not (wanted.job.claim.owned or wanted.annotated):
            return False
        if _is_from_the_runner(request, wanted.job, self._runs):
            return True
        kind = wanted.job.kind
        status = f"{kind.plural}/status.{kind.version}.{kind.group}"
        questions = [(request.user, verb, status, "", "") for verb in ("update", "patch")]
        await self._access.learn(questions, request.namespace)
        answers = [self._access.may(*question) for question in questions]
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
        """Return a cause for each item that neither the creator of the pod nor its service account may use.

        `known`: whether it is certain that the creator is not an operator.

        Raises:
            LookupError: some permissions are not known now; the message is for the client.
        """
        users = list(_users(pod, request))
        instances = {instance.item.source: instance for instance in resolution.instances}
        questions: dict[str, list[Question]] = {
            source: [(user, USE, instance.item.resource, instance.item.name, request.namespace) for user in users]
            for source, instance in instances.items()
        }
        await self._access.learn(question for of_item in questions.values() for question in of_item)
        causes: list[Cause] = []
        unknown = ""
        for source, instance in instances.items():
            answers = [self._access.may(*question) for question in questions[source]]
            if True in answers:
                continue
            allowed = None if None in answers or not known else False
            detail = refusal(request.user, instance.item, (wanted.start, *instance.chain), allowed)
            if allowed is None:
                unknown = detail
            else:
                causes.append(Forbidden(wanted.place, detail, source))
        if unknown and not causes:
            raise LookupError(unknown)
        return causes


def _users(pod: Mapping[str, Any], request: Request) -> Iterator[User]:
    """Yield the users who may have the permission: the requester, and for a controller's pod its service account."""
    yield request.user
    if _controller_of(pod) is not None and request.user.name.startswith((_ACCOUNT, _MANAGER)):
        account = text(spec_of(pod).get("serviceAccountName")) or "default"
        groups = "system:serviceaccounts", f"system:serviceaccounts:{request.namespace}", "system:authenticated"
        yield User(f"{_ACCOUNT}{request.namespace}:{account}", groups)


def _cause(problem: PrerequisiteProblem, wanted: PodReferences) -> Cause:
    references = wanted.references if problem.place is None else [wanted.references[problem.place]]
    names = ", ".join(reference.name for reference in references)
    return Invalid(wanted.place, names, problem.message(wanted.start))
