"""Jobs that are expensive for their size: a function for each shape, with a kind, and a number that scales the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isqrt
from typing import Any, TypeAlias

from jobgate.jobs.kind import JobKind
from jobgate.jobs.schema import shape_of
from jobgate.plugins import BUILT_IN
from tests.kinds.samples import first_name, names_are_keys, task_shape, with_tasks

Shape: TypeAlias = Callable[[JobKind, int], dict[str, Any]]

#: Characters of a hostile text: control characters, a line break, an override of the direction, an invisible space.
NASTY = "\x1b[31m\n\x00\u202e\u200b"
#: The plugins that every operator or our controller carries out.
PLUGINS: dict[str, Any] = {plugin.name: [] for plugin in BUILT_IN if not plugin.imposed}


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    """Return a valid container."""
    return {"name": name, "image": "i", **fields}


def template(*containers: Any, **spec: Any) -> dict[str, Any]:
    """Return a pod template with these containers, or with one valid container."""
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def job(kind: JobKind, tasks: Iterable[tuple[str, dict[str, Any]]], **spec: Any) -> dict[str, Any]:
    """Return a job of any kind, with these tasks by their names."""
    return with_tasks(kind, tasks, **spec) | {"metadata": {"name": "costly", "namespace": "default"}}


def of_one_task(kind: JobKind, pod_template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return a job of one task with this template."""
    return job(kind, [(first_name(kind), {"template": pod_template})], **spec)


def _names(count: int) -> list[str]:
    return [f"t{number}" for number in range(count)]


def after(kind: JobKind, *names: str) -> dict[str, Any]:
    """Return the fields of a task that starts after others; of a kind without dependencies, more replicas."""
    match task_shape(kind).below("dependsOn").node.get("type"):
        case "array":
            return {"dependsOn": [{"dependsOn": name} for name in names]}
        case "object":
            return {"dependsOn": {"name": list(names)}}
        case _:
            return {"replicas": len(names) + 1}


# Many items of the same type


def tiny_tasks(kind: JobKind, n: int) -> dict[str, Any]:
    return job(kind, ((name, {}) for name in _names(n)))


def sound_tasks(kind: JobKind, n: int) -> dict[str, Any]:
    return job(kind, ((name, {"template": template()}) for name in _names(n)))


def containers(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(*(container(f"c{number}") for number in range(n))))


def init_containers(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(initContainers=[container(f"c{number}") for number in range(n)]))


def variables(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(
        kind, template(container(env=[{"name": f"V{number}", "value": f"$(V{number - 1})"} for number in range(n)]))
    )


def ports(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(container(ports=[{"containerPort": 1 + number % 65535} for number in range(n)])))


def labels(kind: JobKind, n: int) -> dict[str, Any]:
    many = {f"l{number}": "v" for number in range(n)}
    document = of_one_task(kind, {"metadata": {"labels": many, "annotations": many}, **template(nodeSelector=many)})
    document["metadata"] |= {"labels": many, "annotations": many}
    return document


def volumes(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(volumes=[{"name": f"v{number}", "emptyDir": {}} for number in range(n)]))


def tolerations(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(tolerations=[{"key": f"k{number}", "operator": "Exists"} for number in range(n)]))


def node_affinity(kind: JobKind, n: int) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "a", "operator": "In", "values": [f"v{number}"]}]} for number in range(n)]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return of_one_task(kind, template(affinity={"nodeAffinity": required}))


def plugin_arguments(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(), plugins={name: [f"--a{number}=b" for number in range(n)] for name in PLUGINS})


def unknown_plugins(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(), plugins={f"p{number}": [] for number in range(n)})


def resources(kind: JobKind, n: int) -> dict[str, Any]:
    amounts = {f"example.com/r{number}": "1" for number in range(n)}
    return of_one_task(kind, template(container(resources={"limits": amounts, "requests": amounts})))


def host_aliases(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template(hostAliases=[{"ip": "1", "hostnames": ["_"]}] * n))


