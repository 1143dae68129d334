"""Volcano's job plugins env, svc and ssh: their changes of pods, and the objects that they create.

Arguments that change these are read, others ignored; the framework plugins are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from controlplane.operators.operator import Present, appended, variable
from controlplane.operators.resources import (
    CONFIG_MAPS,
    NETWORK_POLICIES,
    SECRETS,
    SERVICES,
    Child,
    Object,
    Resource,
    child,
    controller_reference,
)

_HOSTS_FOLDER = "/etc/volcano"
_KEYS_FOLDER = "/root/.ssh"
# The plugins that a framework plugin turns on.
_FORCED = {"mpi": ("svc", "ssh"), "pytorch": ("svc",), "tensorflow": ("svc",), "ray": ("svc",)}


def plugins_of(job: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The plugins of a job and their arguments, with the plugins that other plugins turn on."""
    plugins: dict[str, Sequence[str]] = dict(job["spec"].get("plugins") or {})
    for name in list(plugins):
        for forced in _FORCED.get(name, ()):
            plugins.setdefault(forced, [])
    return {name: arguments or [] for name, arguments in plugins.items()}


def objects(job: Mapping[str, Any], owner: Resource, present: Present) -> Iterator[Child]:
    """The objects that the job's plugins need beside its pods. An existing SSH key stays."""
    plugins, name = plugins_of(job), job["metadata"]["name"]
    metadata = {"ownerReferences": [controller_reference(owner, job)]}
    selector = {"volcano.sh/job-name": name, "volcano.sh/job-namespace": job["metadata"]["namespace"]}
    if "svc" in plugins:
        yield child(CONFIG_MAPS, job, f"{name}-svc", metadata=metadata, data=hosts_data(job))
        publish_early = _is_set(plugins["svc"], "publish-not-ready-addresses")
        spec = {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": publish_early}
        yield child(SERVICES, job, name, metadata=metadata, spec=spec)
        if not _is_set(plugins["svc"], "disable-network-policy"):
            policy = {"podSelector": {"matchLabels": selector}, "policyTypes": ["Ingress"]}
            spec = {**policy, "ingress": [{"from": [{"podSelector": {"matchLabels": selector}}]}]}
            yield child(NETWORK_POLICIES, job, name, metadata=metadata, spec=spec)
    if "ssh" in plugins:
        stored = {secret["metadata"]["name"]: secret for secret in present[SECRETS]}.get(f"{name}-ssh")
        data = {"data": stored["data"]} if stored else {"stringData": {**key_pair(), "config": ssh_config(job)}}
        yield child(SECRETS, job, f"{name}-ssh", metadata=metadata, **data)


def change(job: Mapping[str, Any], pod: Object) -> None:
    """Add to a pod what the job's plugins add."""
    plugins, name, spec = plugins_of(job), job["metadata"]["name"], pod["spec"]
    if "env" in plugins:
        index = pod["metadata"]["labels"]["volcano.sh/task-index"]
        _append(spec, env=[variable("VK_TASK_INDEX", index), variable("VC_TASK_INDEX", index)])
    if "svc" in plugins:
        task = pod["metadata"]["labels"]["volcano.sh/task-spec"]
        spec.setdefault("hostname", f"{name}-{task}-{pod['metadata']['labels']['volcano.sh/task-index']}")
        spec.setdefault("subdomain", name)
        keys = [key for key in hosts_data(job) if key.startswith("VC_")]
        env = [{"name": key, "valueFrom": {"configMapKeyRef": {"name": f"{name}-svc", "key": key}}} for key in keys]
        _append(spec, env=env, mounts=[{"name": f"{name}-svc", "mountPath": _HOSTS_FOLDER}])
        spec["volumes"] = [*(spec.get("volumes") or ()), {"name": f"{name}-svc", "configMap": {"name": f"{name}-svc"}}]
    if "ssh" in plugins:
        folder = next(
            (argument.split("=", 1)[1] for argument in plugins["ssh"] if "ssh-key-file-path=" in argument), _KEYS_FOLDER
        )
        items = [{"key": key, "path": f".ssh/{key}"} for key in ("id_rsa", "id_rsa.pub", "authorized_keys", "config")]
        mode = 0o600 if folder == _KEYS_FOLDER else 0o644
        source = {"secretName": f"{name}-ssh", "items": items, "defaultMode": mode}
        spec["volumes"] = [*(spec.get("volumes") or ()), {"name": f"{name}-ssh", "secret": source}]
        _append(spec, mounts=[{"name": f"{name}-ssh", "mountPath": folder, "subPath": ".ssh"}])


def hosts_data(job: Mapping[str, Any]) -> dict[str, str]:
    """The hosts of each task: as lines of a file, and as values of variables."""
    data: dict[str, str] = {}
    for task in job["spec"]["tasks"]:
        hosts, name = _hosts(job, task), task["name"].replace("-", "_")
        data |= {f"{name}.host": "\n".join(hosts)}
        data |= {f"VC_{name.upper()}_HOSTS": ",".join(hosts), f"VC_{name.upper()}_NUM": str(len(hosts))}
    return data


def ssh_config(job: Mapping[str, Any]) -> str:
    """The SSH configuration with which pods reach each other by their short names."""
    lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    for task in job["spec"]["tasks"]:
        for host in _hosts(job, task):
            lines += [f"Host {host.partition('.')[0]}", f"  HostName {host}", "  Port 22"]
    return "\n".join(lines) + "\n"


def key_pair() -> dict[str, str]:
    """Generate a key pair for all pods of the job."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + "\n"
    return {"id_rsa": private, "id_rsa.pub": public, "authorized_keys": public}


def _hosts(job: Mapping[str, Any], task: Mapping[str, Any]) -> list[str]:
    name, spec = job["metadata"]["name"], task["template"]["spec"]
    subdomain = spec.get("subdomain") or name
    if fixed := spec.get("hostname"):
        return [f"{fixed}.{subdomain}"]
    return [f"{name}-{task['name']}-{index}.{subdomain}" for index in range(task.get("replicas", 0))]


def _append(spec: Object, *, env: Sequence[Object] = (), mounts: Sequence[Object] = ()) -> None:
    for kind in ("containers", "initContainers"):
        if containers := spec.get(kind):
            spec[kind] = [
                {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), *mounts]}
                for container in appended(containers, env)
            ]


def _is_set(arguments: Sequence[str], flag: str) -> bool:
    return any(argument.lstrip("-") in {flag, f"{flag}=true"} for argument in arguments)
