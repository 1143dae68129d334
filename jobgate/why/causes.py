"""What holds a job back, the most important cause first. Pure: a function of what was read of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.events import EVENTS
from jobgate.cluster.lease import LEASES
from jobgate.doctor.observed import ClusterSnapshot, Ref
from jobgate.jobs.kind import JobKind
from jobgate.jobs.progress import RunPhase, TaskProgress
from jobgate.jobs.runner import REPLACE_LOST_AFTER, runner_of
from jobgate.jobs.status import is_run
from jobgate.plugins.queueing import GROUPS, KUEUE_CRD, KUEUE_GROUP, KUEUE_QUEUE, NATIVE_GROUP, POD_GROUPS, VERSIONS
from jobgate.runner.lost import NODES
from jobgate.runner.placement import is_ready
from jobgate.runner.progress import progress_of, tasks_of
from jobgate.runner.rivals import holder
from jobgate.runner.seen import CLAIMS, JOBS, PODS, controllers_of
from jobgate.runner.subject import END, LONG_AGO, Observed, PodSeen, Sight, Subject, later, look, moment, read, uid_of
from jobgate.runner.uncreated import add_reasons, last_time, why_uncreated
from jobgate.runner.waiting import GRACE, Cause, Topic, cause_of_group, causes_of_pods, in_order
from jobgate.runner.workloads import reason_of
from jobgate.why.nodes import REPORTED, causes_of_nodes
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

CLASSES: Final = Resource("storageclasses", "v1", "storage.k8s.io")
#: Kubernetes' own PodGroups, by version, and those of gang schedulers.
PODGROUPS: Final = (
    *(Resource(POD_GROUPS, version, NATIVE_GROUP) for version in VERSIONS),
    *(Resource(POD_GROUPS, name.rpartition("/")[2], name.rpartition("/")[0]) for name, _ in GROUPS.values()),
)
#: Older releases of Kueue serve only the last.
WORKLOADS: Final = tuple(Resource("workloads", each, KUEUE_CRD.partition(".")[2]) for each in ("v1beta2", "v1beta1"))
#: Phases, and types of conditions, in which a job of any kind has ended.
_ENDED: Final = frozenset({"Complete", "Completed", "Succeeded", "Failed", "Finished", "Terminated"})
#: What to do, by topic; a cause may say it more exactly.
_FIXES: Final = {
    Topic.RUNNER: "see kubectl get pods in the namespace of jobgate, and jobgate doctor",
    Topic.STOPPED: "check that the controllers of its finalizers run: they remove them",
    Topic.QUEUE: "wait until the jobs before it end, ask for less, or name another queue",
    Topic.CREATION: "correct the pod template, or have changed what the message names; Kubernetes retries",
    Topic.GATE: "see kubectl describe pod, and workload for Kueue: the controller of a gate removes it",
    Topic.SCHEDULER: "check that the scheduler runs that spec.schedulerName of the pod names",
    Topic.CLAIM: "create it, or correct its name in the pod template",
    Topic.NODES: "see kubectl describe pod",
    Topic.GANG: "its pods start together or not at all: free resources, add nodes, or lower its minimum",
    Topic.NODE: "repair the node; Kubernetes deletes its pods after their tolerationSeconds, 300 by default",
    Topic.DELETION: "repair the node, or see why the finalizer stays; delete the pod by force only if it cannot run",
    Topic.IMAGE: "check the name of the image, and that imagePullSecrets may read it",
    Topic.CONTAINER: "create what is missing, or correct the pod template; see kubectl logs and describe",
    Topic.CRASH: "see kubectl logs --previous",
    Topic.ORDER: "see what holds that task back",
}


@dataclass(frozen=True)
class Answer:
    """What a job does: `state` is `waits`, `runs` or `has ended`; and what holds it back, the most important first."""

    job: str
    state: str
    message: str
    causes: Sequence[Cause] = ()

    def to_json(self, seen: ClusterSnapshot) -> dict[str, Any]:
        """Return it as JSON, with what could not be read."""
        skipped = [{"what": what, "why": why} for why, parts in seen.not_checked().items() for what in parts]
        causes = [cause._asdict() for cause in self.causes]
        return {"job": self.job, "state": self.state, "message": self.message, "causes": causes, "notLookedAt": skipped}


@dataclass(frozen=True)
class Situation:
    """What was read of the cluster about a job; `home` is the namespace of the runner."""

    kind: JobKind
    document: Mapping[str, Any]
    seen: ClusterSnapshot
    home: str

    @cached_property
    def dead_nodes(self) -> set[str]:
        """The nodes whose kubelets do not report that they are ready, of those that may be read."""
        return {text(metadata_of(node).get("name")) for node in self.seen.all(NODES) or () if not is_ready(node)}

    @cached_property
    def subject(self) -> Subject | None:
        """The job as the runner reads it; None if the runner cannot run it."""
        return read(self.kind, self.document) if runner_of(self.kind) else None

    def all(self, *resources: Resource) -> list[Mapping[str, Any]]:
        """Return what was listed of resources in the namespace of the job, as far as it could be read."""
        namespace = text(metadata_of(self.document).get("namespace"))
        return [stored for resource in resources for stored in self.seen.all(resource, namespace) or ()]

    @cached_property
    def observed(self) -> Observed:
        """The objects that belong to the job."""
        own = {uid_of(self.document)}
        batches = [batch for batch in self.all(JOBS) if own & controllers_of(batch)]
        own |= set(map(uid_of, batches))
        pods = [pod for pod in self.all(PODS) if own & controllers_of(pod)]
        groups = {uid_of(group): group for group in self.all(*PODGROUPS) if own & controllers_of(group)}
        workloads = {text(metadata_of(each).get("name")): each for each in self.all(*WORKLOADS)}
        names = {name for name, each in workloads.items() if own & controllers_of(each)}
        names |= {text(labels_of(pod).get(KUEUE_GROUP)) for pod in pods} - {""}
        unadmitted = {name: reason_of(name, workloads.get(name)) for name in names}
        return Observed(self.seen.now or END, batches, pods, groups=[*groups.values()], unadmitted=unadmitted)

    @cached_property
    def events(self) -> Mapping[str, Mapping[str, Any]]:
        """The last Event about each object, by uid."""
        events = sorted(self.all(EVENTS), key=last_time)
        return {text(mapping(event.get("involvedObject")).get("uid")): event for event in events}

    @cached_property
    def sight(self) -> Sight | None:
        """The objects by task, of a job that the runner runs."""
        return look(self.subject, self.observed) if self.subject and is_run(self.document) else None

    @cached_property
    def missing(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The tasks that lack pods, each with a pod, as far as that is known."""
        subject, sight = self.subject, self.sight
        if not subject or (self.observed.pods and not sight):
            return []
        have = {name: len(seen.newest) for name, seen in sight.tasks.items()} if sight else {}
        short = [name for name in subject.tasks if subject.replicas(name) > have.get(name, 0)]
        return [(name, subject.operator.pod(subject.job, subject.tasks[name])) for name in short]


