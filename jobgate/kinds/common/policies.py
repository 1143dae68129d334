"""Lifecycle policies, as Volcano knows them: what is done to a job when something happens to its pods.

For an event Volcano goes through the list of the task whose pod raised it, then through the job's, each in order, and
the first policy that matches counts. So each list is judged on its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from crdgen import Atomic, Doc, Int32, Model
from jobgate.kinds.common.pod.reading import containers, mapping
from webhook import (
    Cause,
    Context,
    Duplicate,
    Forbidden,
    Invalid,
    Job,
    Notice,
    NotSupported,
    Path,
    Required,
    Task,
    readable,
)

#: What a duration looks like in JSON: what Go's `time.ParseDuration` takes, without a sign. Any other text stops every
#: typed client that lists the jobs, so the schema refuses it.
DURATION: Final = r"^(0|([0-9]+(\.[0-9]+)?([nuµm]?s|m|h))+)$"

_DURATION_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?([nuµm]?s|m|h)")
_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
#: Go holds a duration as nanoseconds in 64 bits.
DURATION_LIMIT: Final = 2**63 - 1
LONGEST_DURATION: Final = "2562047h47m16.854775807s"


class Event(StrEnum):
    """What happened. OutOfSync, CommandIssued and PodRunning are Volcano's internal ones."""

    ANY = "*"
    POD_PENDING = "PodPending"
    POD_RUNNING = "PodRunning"
    POD_FAILED = "PodFailed"
    POD_EVICTED = "PodEvicted"
    UNKNOWN = "Unknown"
    TASK_COMPLETED = "TaskCompleted"
    TASK_FAILED = "TaskFailed"
    OUT_OF_SYNC = "OutOfSync"
    COMMAND_ISSUED = "CommandIssued"
    JOB_UPDATED = "JobUpdated"


class Action(StrEnum):
    """What is done. SyncJob, EnqueueJob, SyncQueue, OpenQueue and CloseQueue are Volcano's internal ones."""

    ABORT_JOB = "AbortJob"
    RESTART_JOB = "RestartJob"
    RESTART_TASK = "RestartTask"
    RESTART_POD = "RestartPod"
    RESTART_PARTITION = "RestartPartition"
    TERMINATE_JOB = "TerminateJob"
    COMPLETE_JOB = "CompleteJob"
    RESUME_JOB = "ResumeJob"
    SYNC_JOB = "SyncJob"
    ENQUEUE_JOB = "EnqueueJob"
    SYNC_QUEUE = "SyncQueue"
    OPEN_QUEUE = "OpenQueue"
    CLOSE_QUEUE = "CloseQueue"


INTERNAL_EVENTS: Final = frozenset({Event.POD_RUNNING, Event.OUT_OF_SYNC, Event.COMMAND_ISSUED})
INTERNAL_ACTIONS: Final = frozenset(
    {Action.SYNC_JOB, Action.ENQUEUE_JOB, Action.SYNC_QUEUE, Action.OPEN_QUEUE, Action.CLOSE_QUEUE}
)
#: What no part of Volcano raises, though its webhook takes it.
NEVER_RAISED: Final = frozenset({Event.JOB_UPDATED})
#: What is raised for the job, and never looked up in the policies of a task.
OF_THE_JOB: Final = frozenset({Event.UNKNOWN})

#: What messages offer, in the order of the enums.
USEFUL_EVENTS: Final = tuple(one for one in Event if one not in INTERNAL_EVENTS | NEVER_RAISED)
USEFUL_ACTIONS: Final = tuple(one for one in Action if one not in INTERNAL_ACTIONS)


class LifecyclePolicy(Model):
    """One policy: when one of these events happens, or a container ends with this exit code, this is done."""

    action: Annotated[Action | None, Doc("What is done.")] = None
    event: Annotated[Event | None, Doc("The event that the policy is for.")] = None
    events: Annotated[list[Event] | None, Atomic, Doc("The events that the policy is for.")] = None
    exit_code: Annotated[
        int | None, Int32, Doc("The exit code of the first container that the policy is for, other than 0.")
    ] = None
    timeout: Annotated[
        str | None, Field(pattern=DURATION), Doc("How long the action is put off, as 1h30m; at once where absent.")
    ] = None


