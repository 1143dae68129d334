"""The environment and volume files of a container, computed as a kubelet does."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from controlplane.client import ClusterApi

_REFERENCE = re.compile(r"\$\$|\$\(([-._a-zA-Z0-9]+)\)")
_DEFAULT_MODE = 0o644


class NotThereError(LookupError):
    """A ConfigMap or Secret, or a key of it, is missing; the kubelet waits for it."""


class VolumeFile(NamedTuple):
    """A file of a volume."""

    path: str
    content: bytes
    mode: int


class PodContent:
    """Computes the variables and files of one pod."""

    def __init__(self, api: ClusterApi, pod: Mapping[str, Any], address: str, node_address: str) -> None:
        self._api = api
        self._pod = pod
        self._addresses = {"status.podIP": address, "status.podIPs": address, "status.hostIP": node_address}

    def variables(self, container: Mapping[str, Any]) -> dict[str, str]:
        """Return the environment of a container.

        Raises:
            NotThereError: a ConfigMap or Secret is missing.
        """
        variables_so_far: dict[str, str] = {}
        for source in container.get("envFrom") or ():
            for kind, field in (("configmaps", "configMapRef"), ("secrets", "secretRef")):
                if field in source:
                    data = self._data(kind, source[field])
                    variables_so_far |= {source.get("prefix", "") + key: value.decode() for key, value in data.items()}
        for variable in container.get("env") or ():
            value = (
                self._value(variable.get("valueFrom") or {}) if "valueFrom" in variable else variable.get("value", "")
            )
            if value is not None:
                variables_so_far[variable["name"]] = (
                    value if "valueFrom" in variable else expanded(value, variables_so_far)
                )
        return variables_so_far

    def files(self, volume: Mapping[str, Any]) -> Iterator[VolumeFile] | None:
        """Return the files of a volume, or None for a volume that is empty at first.

        Raises:
            NotThereError: a ConfigMap or Secret is missing.
        """
        if "projected" in volume:
            mode = volume["projected"].get("defaultMode", _DEFAULT_MODE)
            sources = volume["projected"].get("sources") or ()
            return (file for source in sources for file in self._source(source, mode))
        if "secret" in volume:
            secret = {**volume["secret"], "name": volume["secret"]["secretName"]}
            return self._source({"secret": secret}, secret.get("defaultMode", _DEFAULT_MODE))
        for field in ("configMap", "downwardAPI"):
            if field in volume:
                return self._source(volume, volume[field].get("defaultMode", _DEFAULT_MODE))
        return None

    def _source(self, source: Mapping[str, Any], mode: int) -> Iterator[VolumeFile]:
        for kind, field in (("configmaps", "configMap"), ("secrets", "secret")):
            if field in source:
                data = self._data(kind, source[field])
                items = source[field].get("items") or [{"key": key, "path": key} for key in data]
                for item in items:
                    if item["key"] not in data:
                        raise NotThereError(f"{kind} {source[field]['name']}: no key {item['key']}")
                    yield VolumeFile(item["path"], data[item["key"]], item.get("mode", mode))
        if "serviceAccountToken" in source:
            wanted = source["serviceAccountToken"]
            yield VolumeFile(wanted["path"], self._token(wanted).encode(), mode)
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            yield VolumeFile(item["path"], self._field(item["fieldRef"]["fieldPath"]).encode(), item.get("mode", mode))

    def _token(self, wanted: Mapping[str, Any]) -> str:
        """Return a token that is bound to the pod."""
        metadata, account = self._pod["metadata"], self._pod["spec"].get("serviceAccountName") or "default"
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec = {
            "audiences": [wanted["audience"]] if wanted.get("audience") else [],
            "expirationSeconds": wanted.get("expirationSeconds", 3600),
            "boundObjectRef": bound,
        }
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
        status, answer = self._api.post(path, request)
        if status != 201:
            raise NotThereError(f"token of {account}: {answer.get('message')}")
        return str(answer["status"]["token"])

    def _value(self, source: Mapping[str, Any]) -> str | None:
        if "fieldRef" in source:
            return self._field(source["fieldRef"]["fieldPath"])
        for kind, field in (("configmaps", "configMapKeyRef"), ("secrets", "secretKeyRef")):
            if field in source:
                data = self._data(kind, source[field])
                if source[field]["key"] in data:
                    return data[source[field]["key"]].decode()
                if not source[field].get("optional"):
                    raise NotThereError(f"{kind} {source[field]['name']}: no key {source[field]['key']}")
        return None

    def _field(self, path: str) -> str:
        if path in self._addresses:
            return self._addresses[path]
        if match := re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path):
            return str((self._pod["metadata"].get(match[1]) or {}).get(match[2], ""))
        value: Any = self._pod
        for step in path.split("."):
            value = (value or {}).get(step)
        return "" if value is None else str(value)

    def _data(self, kind: str, reference: Mapping[str, Any]) -> dict[str, bytes]:
        namespace = self._pod["metadata"]["namespace"]
        status, stored = self._api.get(f"/api/v1/namespaces/{namespace}/{kind}/{reference['name']}")
        if status != 200:
            if reference.get("optional"):
                return {}
            raise NotThereError(f"{kind} {reference['name']}: {stored.get('message')}")
        data = stored.get("data") or {}
        if kind == "secrets":
            return {key: b64decode(value) for key, value in data.items()}
        binary = {key: b64decode(value) for key, value in (stored.get("binaryData") or {}).items()}
        return {key: value.encode() for key, value in data.items()} | binary


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Replace each `$(NAME)` for which there is a variable; `$$` becomes `$`."""

    def value(match: re.Match[str]) -> str:
        return "$" if match[1] is None else variables.get(match[1], match[0])

    return _REFERENCE.sub(value, text)


def hosts(pods: list[dict[str, Any]], services: list[dict[str, Any]], domain: str = "cluster.local") -> dict[str, str]:
    """Return the lines of `/etc/hosts` for each namespace: the DNS names of Services.

    A pod has the name `<hostname>.<subdomain>` if a headless Service of that name selects it. The name of a Service is
    the address of its first pod: nothing here forwards to other addresses or ports.
    """
    lines: dict[str, list[str]] = {}
    for service in services:
        spec, metadata = service["spec"], service["metadata"]
        if not spec.get("selector"):
            continue
        space, name = metadata["namespace"], metadata["name"]
        selected = [pod for pod in pods if pod["metadata"]["namespace"] == space and _serves(pod, service)]
        for pod in sorted(selected, key=lambda pod: str(pod["metadata"]["name"])):
            address, host = pod["status"]["podIP"], pod["spec"].get("hostname") or pod["metadata"]["name"]
            if pod["spec"].get("subdomain") == name and spec.get("clusterIP") == "None":
                lines.setdefault(space, []).append(f"{address} {_names(f'{host}.{name}', space, domain)}")
        for pod in selected[:1]:
            lines.setdefault(space, []).append(f"{pod['status']['podIP']} {_names(name, space, domain)}")
    return {space: "".join(f"{line}\n" for line in of_namespace) for space, of_namespace in lines.items()}


def _serves(pod: Mapping[str, Any], service: Mapping[str, Any]) -> bool:
    labels = (pod["metadata"].get("labels") or {}).items()
    selected = service["spec"]["selector"].items() <= labels
    live = pod["status"].get("podIP") and pod["status"].get("phase") in {"Pending", "Running"}
    return bool(selected and live)


def _names(name: str, space: str, domain: str) -> str:
    return f"{name}.{space}.svc.{domain} {name}.{space}.svc {name}.{space} {name}"