def explain(situation: Situation) -> Answer:
    """Return why a job waits, or what it does."""
    document, subject, sight = situation.document, situation.subject, situation.sight
    metadata, status = metadata_of(document), mapping(document.get("status"))
    job = f"{situation.kind.kind} {metadata.get('namespace')}/{metadata.get('name')}"
    words = [entry.get("type") for _, entry in objects(status.get("conditions")) if entry.get("status") == "True"]
    words += [status.get("phase"), mapping(status.get("state")).get("phase")]
    end = subject.runner.end_phase(status) if subject else next((word for word in words if word in _ENDED), None)
    if end:
        return Answer(job, "has ended", ": ".join(filter(None, (end, message_of(status)))))
    phases = [PodSeen(pod, 0).phase for pod in situation.observed.pods]
    message = f"{phases.count('Running')} of {len(phases)} pods run"
    runs = "Running" in phases and "Pending" not in phases
    if subject and sight:
        progress = progress_of(subject, sight)
        runs, message = progress.phase is RunPhase.RUNNING, message_of(status) or progress.message
    causes: dict[tuple[Topic, str], Cause] = {}
    for cause in _causes(situation):
        key, fix = (cause.topic, cause.what), cause.fix or _FIXES.get(cause.topic, "")
        pods = causes[key].pods if key in causes else ()
        causes[key] = cause._replace(fix=fix, pods=pods + cause.pods)
    return Answer(job, "runs" if runs else "waits", message, tuple(in_order(causes.values())))


def _causes(situation: Situation) -> Iterator[Cause]:
    yield from _of_job(situation)
    yield from _of_creation(situation)
    yield from (claims := [*_of_claims(situation)])
    yield from _of_pods(situation, lacks_claims=bool(claims))
    if situation.subject and situation.sight and situation.subject.state.admitted:
        yield from _of_order(situation.subject, tasks_of(situation.subject, situation.sight))


