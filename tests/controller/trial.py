"""A plugin that declares one object of each sort."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from jobgate.plugins import CONFIG_MAP, NETWORK_POLICY, SECRET, SERVICE, Arguments, Crew, Declared, Plugin


class TrialArguments(Arguments):
    """Which of them."""

    secret: bool = False
    policy: bool = False


class Trial(Plugin[TrialArguments]):
    """Declares the names of all pods, a Service, and at will a NetworkPolicy and a Secret of randomness."""

    name = "trial"
    arguments = TrialArguments
    creates = (CONFIG_MAP, SERVICE, NETWORK_POLICY, SECRET)

    def objects(self, crew: Crew, arguments: TrialArguments) -> Iterator[Declared]:
        data = {f"{part.name}.host": "\n".join(crew.hosts(part)) for part in crew.parts}
        yield Declared(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{crew.name}-trial"}, "data": data}
        )
        ports = [{"name": "trial", "port": 22}]
        yield Declared(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": crew.name},
                "spec": {"clusterIP": "None", "selector": dict(crew.labels), "ports": ports},
            }
        )
        if arguments.policy:
            peers = {"podSelector": {"matchLabels": dict(crew.labels)}}
            spec = {**peers, "policyTypes": ["Ingress"], "ingress": [{"from": [peers]}]}
            yield Declared(
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "NetworkPolicy",
                    "metadata": {"name": crew.name},
                    "spec": spec,
                }
            )
        if arguments.secret:
            secret = {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": f"{crew.name}-trial"},
                "immutable": True,
            }
            yield Declared(secret, generate=lambda: {"stringData": {"key": uuid4().hex}}, complete=_has_key)


def _has_key(found: Mapping[str, Any]) -> bool:
    return "key" in (found.get("data") or found.get("stringData") or {})


TRIAL = Trial()
