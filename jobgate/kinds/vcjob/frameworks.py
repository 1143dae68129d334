"""Volcano's plugins for frameworks, in jobs that jobgate runs: variables, ports, commands, a Service, a rank.

The pod webhook sets values that differ between the pods of a task; it remembers the flags as facts of the job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.jobs.status import is_run
from jobgate.jobs.task import Task
from jobgate.kinds.vcjob.flags import flags_of
from jobgate.plugins import Crew, Member, Variable
from jobgate.plugins.crew import TASK_LABEL
from webhook.values import objects, spec_of, text

#: The plugins that are implemented here.
_FRAMEWORKS: Final = ("tensorflow", "pytorch", "mpi", "ray", "hcclrank")
#: The names of the ports of Ray's head, with the flags for their numbers.
_RAY_PORTS: Final = {"gcs": "port", "dashboard": "dashboardPort", "client-server": "clientPort"}
#: Conforms to the *restricted* Pod Security level. The user is `nobody`, because the image may default to root.
_RESTRICTED: Final = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 65534,
    "seccompProfile": {"type": "RuntimeDefault"},
    "capabilities": {"drop": ["ALL"]},
}
#: The annotation that Ascend's device plugin reads.
RANK_INDEX: Final = "hccl/rankIndex"


def facts(job: Job[Any]) -> Mapping[str, str]:
    """Return the flags of the plugins of a job that jobgate runs, and the sizes of its partitions."""
    if not is_run(job.document):
        return {}
    plugins = job.spec.plugins or {}
    values: dict[str, str] = {}
    for plugin in plugins.keys() & _FRAMEWORKS:
        values |= {f"{plugin}.{flag}": value for flag, value in flags_of(plugin, plugins[plugin]).items()}
    for task in job.all_tasks if job.has_readable_tasks else ():
        # Invalid fields count as absent, as in the rest of the crew.
        size = getattr(getattr(task.part, "partition_policy", None), "partition_size", None)
        if size and (name := getattr(task, "name", None)):
            values[f"partition.{name}"] = str(size)
    return values


def _flags(crew: Crew, plugin: str) -> dict[str, str]:
    """Return the flags of a plugin; empty if the job does not request it."""
    prefix = f"{plugin}."
    return {key.removeprefix(prefix): value for key, value in crew.facts.items() if key.startswith(prefix)}


def variables(member: Member) -> Iterator[Variable]:
    """Yield the variables of the plugins tensorflow, pytorch and mpi."""
    crew, task = member.crew, member.part.name
    single = len(crew.parts) == 1 and crew.size == 1
    if (flags := _flags(crew, "tensorflow")) and not single:
        yield Variable("TF_CONFIG", _tf_config(member, flags))
    if (flags := _flags(crew, "pytorch")) and (master := crew.part(flags["master"])):
        roles = {flags["master"], flags["worker"]}
        yield Variable("MASTER_ADDR", crew.host(master, 0))
        yield Variable("MASTER_PORT", flags["port"])
        yield Variable("WORLD_SIZE", str(sum(part.replicas for part in crew.parts if part.name in roles)))
        if (rank := _rank(member, flags)) is not None:
            yield Variable("RANK", rank)
    if (flags := _flags(crew, "mpi")) and task == flags["master"] and (workers := crew.part(flags["worker"])):
        yield Variable("MPI_HOST", ",".join(crew.hosts(workers)))


def _tf_config(member: Member, flags: Mapping[str, str]) -> str:
    crew, task = member.crew, member.part.name
    parts = {role: crew.part(flags[role]) for role in ("ps", "worker", "chief", "evaluator")}
    cluster = {
        role: [f"{host}:{flags['port']}" for host in crew.hosts(part)]
        for role, part in parts.items()
        if part is not None and part.replicas
    }
    role = next((name for name in ("chief", "worker", "ps", "evaluator") if flags[name] == task), task)
    return json.dumps({"cluster": cluster, "task": {"type": role, "index": member.index}}, separators=(",", ":"))


def _rank(member: Member, flags: Mapping[str, str]) -> str | None:
    """Return the rank of a pod from the plugin pytorch; None if it has none."""
    if member.part.name == flags["worker"]:
        return str(member.index + 1)
    return "0" if member.part.name == flags["master"] else None


def rank_index(member: Member) -> str | None:
    """Return the rank of a pod from the plugin hcclrank: the rank from pytorch, else its index; None if it has none."""
    crew, task, flags = member.crew, member.part.name, _flags(member.crew, "hcclrank")
    if not flags:
        return None
    torch = _flags(crew, "pytorch")
    if torch and crew.part(torch["master"]) and (rank := _rank(member, torch)) is not None:
        return rank
    masters = crew.part(flags["master"])
    if task == flags["master"]:
        return str(member.index)
    return str(member.index + (masters.replicas if masters else 0)) if task == flags["worker"] else None


def own_rank(job: Job[Any], task: Task) -> str:
    """Return the variable RANK of a template, which the plugin hcclrank uses; empty if it is absent."""
    if "hcclrank" not in (job.spec.plugins or {}):
        return ""
    containers = (container for _, container in objects(spec_of(task.template).get("containers")))
    env = (variable for container in containers for _, variable in objects(container.get("env")))
    return next((text(variable.get("value")) for variable in env if variable.get("name") == "RANK"), "")


def services(crew: Crew) -> Iterator[dict[str, Any]]:
    """Yield the Service of Ray's head."""
    if flags := _flags(crew, "ray"):
        ports = [{"name": name, "port": int(flags[flag]), "targetPort": name} for name, flag in _RAY_PORTS.items()]
        spec = {"selector": {**crew.labels, TASK_LABEL: flags["head"]}, "ports": ports}
        yield {"metadata": {"name": f"{crew.name}-head-svc"}, "spec": spec}


