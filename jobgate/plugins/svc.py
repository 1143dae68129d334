"""The plugin `svc`: pods get DNS names, and lists of the names of all pods, running or not."""

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.names import dns_1035_label, dns_label
from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Crew, Member, Part
from jobgate.plugins.limits import CONFIG_LIMIT, ENVIRONMENT_LIMIT, POD_LIMIT, VARIABLE_LIMIT
from jobgate.plugins.paths import collisions
from jobgate.plugins.plugin import CONFIG_MAP, NETWORK_POLICY, SERVICE, Declared, Derived, Plugin
from jobgate.plugins.pod import Pod
from webhook import Cause, Forbidden, Notice, Path
from webhook.text import short

#: Mount path of the lists, the same as with Volcano.
FOLDER = "/etc/volcano"

#: Bytes of JSON of a variable that is read from the ConfigMap, without the names in it.
_REFERENCE = len('{"name":"","valueFrom":{"configMapKeyRef":{"name":"","key":""}}},')

#: Bytes of the three keys of a task, without its name.
_NAMES_OF_FILES = len(".host") + len("VC__HOSTS") + len("VC__NUM")

#: Bytes in addition to a list of hosts in an environment, and of the names of both variables in their references,
#: without the task's name.
_NAMES_OF_HOSTS = len("VC__HOSTS=\0")
_NAMES_OF_KEYS = 2 * len("VC__HOSTSVC__NUM")


class SvcArguments(Arguments):
    """Volcano's three flags."""

    publish_not_ready_addresses: bool = False
    disable_network_policy: bool = False
    inject_hosts_env: bool = True


class Svc(Plugin[SvcArguments]):
    """Creates a headless Service, lists of the job's hosts, and a NetworkPolicy that admits only its own pods."""

    name = "svc"
    arguments = SvcArguments
    creates = (CONFIG_MAP, SERVICE, NETWORK_POLICY)
    lists_pods = True

    def check(self, crew: Crew, arguments: SvcArguments, path: Path) -> Iterator[Cause | Notice]:
        """Yield the lists that are too large, and the volumes and mounts that collide with them."""
        yield from _too_large(crew, arguments, path)
        yield from collisions(crew, path, volume=_config_map(crew), folder=FOLDER, what="host lists")
        if arguments.publish_not_ready_addresses and crew.service_made:
            text = f"--publish-not-ready-addresses has no effect: the operator creates the Service {crew.service}"
            yield Notice(path, text)
        for part in crew.parts:
            if part.hostname and part.replicas > 1:
                consequence = f"all {part.replicas} pods have the host name {short(part.hostname)}"
                yield Notice(path, f"task {short(part.name)} sets hostname: {consequence}")

    def derived(self, crew: Crew, arguments: SvcArguments) -> Iterator[Derived]:
        """Yield the Service, unless the operator creates one, and the volume of the lists."""
        if not crew.service_made:
            yield Derived("plugin svc", "Service", "<job>", dns_1035_label, 0)
        yield Derived("plugin svc", "volume", "<job>-svc", dns_label, len("-svc"))

    def wire(self, pod: Pod, member: Member, arguments: SvcArguments) -> None:
        """Set the pod's host name, and add the lists of all hosts, as files and as variables."""
        crew = member.crew
        pod.spec.setdefault("hostname", crew.pod_name(member.part, member.index))
        pod.spec.setdefault("subdomain", crew.service)
        pod.variable("VC_HOST", f"{pod.spec['hostname']}.{pod.spec['subdomain']}")
        name = _config_map(crew)
        if arguments.inject_hosts_env and lists_fit_into_pods(crew):
            for part in crew.parts:
                for key in (_hosts_key(part), _count_key(part)):
                    pod.variable_from(key, {"configMapKeyRef": {"name": name, "key": key}})
        pod.volume({"name": name, "configMap": {"name": name}})
        pod.mount({"name": name, "mountPath": FOLDER, "readOnly": True})

    def objects(self, crew: Crew, arguments: SvcArguments) -> Iterator[Declared]:
        """Yield the ConfigMap of the lists, the Service, unless the operator creates one, and the NetworkPolicy.

        If the job was not checked, and its lists are too large for a ConfigMap, there is none: its pods do not start.
        """
        if length_of_lists(crew) <= CONFIG_LIMIT:
            yield Declared(_object("v1", "ConfigMap", _config_map(crew), data=dict(_lists(crew))))
        if not crew.service_made:
            spec = {
                "clusterIP": "None",
                "selector": dict(crew.labels),
                "publishNotReadyAddresses": arguments.publish_not_ready_addresses,
            }
            yield Declared(_object("v1", "Service", crew.service, spec=spec))
        if not arguments.disable_network_policy:
            yield Declared(_object("networking.k8s.io/v1", "NetworkPolicy", crew.name, spec=_closed(crew.labels)))


