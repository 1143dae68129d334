"""Pods for tests, of which a case shows only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.podchecks.verdict import Case

Json = dict[str, Any]

#: The paths of the first container and the first init container.
MAIN = "spec.containers[0]"
INIT = "spec.initContainers[0]"


def container(name: str = "main", **fields: Any) -> Json:
    """Return a container that is legal but for what `fields` say."""
    return {"name": name, "image": "busybox", **fields}


def sidecar(name: str = "proxy", **fields: Any) -> Json:
    """Return a native sidecar: an init container that keeps running."""
    return container(name, restartPolicy="Always", **fields)


def pod(*containers: Json, init: Sequence[Json] = (), **spec: Any) -> Json:
    """Return a pod of these containers, or of one plain one, and these init containers."""
    result: Json = {"containers": list(containers) or [container()], **spec}
    if init:
        result["initContainers"] = list(init)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": result}


def case(sentence: str, of: Json, *expected: str) -> Case:
    """Return one row of a table: what holds, the pod, and how each finding begins."""
    return sentence, of, list(expected)


def of_container(sentence: str, fields: Json, *expected: str) -> Case:
    """Return a row about one container: each finding begins with a path below it."""
    return (
        sentence,
        pod(container(**fields)),
        [f"{MAIN}{'' if begins[:1] in ':[' else '.'}{begins}" for begins in expected],
    )