def missing_task(job: Job[Any]) -> str:
    """Return the missing task that a plugin needs to start, for messages; empty if there is none."""
    if "ray" not in (job.spec.plugins or {}):
        return ""
    head = flags_of("ray", job.spec.plugins["ray"])["head"]
    return "" if any(task.name == head for task in job.all_tasks) else f"the task {head} of the plugin ray"


def pod(crew: Crew, task: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a task's pods with ports and commands, and the container that waits for the master."""
    torch, mpi, ray = (_flags(crew, plugin) for plugin in ("pytorch", "mpi", "ray"))
    if torch and (master := crew.part(torch["master"])):
        spec = _each(spec, lambda container: _with_ports(container, {"pytorchjob-port": torch["port"]}), "containers")
        if task == torch["worker"] and torch["wait-master-enabled"] == "True":
            waiting = _waiting(crew.host(master, 0), torch)
            spec["initContainers"] = [*(spec.get("initContainers") or ()), waiting]
    if mpi:
        ports = {"mpijob-port": mpi["port"]}
        spec = _each(spec, lambda container: _with_ports(container, ports), "initContainers", "containers")
    if ray and (head := crew.part(ray["head"])):
        spec = _each(spec, lambda container: _with_ray(container, task, crew.host(head, 0), ray), "containers")
    return spec


def _each(spec: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]], *fields: str) -> dict[str, Any]:
    return {
        **spec,
        **{name: [change(dict(item)) for _, item in objects(spec[name])] for name in fields if spec.get(name)},
    }


def _with_ports(container: dict[str, Any], ports: Mapping[str, str]) -> dict[str, Any]:
    present = {port.get("containerPort") for _, port in objects(container.get("ports"))}
    added = [{"name": name, "containerPort": int(port)} for name, port in ports.items() if int(port) not in present]
    return {**container, "ports": [*(container.get("ports") or ()), *added]} if added else container


def _with_ray(container: dict[str, Any], task: str, head: str, flags: Mapping[str, str]) -> dict[str, Any]:
    """Return a container with the command of Ray, which replaces its own."""
    name = container.get("name")
    if task == flags["head"] and name == flags["headContainer"]:
        command = (
            f"ray start --head --block --dashboard-host=0.0.0.0 --port={flags['port']} "
            f"--dashboard-port={flags['dashboardPort']} --ray-client-server-port={flags['clientPort']}"
        )
        container = _with_ports(container, {port: flags[flag] for port, flag in _RAY_PORTS.items()})
    elif task == flags["worker"] and name == flags["workerContainer"]:
        command = f"ray start --block --address={head}:{flags['port']}"
    else:
        return container
    return {**container, "command": ["sh", "-c", command]}


def _waiting(host: str, flags: Mapping[str, str]) -> dict[str, Any]:
    """Return the init container that waits until the master listens."""
    tries = flags["wait-master-timeout"]
    probe = f"nc -z -w 1 {host} {flags['port']}"
    failure = f"echo 'the master does not listen after {tries}s'; exit 1"
    command = f"for i in $(seq {tries}); do {probe} && exit 0; sleep 1; done; {failure}"
    return {
        "name": "wait-for-master",
        "image": flags["wait-master-image"],
        "command": ["sh", "-c", command],
        "securityContext": _RESTRICTED,
    }