def length_of_lists(crew: Crew) -> int:
    """Return the size of the ConfigMap's keys and values in bytes, without creating them."""
    keys = sum(3 * len(part.name) + _NAMES_OF_FILES for part in crew.parts)
    return keys + sum(2 * _length(crew, part) + len(str(crew.count_hosts(part))) for part in crew.parts)


def lists_fit_into_pods(crew: Crew) -> bool:
    """Return whether the lists fit into the environment of containers, and the references into pods."""
    lengths = [_NAMES_OF_HOSTS + len(part.name) + _length(crew, part) for part in crew.parts]
    keys = sum(_NAMES_OF_KEYS + 4 * len(part.name) for part in crew.parts)
    references = keys + 2 * len(crew.parts) * (_REFERENCE + len(_config_map(crew)))
    containers = max((len(part.containers) for part in crew.parts), default=0)
    return (
        max(lengths, default=0) <= VARIABLE_LIMIT
        and sum(lengths) <= ENVIRONMENT_LIMIT
        and references * containers <= POD_LIMIT
    )


def _too_large(crew: Crew, arguments: SvcArguments, path: Path) -> Iterator[Cause | Notice]:
    length = length_of_lists(crew)
    tasks = len(crew.parts)
    lists = f"the host lists of {crew.size} pods in {tasks} task{'s' if tasks > 1 else ''}"
    if length > CONFIG_LIMIT:
        yield Forbidden(
            path,
            f"{lists} have {length} bytes, and the limit of a ConfigMap is {CONFIG_LIMIT}: use fewer pods or "
            "shorter names for the job and its tasks, or remove svc",
            length,
        )
    elif arguments.inject_hosts_env and not lists_fit_into_pods(crew):
        if "svc" in crew.provided:
            end = "containers cannot start with them. Set --inject-hosts-env=false, if the operator supports it,"
        else:
            end = "the variables VC_<TASK>_HOSTS and VC_<TASK>_NUM are not set. Set --inject-hosts-env=false"
        yield Notice(path, f"{lists} are too large for the environment: {end} and read the files in {FOLDER}")


def _config_map(crew: Crew) -> str:
    return f"{crew.name}-svc"


def _hosts_key(part: Part) -> str:
    return f"VC_{part.variable}_HOSTS"


def _count_key(part: Part) -> str:
    return f"VC_{part.variable}_NUM"


def _length(crew: Crew, part: Part) -> int:
    """Return the length of a list: names and separators."""
    return crew.length_of_hosts(part) + max(crew.count_hosts(part) - 1, 0)


def _lists(crew: Crew) -> Iterator[tuple[str, str]]:
    for part in crew.parts:
        hosts = crew.hosts(part)
        yield f"{part.name.replace('-', '_')}.host", "\n".join(hosts)
        yield _hosts_key(part), ",".join(hosts)
        yield _count_key(part), str(len(hosts))


def _closed(labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the spec of a NetworkPolicy that lets pods with these labels be reached only by each other."""
    return {
        "podSelector": {"matchLabels": dict(labels)},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": dict(labels)}}]}],
    }


def _object(api_version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}
