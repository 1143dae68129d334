"""Statuses over random sequences of what happens to jobs: each equals another, small reading of the pods.

`python -m tests.runner.statuses --seeds 20000` tries more sequences than the tests do.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from jobgate.jobs.policies import COMMAND
from jobgate.jobs.status import STATE
from jobgate.runner.actions import RecordEvent, RequeueAfter, SetStatus
from tests.runner.test_rendering import example
from tests.runner.world import Object, World, dijob, finished, index, owner, phase, stored, subject, task, vcjob, vctask

#: The phases of each kind, and those that may follow: the state machine of its types. A job that is held waits as one
#: that has not begun, and `RestartJob` begins again.
ENDS = {"Succeeded", "Failed"}
PHASES: Mapping[str, Mapping[str, set[str]]] = {
    "DIJob": {
        "": {"Pending", "Starting", "Running", "Restarting", "Rescheduling", *ENDS},
        "Pending": {"Starting", "Running", "Restarting", "Rescheduling", *ENDS},
        "Starting": {"Running", "Restarting", "Rescheduling", "Pending", *ENDS},
        "Running": {"Restarting", "Rescheduling", "Pending", *ENDS},
        "Restarting": {"Starting", "Running", "Rescheduling", "Pending", *ENDS},
        "Rescheduling": {"Starting", "Running", "Restarting", "Pending", *ENDS},
    },
    "Job": {
        "": {"Pending", "Running", "Restarting", "Aborted", "Aborting", "Completed", "Failed", "Terminated"},
        "Pending": {"Running", "Restarting", "Aborting", "Aborted", "Completed", "Failed", "Terminated"},
        "Running": {"Pending", "Restarting", "Aborting", "Aborted", "Completed", "Failed", "Terminated"},
        "Restarting": {"Pending", "Running", "Aborting", "Aborted", "Completed", "Failed", "Terminated"},
        "Aborting": {"Aborted", "Restarting", "Pending", "Completed", "Terminated", "Failed"},
        "Aborted": {"Aborting", "Restarting", "Pending", "Running", "Completed", "Terminated", "Failed"},
    },
    "MxJob": {
        "": {"Creating", "Running", "CleanUp", "Done", "Failed"},
        "Creating": {"Running", "CleanUp", "Done", "Failed"},
        "Running": {"Creating", "CleanUp", "Done", "Failed"},
        "CleanUp": {"Done", "Failed"},
    },
    "TorchJob": {
        "": {"Created", "Queuing", "Running", "Restarting", *ENDS},
        "Created": {"Queuing", "Running", "Restarting", *ENDS},
        "Queuing": {"Created", "Running", "Restarting", *ENDS},
        "Running": {"Created", "Queuing", "Restarting", *ENDS},
        "Restarting": {"Created", "Queuing", "Running", *ENDS},
    },
}
#: Restarts of a TorchJob or an MxJob with policies and without a limit.
LIMIT = 6
#: What may put a job back to a phase before it ran: a command, a queue or a policy that restarts it, and never a pod.
HELD = {"Pending", "Creating", "Created", "Queuing"}


class Pods(World):
    """A job whose pods begin as Kubernetes makes them: pending, and on no node."""

    def _pod(self, batch: Object, number: int) -> Object:
        pod = super()._pod(batch, number)
        pod["status"] |= {"phase": "Pending", "conditions": []}
        pod["status"]["containerStatuses"][0]["ready"] = False
        return pod

    def now_there(self) -> dict[tuple[str, int], Object]:
        """The pods of the attempt that nobody deletes, by task and index: of one index, the newest."""
        kept = [batch["metadata"] for batch in self.jobs.values() if "deletionTimestamp" not in batch["metadata"]]
        attempt = str(self.status[STATE]["attempt"])
        uids = {one["uid"] for one in kept if one["labels"]["jobgate.dev/attempt"] == attempt}
        mine = [pod for pod in self.pods if owner(pod) in uids]
        newest = {(pod["metadata"]["labels"]["jobgate.dev/task"], index(pod)): pod for pod in mine}
        return {place: pod for place, pod in newest.items() if "deletionTimestamp" not in pod["metadata"]}


def jobs(*, with_policies: bool) -> dict[str, Object]:
    """A job of each kind; of TorchJobs and MxJobs, perhaps with lifecycle policies beside the kind's own answers."""
    torch = example("torchjob/queued-gang.yaml")
    del torch["spec"]["schedulingPolicy"]
    policies = [{"exitCode": 7, "action": "RestartJob"}, {"event": "PodEvicted", "action": "RestartPod"}]
    mxnet = stored(example("mxjob/dist.yaml"))
    if with_policies:
        torch["spec"]["policies"] = [*policies, {"event": "PodFailed", "action": "RestartJob"}]
        torch["spec"]["torchTaskSpecs"]["Worker"]["policies"] = [{"exitCode": 1, "action": "RestartTask"}]
        mxnet["spec"]["policies"] = [{"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}]
        for role in mxnet["spec"]["replicaSpecs"][1:]:
            role["policies"] = [{"exitCode": 7, "action": "RestartTask"}, {"exitCode": 137, "action": "RestartPod"}]
    return {
        "DIJob": dijob(task(2), task(1, name="judge"), backoffLimit=4),
        "Job": vcjob(vctask(3), vctask(1, name="judge"), minAvailable=2, policies=policies),
        "MxJob": mxnet,
        "TorchJob": stored(torch),
    }


def parts(job: Object) -> list[tuple[str, Object]]:
    """The tasks of a job, each with its name in the names of pods."""
    spec = job["spec"]
    if "torchTaskSpecs" in spec:
        return [(key.lower(), part) for key, part in spec["torchTaskSpecs"].items()]
    listed = spec.get("tasks") or spec["replicaSpecs"]
    return [(part.get("name") or part["mxReplicaType"].lower(), part) for part in listed]


def answer(job: Object, name: str, code: int) -> str:
    """The action of the first policy for a pod of a task that ends with a code: those of the task come first."""
    own: Object = next(part for key, part in parts(job) if key == name)
    for policy in [*own.get("policies", ()), *job["spec"].get("policies", ())] if code else ():
        events = {policy.get("event"), *policy.get("events", ())}
        if policy.get("exitCode") == code or "PodFailed" in events:
            return str(policy["action"])
    return ""


def sizes(job: Object) -> dict[str, int]:
    """The number of pods of each task, by its name in the names of pods."""
    read = subject(job)
    return {name: read.replicas(name) for name in read.tasks}


def expected(job: Object, there: Mapping[tuple[str, int], Object], deleted: int) -> Object:
    """The counts of a status, as the types of the job's kind mean them, of the newest pods and those being deleted."""
    kind, wanted = job["kind"], sizes(job)
    pods: dict[str, list[Object]] = {name: [] for name in wanted}
    for (name, number), pod in there.items():
        if number < wanted[name]:
            pods[name].append(pod["status"])
    by_phase = {name: dict(Counter(one["phase"] for one in found)) for name, found in pods.items()}
    if kind == "DIJob":
        ready = sum(one["ready"] for found in pods.values() for pod in found for one in pod["containerStatuses"])
        ended = job["status"]["phase"] in ENDS
        return {"replicas": sum(wanted.values()), "readyReplicas": ready} | ({} if ended else {"taskStatus": by_phase})
    if kind == "Job":
        words = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
        counts = {word.lower(): sum(found.get(word, 0) for found in by_phase.values()) for word in words}
        by_task = {name: {"phase": found} for name, found in by_phase.items() if found}
        return {**counts, "terminating": deleted, "taskStatusCount": by_task}
    if kind == "MxJob":
        return {
            name: {{"Pending": "Starting"}.get(word, word): count for word, count in found.items()}
            for name, found in by_phase.items()
        }
    return {
        name: {
            "active": sum(
                one["phase"] == "Running" or (one["phase"] == "Pending" and holds(one, "Initialized")) for one in found
            ),
            "succeeded": by_phase[name].get("Succeeded", 0),
            "failed": by_phase[name].get("Failed", 0),
            "evicted": sum(one["phase"] == "Failed" and holds(one, "DisruptionTarget") for one in found),
        }
        for name, found in pods.items()
    }


def reported(job: Object) -> Object:
    """The same, as the status says it."""
    status, kind = job["status"], job["kind"]
    if kind == "MxJob":
        return {one["mxReplicaType"].lower(): one["replicasStates"] for one in status["replicaStatuses"]}
    if kind == "TorchJob":
        words = ("active", "succeeded", "failed", "evicted")
        return {key.lower(): {word: one[word] for word in words} for key, one in status["taskStatuses"].items()}
    counters = ["pending", "running", "succeeded", "failed", "unknown", "terminating", "taskStatusCount"]
    fields = ["replicas", "readyReplicas", "taskStatus"] if kind == "DIJob" else counters
    return {field: status[field] for field in fields if field in status}


def shown(status: Mapping[str, Any], kind: str) -> str:
    """The phase of a job by its status."""
    if kind == "TorchJob":
        true = [one["type"] for one in status.get("conditions", ()) if one["status"] == "True"]
        return str(true[-1]) if true else ""
    return str(status.get("state", {}).get("phase", "") if kind == "Job" else status.get("phase", ""))


def holds(status: Mapping[str, Any], condition: str) -> bool:
    """Whether a condition of a pod is true."""
    return any(one["type"] == condition and one["status"] == "True" for one in status["conditions"])


class Trial:
    """One job, to which things happen."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind, self.random = kind, random.Random(f"{kind} {seed}")
        self.world = Pods(jobs(with_policies=seed % 2 == 1)[kind])
        self.seen = [""]
        self.held = True
        self.story: list[str] = []
        self.rescheduled = self.changes = 0

    def run(self, steps: int = 40) -> list[str]:
        """Let things happen, and compare after each; return the phases that the job passed."""
        self.settle()
        for _ in range(steps):
            if self.world.gone:
                break
            self.happen()
            self.settle()
        return self.seen

    def look(self) -> None:
        """Reconcile until there is nothing to do. Sometimes the runner stops halfway, as if it was killed."""
        for _ in range(30):
            actions = self.world.plan()
            dies = self.random.randrange(len(actions) + 1) if actions and self.random.random() < 0.2 else None
            for number, action in enumerate(actions):
                if number == dies:
                    break
                self.world._do(action)
                if isinstance(action, SetStatus):
                    self.wrote()
            if not [one for one in actions if not isinstance(one, RequeueAfter | RecordEvent)]:
                break
        else:
            raise AssertionError(f"it never settles: {actions}")

    def settle(self) -> None:
        """Let the runner look, and compare the status."""
        self.look()
        deleted = sum("deletionTimestamp" in pod["metadata"] for pod in self.world.pods)
        right, job = expected(self.world.job, self.world.now_there(), deleted), reported(self.world.job)
        assert job == right, "\n".join([*self.story, f"{job}", f"{right}"])
        if self.kind == "DIJob":
            true = [one["type"] for one in self.world.status["conditions"] if one["status"] == "True"]
            assert true == [self.seen[-1]] == [self.world.status["conditions"][-1]["type"]]
            assert self.world.status["reschedules"] == self.rescheduled
            assert self.world.status["restarts"] <= 4

    def wrote(self) -> None:
        """Compare a phase with the one before it."""
        now, before = shown(self.world.status, self.kind), self.seen[-1]
        if now == before:
            return
        story = "\n".join([*self.story, f"{before} -> {now}"])
        assert now in PHASES[self.kind].get(before, set()), story
        assert self.held or now not in HELD or before in {"", *HELD} or self.kind == "Job", story
        if now == "Running":
            assert self.enough(), story
            self.held = False
        self.rescheduled += now == "Rescheduling"
        self.seen.append(now)

    def enough(self) -> bool:
        """Whether as many pods run, or have ended well, as the kind needs for Running."""
        there, wanted = self.world.now_there(), sizes(self.world.job)
        ran = Counter(
            name
            for (name, number), pod in there.items()
            if phase(pod) in {"Running", "Succeeded"} and number < wanted[name]
        )
        if self.kind == "Job":
            return sum(phase(pod) in {"Running", "Succeeded", "Failed"} for pod in there.values()) >= 2
        least = {**wanted, "worker": 2} if self.kind == "TorchJob" else wanted
        return all(ran[name] >= number for name, number in least.items())

    def happen(self) -> None:
        """Let one thing happen."""
        pods = list(self.world.now_there().values())
        chosen = self.random.choice(
            [self.kubernetes] * 6
            + [self.progress] * 10
            + [self.end] * 2
            + [self.evict, self.delete, self.lose, self.ask, self.scale, self.change]
        )
        self.world.wait(self.random.choice((0, 1, 30)))
        if pods or chosen in {self.kubernetes, self.ask, self.scale, self.change}:
            chosen_pod = self.random.choice(pods) if pods else {}
            self.story.append(f"{chosen.__name__} {chosen_pod.get('metadata', {}).get('name', '')} {self.seen[-1]}")
            policies = str(self.world.job["spec"].get("policies")) if self.kind != "Job" else ""
            self.held = self.held or (
                "RestartJob" in policies and chosen in {self.end, self.evict, self.delete, self.lose}
            )
            chosen(chosen_pod)

    def kubernetes(self, _: Object) -> None:
        self.world.kubernetes()

    def progress(self, _: Object) -> None:
        for pod in self.world.now_there().values():
            status, done = pod["status"], self.random.random()
            if status["phase"] == "Pending":
                status["conditions"] = [{"type": "Initialized", "status": "True"}]
                status["phase"] = "Running" if done < 0.8 else "Pending"
            elif status["phase"] == "Running":
                ready = done < 0.9
                status["conditions"] = [{"type": "Ready", "status": str(ready)}]
                status["containerStatuses"][0]["ready"] = ready

    def end(self, pod: Object) -> None:
        name, code = pod["metadata"]["labels"]["jobgate.dev/task"], self.random.choice((0, 0, 1, 7, 137))
        runs = phase(pod) == "Running" and not self.world.status[STATE].get("held") and index(pod) < self.size(name)
        before = self.world.now_there()
        self.world.end(name, index(pod), code)
        action = answer(self.world.job, name, code) if runs and self.kind in {"TorchJob", "MxJob"} else ""
        if action not in {"RestartJob", "RestartTask"}:
            return
        self.settle()
        restarts = self.world.status[STATE].get("restarts", 0)
        assert restarts <= LIMIT, self.story
        if self.seen[-1] in {*ENDS, "CleanUp", "Done"}:
            return
        uids = {one["metadata"]["uid"] for one in self.world.now_there().values()}
        stays = {place for place, one in before.items() if one["metadata"]["uid"] in uids}
        others = {place for place in before if place[0] != name}
        assert stays == (others if action == "RestartTask" else set()), "\n".join(self.story)

    def size(self, name: str) -> int:
        """How many pods a task has."""
        return sizes(self.world.job)[name]

    def evict(self, pod: Object) -> None:
        pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
        pod["status"]["containerStatuses"][0]["ready"] = False
        if phase(pod) in {"Pending", "Running"} and self.random.random() < 0.5:
            pod["status"] |= {"phase": "Failed", "reason": "Evicted"}
        elif phase(pod) != "Succeeded":
            self.world.leave([pod])

    def delete(self, pod: Object) -> None:
        if phase(pod) in {"Pending", "Running"}:
            self.world.leave([pod])

    def lose(self, pod: Object) -> None:
        """Delete by force: the pod is gone at once."""
        if phase(pod) in {"Pending", "Running"}:
            self.world.pods.remove(pod)

    def ask(self, _: Object) -> None:
        command = self.random.choice(
            ["RestartJob", "AbortJob", "ResumeJob", "ResumeJob", "TerminateJob", "CompleteJob"]
        )
        if self.random.random() < 0.6:
            self.held = True
            self.world.job["metadata"]["annotations"][COMMAND] = command

    def scale(self, _: Object) -> None:
        spec, size = self.world.job["spec"], self.random.randint(2, 4)
        if not PHASES[self.kind].get(self.seen[-1]) or any(map(finished, self.world.jobs.values())):
            return  # a job that has ended is not scaled, and a task that has completed does not grow
        if self.kind in {"DIJob", "Job"}:
            spec["tasks"][0]["replicas"] = size
        elif self.kind == "TorchJob":
            spec["torchTaskSpecs"]["Worker"]["numTasks"] = size
        self.world.job["metadata"]["generation"] += 1
        self.settle()

    def change(self, _: Object) -> None:
        """Change the image of a task, whether it has started or not: pods that run go on, and no other has the old."""
        state, before = self.world.status[STATE], self.world.now_there()
        name = self.random.choice([*sizes(self.world.job)])
        if state.get("held") or self.seen[-1] in {*ENDS, "CleanUp", "Done", "Completed", "Terminated"}:
            return
        template = next(part["template"] for key, part in parts(self.world.job) if key == name)
        self.changes += 1
        image = template["spec"]["containers"][0]["image"] = f"image:{self.changes}"
        self.world.job["metadata"]["generation"] += 1
        runs = {one["metadata"]["uid"] for one in before.values() if phase(one) != "Pending"}
        begun = name in state.get("begun", ()) or any(
            place[0] == name and phase(one) != "Pending" for place, one in before.items()
        )
        self.settle()
        assert runs <= {one["metadata"]["uid"] for one in self.world.now_there().values()}, self.story
        for batch in self.world.jobs.values():
            labels, leaves = batch["metadata"]["labels"], "deletionTimestamp" in batch["metadata"]
            if labels["jobgate.dev/task"] == name and not (leaves or finished(batch) or begun):
                assert batch["spec"]["template"]["spec"]["containers"][0]["image"] == image, self.story


def main() -> None:
    """Try many sequences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    phases: Counter[str] = Counter()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for kind in PHASES:
            try:
                phases.update(f"{kind} {one}" for one in Trial(kind, seed).run())
            except AssertionError as error:
                raise SystemExit(f"{kind}, seed {seed}: {error}") from error
    sys.stdout.write(f"{dict(sorted(phases.items()))}\n")


if __name__ == "__main__":
    main()