def unknown_fields(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(kind, template()) | {f"f{number}": number for number in range(n)}


def finalizers(kind: JobKind, n: int) -> dict[str, Any]:
    document = of_one_task(kind, template())
    document["metadata"]["finalizers"] = [""] * n
    return document


def wrong_annotations(kind: JobKind, n: int) -> dict[str, Any]:
    document = of_one_task(kind, template())
    document["metadata"]["annotations"] = {f"-{number}/": number for number in range(n)}
    return document


# Combinations of each with each


def volumes_by_tasks(kind: JobKind, n: int) -> dict[str, Any]:
    """Volumes of the job belong to the pods of each task."""
    each = _volumes(kind, n)
    return job(kind, ((name, {"template": template()}) for name in _names(n)), plugins=PLUGINS, **each)


def _volumes(kind: JobKind, n: int) -> dict[str, Any]:
    volume = shape_of(kind).below("spec").below("volumes").below(0)
    if volume.below("emptyDir").node:
        return {"volumes": [{"name": f"v{number}", "emptyDir": {}} for number in range(n)]}
    if volume.node:
        return {"volumes": [{"mountPath": f"/v{number}", "volumeClaimName": f"v{number}"} for number in range(n)]}
    return {}


def policies_by_tasks(kind: JobKind, n: int) -> dict[str, Any]:
    policies = [{"event": "PodFailed", "action": "RestartJob"} for _ in range(n)]
    words = {"policies": policies} if task_shape(kind).below("policies").node else {}
    return job(kind, ((name, {"template": template(), **words}) for name in _names(isqrt(n) + 1)), **words)


def mounts_by_containers(kind: JobKind, n: int) -> dict[str, Any]:
    side = isqrt(n) + 1
    mounts = [{"name": f"v{number}", "mountPath": f"/m{number}"} for number in range(side)]
    mounting = [container(f"c{number}", volumeMounts=mounts) for number in range(side)]
    return of_one_task(
        kind, template(*mounting, volumes=[{"name": f"v{n}", "emptyDir": {}} for n in range(side)]), plugins=PLUGINS
    )


def mounts_of_nothing(kind: JobKind, n: int) -> dict[str, Any]:
    side = isqrt(n) + 1
    mounts = [{"name": f"v{number}", "mountPath": "/same"} for number in range(side)]
    return of_one_task(kind, template(*(container(f"c{number}", volumeMounts=mounts) for number in range(side))))


def a_dense_graph(kind: JobKind, n: int) -> dict[str, Any]:
    names = _names(isqrt(n) + 1)
    return job(kind, ((name, {"template": template(), **after(kind, *names[:at])}) for at, name in enumerate(names)))


def a_complete_graph(kind: JobKind, n: int) -> dict[str, Any]:
    names = _names(isqrt(n) + 1)
    return job(kind, ((name, {"template": template(), **after(kind, *names)}) for name in names))


def a_long_chain(kind: JobKind, n: int) -> dict[str, Any]:
    names = _names(n)
    return job(
        kind, ((name, {"template": template(), **after(kind, *names[at - 1 : at])}) for at, name in enumerate(names))
    )


def a_long_cycle(kind: JobKind, n: int) -> dict[str, Any]:
    names = _names(n)
    return job(kind, ((name, {"template": template(), **after(kind, names[at - 1])}) for at, name in enumerate(names)))


def waiting_for_nobody(kind: JobKind, n: int) -> dict[str, Any]:
    return job(kind, ((name, {"template": template(), **after(kind, f"{name}-gone")}) for name in _names(n)))


# Long


def a_long_task_name(kind: JobKind, n: int) -> dict[str, Any]:
    """Each finding below a long name could repeat it: all broken containers, and all names that nobody has."""
    broken = {"template": template(*({} for _ in range(n))), **after(kind, *(f"g{number}" for number in range(n)))}
    return job(kind, [("x" * 40 * n, broken)])


def long_container_names(kind: JobKind, n: int) -> dict[str, Any]:
    mounts = [{"name": f"v{number}", "mountPath": f"/etc/volcano/{number}"} for number in range(n)]
    result = [container("x" * 10 * n + str(number), volumeMounts=mounts) for number in range(4)]
    return of_one_task(kind, template(*result), plugins=PLUGINS)


def long_values(kind: JobKind, n: int) -> dict[str, Any]:
    """Values of fields that have a few known ones, a format, or a pattern that someone has to match."""
    text = "1" * n
    bad = container(
        imagePullPolicy=text,
        resources={"limits": {"cpu": text + "x", text: "1"}},
        ports=[{"containerPort": 1, "name": text, "protocol": text, "hostIP": text}],
        livenessProbe={"httpGet": {"port": text, "path": "/"}},
    )
    document = of_one_task(
        kind, template(bad, restartPolicy=text, dnsPolicy=text, hostname=text, subdomain=text, runtimeClassName=text)
    )
    document["spec"] |= {"cleanPodPolicy": text, "priority": text, "queue": text, "schedulerName": text}
    document["spec"] |= {
        "policies": [{"event": text, "action": text, "timeout": text + "x"}],
        "runningEstimate": text + ".",
    }
    return document


def nasty_texts(kind: JobKind, n: int) -> dict[str, Any]:
    """Names and keys that must not reach a terminal or a log as they are."""
    text = NASTY * (n // len(NASTY) + 1)
    amounts = {"limits": {text: "1"}, "requests": {f"{text}x": text}}
    bad = container(
        text, env=[{"name": text, "value": ""}], resources=amounts, volumeMounts=[{"name": text, "mountPath": text}]
    )
    document = job(
        kind,
        [(text, {"template": {"metadata": {"labels": {text: text}}, **template(bad, nodeSelector={text: text})}})],
        plugins={text: [text]},
    )
    document["metadata"] |= {"name": text, "labels": {text: text}, "annotations": {text: text}}
    return document


def long_quantities(kind: JobKind, n: int) -> dict[str, Any]:
    exponent = {"cpu": "1" * n, "memory": "0." + "1" * n + "e999", "ephemeral-storage": "9" * n + "Ei"}
    return of_one_task(kind, template(container(resources={"limits": exponent, "requests": exponent})))


# Wrong, and many of it


def the_same_name(kind: JobKind, n: int) -> dict[str, Any]:
    many = [container(ports=[{"containerPort": 1, "name": "p"}] * 2, env=[{"name": "E"}] * 2) for _ in range(n)]
    if names_are_keys(kind):
        return of_one_task(kind, template(*many))
    return job(kind, (("t", {"template": template(container(), container())}) for _ in range(n)))


def broken_fields(kind: JobKind, n: int) -> dict[str, Any]:
    broken: dict[str, Any] = {"replicas": "x", "numTasks": [], "template": 3, "minAvailable": {}, "dependsOn": 7}
    return job(kind, ((name, broken) for name in _names(n)))


def broken_containers(kind: JobKind, n: int) -> dict[str, Any]:
    return of_one_task(
        kind, template(*([None, [], "x", 7, {"name": 1}, {"env": {}}, {"ports": [None]}] * (n // 7 + 1)))
    )


def deep_values(kind: JobKind, n: int) -> dict[str, Any]:
    """Nested as deeply as a body may be; more of it side by side."""
    nested: Any = "x"
    for level in range(200):
        nested = [nested] if level % 2 else {"a": nested}
    document = of_one_task(kind, template(container(command=[nested] * (n // 200 + 1))), plugins={"env": nested})
    document["metadata"]["annotations"] = nested
    return document


def privileged_everywhere(kind: JobKind, n: int) -> dict[str, Any]:
    context = {"privileged": True, "capabilities": {"add": ["ALL", "NET_ADMIN"]}, "runAsUser": 0}
    result = [
        container(f"c{number}", securityContext=context, ports=[{"containerPort": 1, "hostPort": 1}])
        for number in range(n)
    ]
    return of_one_task(
        kind,
        template(
            *result,
            hostNetwork=True,
            hostPID=True,
            volumes=[{"name": f"h{v}", "hostPath": {"path": "/"}} for v in range(n)],
        ),
    )


#: Shapes of one pod template, which are the same for every kind.
OF_A_TEMPLATE: tuple[Shape, ...] = (
    containers, init_containers, variables, ports, labels, volumes, tolerations, node_affinity, resources,
    mounts_of_nothing, host_aliases, long_quantities, broken_containers, deep_values, privileged_everywhere,
)  # fmt: skip
#: Shapes of a whole job.
OF_A_JOB: tuple[Shape, ...] = (
    tiny_tasks, sound_tasks, plugin_arguments, unknown_plugins, volumes_by_tasks, policies_by_tasks,
    mounts_by_containers, a_dense_graph, a_complete_graph, a_long_chain, a_long_cycle, waiting_for_nobody,
    unknown_fields, finalizers, wrong_annotations, a_long_task_name, long_container_names, long_values, nasty_texts, the_same_name, broken_fields,
)  # fmt: skip


def without_schedule(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored object that an UPDATE of this one replaces: another in one word, and as large."""
    return {**document, "spec": {**document["spec"], "ttlSecondsAfterFinished": 7}}