def _of_job(situation: Situation) -> Iterator[Cause]:
    """Yield why nothing is done for a job, whatever its pods are like."""
    document, subject, observed = situation.document, situation.subject, situation.observed
    metadata, status = metadata_of(document), mapping(document.get("status"))
    suspended = subject.suspended if subject else spec_of(document).get("suspend") is True
    names = {text(metadata_of(lease).get("name")): lease for lease in situation.seen.all(LEASES, situation.home) or ()}
    held = next((name for name in names if name.endswith("-runner")), "")
    created = moment(metadata.get("creationTimestamp")) or LONG_AGO
    queue, message = text(labels_of(document).get(KUEUE_QUEUE)), message_of(status)
    taken_up = status or observed.pods or later(created, GRACE) > observed.now
    if (is_run(document) or (subject and not taken_up)) and held and not holder(names[held], observed.now):
        what = f"jobgate's runner is not running: nobody holds Lease {situation.home}/{held}"
        yield Cause(Topic.RUNNER, what)
    elif not taken_up:
        fix = f"install its operator, or let jobgate run its kind: --run {situation.kind.qualified_plural}"
        yield Cause(Topic.RUNNER, "no operator and no runner has taken it up", fix)
    if metadata.get("deletionTimestamp"):
        yield Cause(Topic.STOPPED, f"it is being deleted; finalizers: {', '.join(metadata.get('finalizers', ()))}")
    if subject and subject.runner.is_paused(status):
        yield Cause(Topic.STOPPED, "it is paused", "continue it with the client that paused it")
    if suspended and queue:
        why = "; ".join(filter(None, observed.unadmitted.values())) or "see kubectl get workloads"
        yield Cause(Topic.QUEUE, f"Kueue has not admitted it to queue {queue}: {why}")
    elif suspended:
        yield Cause(Topic.STOPPED, "it is suspended", "set spec.suspend to false")
    elif subject and subject.state.held:
        fix = "annotate the job with jobgate.dev/command=ResumeJob"
        yield Cause(Topic.STOPPED, f"no pod runs since {subject.state.held}", fix)
    elif (subject and is_run(document) and subject.queued) or "more than was released waits: " in message:
        fix = "" if "before it" in message else "ask for less, have the quota raised, or name another queue that exists"
        yield Cause(Topic.QUEUE, message or "the queues have not decided yet", fix)


def _of_creation(situation: Situation) -> Iterator[Cause]:
    """Yield why pods cannot be created."""
    reasons: dict[str, tuple[datetime, str]] = {}
    add_reasons(reasons, (event for event in situation.all(EVENTS) if event.get("reason") == "FailedCreate"))
    last, why = reasons.get(uid_of(situation.document), (LONG_AGO, ""))
    newest = max((PodSeen(pod, 0).created for pod in situation.observed.pods), default=LONG_AGO)
    own = [f"pods cannot be created: {why}"] if why and last >= newest else []
    yield from (Cause(Topic.CREATION, what) for what in (*own, *why_uncreated(situation.observed, reasons)))


def _of_claims(situation: Situation) -> Iterator[Cause]:
    """Yield the claims that keep pods from running, or will keep those that are missing."""
    claims = {text(metadata_of(claim).get("name")): claim for claim in situation.all(CLAIMS)}
    subject, namespace = situation.subject, text(metadata_of(situation.document).get("namespace"))
    listed = situation.seen.all(CLAIMS, namespace) is not None
    created = subject.runner.claims(subject.job) if subject else {}
    names = dict.fromkeys(name for name, spec in created.items() if spec is None)
    for pod in (*situation.observed.pods, *(pod for _, pod in situation.missing)):
        sources = (mapping(volume.get("persistentVolumeClaim")) for _, volume in objects(spec_of(pod).get("volumes")))
        names |= dict.fromkeys(text(source.get("claimName")) for source in sources if source)
    for name in names:
        claim = claims.get(name, {})
        event, of_class = situation.events.get(uid_of(claim), {}), text(spec_of(claim).get("storageClassName"))
        phase = text(mapping(claim.get("status")).get("phase"))
        if not claim and created.get(name) is None and listed:
            yield Cause(Topic.CLAIM, f"PersistentVolumeClaim {name} does not exist")
        elif claim and phase != "Bound" and event.get("reason") not in {"WaitForFirstConsumer", "WaitForPodScheduled"}:
            absent = situation.seen.objects.get(Ref(CLASSES, of_class), claim) is None
            what = f"{name} is {phase or 'Pending'}{f': StorageClass {of_class} does not exist' if absent else ''}"
            fix = f"see kubectl describe pvc {name}"
            yield Cause(Topic.CLAIM, f"PersistentVolumeClaim {what}", fix, text(event.get("message")))