@dataclass(frozen=True, slots=True)
class Policies:
    """One list of policies: the job's, or a task's.

    Attributes:
        owner: whose it is.
    """

    owner: Job[Any] | Task

    @property
    def policies(self) -> Sequence[LifecyclePolicy]:
        """The policies; none where the owner has no such word."""
        policies: Sequence[LifecyclePolicy] | None = self.owner.word("policies")
        return policies or ()

    @property
    def of_a_task(self) -> bool:
        """Whether it is a task's list."""
        return isinstance(self.owner, Task)

    def tasks(self, job: Job[Any]) -> Sequence[Task]:
        """Return the tasks that the list is for: the one whose it is, or all of the job."""
        return (self.owner,) if isinstance(self.owner, Task) else job.tasks

    def read(self, *words: str) -> Iterator[tuple[Path, LifecyclePolicy]]:
        """Yield the policies of which these words can be read, each with its place."""
        place = self.owner.at("policies")
        for index, policy in readable(self.policies, *words):
            yield place / index, policy

    def events(self) -> Iterator[tuple[Path, Event, LifecyclePolicy]]:
        """Yield every event of the list, with its place and its policy."""
        for path, policy in self.read("event", "events", "timeout"):
            for place, event in events_of(policy, path):
                yield place, event, policy


def lists_of(job: Job[Any]) -> Iterator[Policies]:
    """Yield the lists of policies that can be read: the job's, then those of its tasks."""
    for _, policies in readable(_owners(job), "policies"):
        yield policies


def _owners(job: Job[Any]) -> Iterator[Policies]:
    yield Policies(job)
    for task in job.tasks:
        yield Policies(task)


def events_of(policy: LifecyclePolicy, path: Path) -> Iterator[tuple[Path, Event]]:
    """Yield the events of a policy, `event` and `events` taken together as Volcano does: each once, at its place."""
    seen = set()
    if policy.event is not None:
        seen.add(policy.event)
        yield path / "event", policy.event
    for index, event in enumerate(policy.events or ()):
        if event not in seen:
            seen.add(event)
            yield path / "events" / index, event