def _of_pods(situation: Situation, *, lacks_claims: bool) -> Iterator[Cause]:
    """Yield what holds pods back, with what nodes lack instead of the scheduler's message if that is known."""
    observed, seen = situation.observed, situation.seen
    nodes, running = seen.all(NODES), seen.all(PODS) if Ref(PODS) in seen.lists else None
    pods = {text(metadata_of(pod).get("name")): PodSeen(pod, 0) for pod in observed.pods}
    causes, _ = causes_of_pods(pods.items(), observed.now, observed.unadmitted, crashes=1)
    by_topic = (cause for cause in in_order(causes) if cause.topic in {Topic.NODES, Topic.GANG})
    unscheduled = {name: cause.what for cause in by_topic for name in cause.pods}
    unplaced = [(name, spec_of(pods[name].document)) for name in unscheduled]
    lacking = [*causes_of_nodes(unplaced, nodes or (), running)] if nodes is not None else []
    yield from (cause._replace(detail=f"the scheduler reports: {unscheduled[cause.pods[0]]}") for cause in lacking)
    known = {name for cause in lacking for name in cause.pods}
    for cause in causes:
        names = tuple(name for name in cause.pods if name not in known)
        pod, detail = pods[cause.pods[0]].document, cause.detail
        fix = cause.fix or "; ".join(fix for words, fix in REPORTED.items() if words in cause.what)
        end = moment(metadata_of(pod).get("deletionTimestamp"))
        if end and situation.sight and spec_of(pod).get("nodeName"):
            due = later(end, REPLACE_LOST_AFTER)
            when = f"{due:%H:%M:%S} UTC by default, unless others can write to its volumes"
            detail = f"the runner replaces it at {when}"
            if due < observed.now:
                detail = f"the runner was to replace it at {when}, or its node answers"
        of_group = cause.topic is Topic.GANG and observed.groups
        if names and not of_group and not (lacks_claims and "persistentvolumeclaim" in cause.what.lower()):
            yield cause._replace(pods=names, fix=fix, detail=detail)
    missing = ((f"task {name}", spec_of(pod)) for name, pod in situation.missing)
    for cause in causes_of_nodes(missing, nodes, None) if nodes is not None else ():
        yield cause._replace(what=f"{', '.join(cause.pods)}: {cause.what}", pods=())
    if not all(spec_of(pod).get("nodeName") for pod in observed.pods) or not pods:
        yield from filter(None, map(cause_of_group, observed.groups))
    held = {name for cause in causes for name in cause.pods}
    yield from (cause for name, pod in pods.items() if name not in held for cause in _of_node(situation, name, pod))


def _of_node(situation: Situation, name: str, pod: PodSeen) -> Iterator[Cause]:
    """Yield what keeps a pod that has a node from running."""
    node, event = text(spec_of(pod.document).get("nodeName")), situation.events.get(pod.uid, {})
    warning = f"{event.get('reason')}: {event.get('message')}" if event.get("type") == "Warning" else ""
    runs = [
        (f"init container {status.get('name')} runs since {since}", status.get("ready"))
        for status in pod.all_containers
        if (since := mapping(mapping(status.get("state")).get("running")).get("startedAt"))
    ]
    if not node or not pod.is_live:
        return
    if node in situation.dead_nodes:
        yield Cause(Topic.NODE, f"node {node} is not ready", pods=(name,))
    elif pod.phase == "Pending" and (runs or warning):
        yield Cause(Topic.CONTAINER, runs[0][0] if runs else warning, pods=(name,))
    elif pod.phase == "Pending" and not pod.all_containers and later(pod.created, GRACE) < situation.observed.now:
        yield Cause(Topic.NODE, f"node {node} has not begun to start it", pods=(name,))
    elif pod.phase == "Running" and any(ready is False for _, ready in runs):
        yield Cause(Topic.CONTAINER, f"runs, and is not ready{warning and ': '}{warning}", pods=(name,))


def _of_order(subject: Subject, tasks: Mapping[str, TaskProgress]) -> Iterator[Cause]:
    """Yield the tasks that wait for others."""
    for name, task in tasks.items():
        condition = subject.start_condition(name)
        awaited = [condition.gate] if condition.gate else []
        for other, ends in condition.tasks:
            if (of := tasks.get(other)) and not (of.complete if ends else of.started):
                count = f"{of.succeeded if ends else of.ready + of.succeeded} of {of.replicas if ends else of.minimum}"
                failed = f", and {of.phases['Failed']} failed" if of.phases.get("Failed") else ""
                awaited.append(f"task {other}, of which {count} pods have {'succeeded' if ends else 'started'}{failed}")
        if task.replicas and not task.released and not condition.is_met(tasks):
            joined = (" or " if condition.any_suffices else " and ").join(awaited)
            yield Cause(Topic.ORDER, f"task {name} waits for {joined}")


def message_of(status: Mapping[str, Any]) -> str:
    """Return the message of the newest condition of a job that holds, or of its state."""
    conditions = [entry for _, entry in objects(status.get("conditions")) if entry.get("status") == "True"]
    texts = [*(entry.get("message") for entry in reversed(conditions)), mapping(status.get("state")).get("message")]
    return next((message for message in map(text, (*texts, status.get("reason"))) if message), "")