def policies_say_when(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano takes a policy for events or for an exit code, one of both."""
    for policies in lists_of(job):
        for path, policy in policies.read("event", "events", "exit_code"):
            events = policy.event is not None or policy.events
            if not events and policy.exit_code is None:
                yield Required(path, "a policy needs event, events or exitCode: without any it would never apply")
            elif events and policy.exit_code is not None:
                yield Forbidden(
                    path / "exitCode", "a policy is for events or for an exit code: make two policies of this one"
                )


def policies_say_what(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy without an action would match, and keep all later ones from being looked at, for nothing."""
    for policies in lists_of(job):
        for path, policy in policies.read("action"):
            if policy.action is None:
                yield Required(path / "action", f"say what is done: {_one_of(USEFUL_ACTIONS)}")


def events_are_not_internal(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano answers its internal events by itself, before it looks at any policy."""
    for policies in lists_of(job):
        for place, event, _policy in policies.events():
            if event in INTERNAL_EVENTS:
                detail = f"it is one of Volcano's internal events; use {_one_of(USEFUL_EVENTS)}"
                yield NotSupported.of(place, event, detail)


def actions_are_not_internal(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Internal actions are steps of Volcano's controllers, of no use or harm to a job; exit codes are no exception.

    Volcano's own webhook looks at the actions of event policies only.
    """
    for policies in lists_of(job):
        for path, policy in policies.read("action"):
            if policy.action in INTERNAL_ACTIONS:
                detail = f"it is one of Volcano's internal actions; use {_one_of(USEFUL_ACTIONS)}"
                yield NotSupported.of(path / "action", policy.action, detail)


def events_are_handled_once(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Of two policies of one list for the same event, the second would never apply."""
    for policies in lists_of(job):
        seen: dict[Event, Path] = {}
        for place, event, _policy in policies.events():
            first = seen.setdefault(event, place)
            if first is not place and event not in INTERNAL_EVENTS:
                yield Duplicate(place, event, f"{first} is for this event already, and the first policy counts")


def any_event_stands_alone(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Volcano refuses `*` beside other events in a list, before or behind: they would be covered twice."""
    for policies in lists_of(job):
        places: dict[Event, Path] = {}
        for place, event, _policy in policies.events():
            places.setdefault(event, place)
        any_event = places.pop(Event.ANY, None)
        if any_event is not None and places:
            event, place = next(iter(places.items()))
            detail = f'it is for every event, and {place} is for {event}: name all events, or "*" alone'
            yield Invalid(any_event, Event.ANY, detail)


def exit_codes_are_of_failures(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A policy for an exit code is looked at when a pod has failed, and then the code is not 0."""
    for policies in lists_of(job):
        for path, policy in policies.read("exit_code"):
            if policy.exit_code == 0:
                yield Invalid(path / "exitCode", 0, "0 is no failure: use event TaskCompleted for pods that succeed")


def exit_codes_are_handled_once(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Of two policies of one list for the same exit code, the second would never apply."""
    for policies in lists_of(job):
        seen: dict[int, Path] = {}
        for path, policy in policies.read("exit_code"):
            if not policy.exit_code:
                continue
            first = seen.setdefault(policy.exit_code, path)
            if first is not path:
                detail = f"{first} is for this exit code already, and the first policy counts"
                yield Duplicate(path / "exitCode", policy.exit_code, detail)


def timeouts_can_be_read(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A duration that Go cannot hold stops every typed client that lists the jobs, the controller first."""
    for policies in lists_of(job):
        for path, policy in policies.read("timeout"):
            if policy.timeout is not None and _overflows(policy.timeout):
                yield Invalid(path / "timeout", policy.timeout, f"must be at most {LONGEST_DURATION}")


def _overflows(duration: str) -> bool:
    """Tell whether a duration is longer than Go can hold; digits that no limit could hold are not even counted."""
    total = 0
    for whole, fraction, unit in _DURATION_PART.findall(duration):
        digits, rest, size = whole.lstrip("0"), fraction[:18], _NANOSECONDS[unit]
        if len(digits) > len(str(DURATION_LIMIT)):
            return True
        total += int(digits or "0") * size + int(rest or "0") * size // 10 ** len(rest)
        if total > DURATION_LIMIT:
            return True
    return False


def events_are_raised(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Some events that Volcano's webhook takes reach no policy, or none of a task."""
    for policies in lists_of(job):
        for place, event, _policy in policies.events():
            if event in NEVER_RAISED:
                yield Notice(place, f"{event} is raised by no part of Volcano: leave it out")
            elif event in OF_THE_JOB and policies.of_a_task:
                yield Notice(
                    place, f"{event} is raised for the job, not for a task: it belongs into the job's policies"
                )


def pending_pods_are_given_time(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Every pod is pending at first: Volcano passes over a policy for that which does not say for how long."""
    for policies in lists_of(job):
        for place, event, policy in policies.events():
            if event is Event.POD_PENDING and policy.timeout is None:
                yield Notice(place, "PodPending applies only with a timeout: say how long a pod may be pending")


def failing_tasks_can_restart(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Volcano raises TaskFailed when the containers of a task have restarted too often; some never restart."""
    for policies in lists_of(job):
        places = [place for place, event, _policy in policies.events() if event is Event.TASK_FAILED]
        if places and all(_never_restarts(task) for task in policies.tasks(job)):
            whose = "this task's" if policies.of_a_task else "every task's"
            for place in places:
                yield Notice(
                    place,
                    f"TaskFailed counts restarts of containers, and {whose} restartPolicy is Never: use PodFailed, or "
                    "make the restartPolicy OnFailure",
                )


def _never_restarts(task: Task) -> bool:
    spec = mapping(task.template.get("spec"))
    own = (container.get("restartPolicy") for container, _ in containers(spec, Path()))
    return spec.get("restartPolicy") == "Never" and not any(own)


def restarted_partitions_exist(job: Job[Any], _: Context) -> Iterator[Notice]:
    """RestartPartition is about the group of pods that the pod belongs to; without groups nothing is restarted."""
    for policies in lists_of(job):
        places = [path for path, policy in policies.read("action") if policy.action is Action.RESTART_PARTITION]
        if places and all(task.word("partition_policy") is None for task in policies.tasks(job)):
            who = "this task has" if policies.of_a_task else "the tasks have"
            for path in places:
                yield Notice(
                    path / "action", f"{who} no partitionPolicy, and so no partitions: use RestartTask or RestartPod"
                )


def exit_codes_come_before_failures(job: Job[Any], _: Context) -> Iterator[Notice]:
    """An exit code comes with PodFailed: an earlier policy for that, or for `*`, is taken first."""
    for policies in lists_of(job):
        earlier: tuple[Path, Event] | None = None
        for path, policy in policies.read("event", "events", "exit_code"):
            if policy.exit_code and earlier:
                place, event = earlier
                what = "every event" if event is Event.ANY else "failed pods"
                yield Notice(path, f"never applies: {place} is for {what} and counts first; put this policy before it")
            earlier = earlier or next(
                ((path, event) for _, event in events_of(policy, path) if event in {Event.ANY, Event.POD_FAILED}), None
            )


def job_policies_have_tasks_left(job: Job[Any], _: Context) -> Iterator[Notice]:
    """The job's policies are for what those of a task leave over; where every task has its own, they never apply."""
    own = Policies(job)
    if not own.policies or not job.tasks:
        return
    left = _Left.over_by(job.tasks)
    for path, policy in own.read("event", "events", "exit_code", "timeout"):
        events = {event for _, event in events_of(policy, path)} - NEVER_RAISED - INTERNAL_EVENTS
        if policy.timeout is None:
            events.discard(Event.POD_PENDING)
        codes = {policy.exit_code} - {None, 0}
        if (events or codes) and not any(map(left.event, events)) and not any(map(left.code, codes)):
            yield Notice(path, "never applies: every task has policies of its own for that, which count first")


@dataclass(frozen=True, slots=True)
class _Left:
    """What the policies of the tasks leave over for those of the job.

    Attributes:
        events: the events that every task has a policy for.
        codes: the exit codes that every task with none for PodFailed has a policy for.
    """

    events: set[Event]
    codes: set[int]

    @classmethod
    def over_by(cls, tasks: Sequence[Task]) -> _Left:
        every = set(Event) - OF_THE_JOB - {Event.ANY}
        events, codes = set(every), None
        for task in tasks:
            handled: set[Event] = set()
            handled_codes: set[int] = set()
            for path, policy in Policies(task).read():
                for _, event in events_of(policy, path):
                    matched = every if event is Event.ANY else {event}
                    handled |= matched if policy.timeout is not None else matched - {Event.POD_PENDING}
                if policy.exit_code is not None:
                    handled_codes.add(policy.exit_code)
            events &= handled
            if Event.POD_FAILED not in handled:
                codes = handled_codes if codes is None else codes & handled_codes
        return cls(events, codes or set())

    def event(self, event: Event) -> bool:
        """Tell whether an event is left over by some task."""
        return event not in self.events

    def code(self, code: int | None) -> bool:
        """Tell whether an exit code is left over by some task."""
        return Event.POD_FAILED not in self.events and code not in self.codes


def _one_of(choices: Sequence[str]) -> str:
    *most, last = ('"*"' if choice == "*" else str(choice) for choice in choices)
    return f"{', '.join(most)} or {last}"


#: The rules, in the order in which a reader wants to know.
policy_rules = (
    policies_say_when,
    policies_say_what,
    events_are_not_internal,
    actions_are_not_internal,
    events_are_handled_once,
    any_event_stands_alone,
    exit_codes_are_of_failures,
    exit_codes_are_handled_once,
    timeouts_can_be_read,
    events_are_raised,
    pending_pods_are_given_time,
    failing_tasks_can_restart,
    restarted_partitions_exist,
    exit_codes_come_before_failures,
    job_policies_have_tasks_left,
)
