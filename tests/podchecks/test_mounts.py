"""Mounts and devices of a pod's containers, judged as the API server judges them."""

from typing import Any

import pytest

from jobgate.podchecks.volumes import FAMILY
from webhook.path import Path

Json = dict[str, Any]

VOLUMES: list[Json] = [
    {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
    {"name": "scratch", "persistentVolumeClaim": {"claimName": "s"}},
    {"name": "cache", "emptyDir": {}},
]


def mount(path: str = "/m", name: str = "cache", **more: Any) -> Json:
    return {"name": name, "mountPath": path, **more}


def device(path: str = "/d", name: str = "data") -> Json:
    return {"name": name, "devicePath": path}


def mounts(*listed: Json, **more: Any) -> Json:
    return {"volumeMounts": list(listed), **more}


def devices(*listed: Json, **more: Any) -> Json:
    return {"volumeDevices": list(listed), **more}


PRIVILEGED: Json = {"securityContext": {"privileged": True}}

#: Containers that the API server accepts.
TAKEN: list[tuple[str, Json]] = [
    ("no mounts", {"volumeMounts": None, "volumeDevices": []}),
    ("one volume at two places", mounts(mount("/a"), mount("/b"))),
    ("one volume's mount below another's", mounts(mount("/a"), mount("/a/b", "data"))),
    ("a place that is spelled in two ways", mounts(mount("/a"), mount("/a/"))),
    ("a place with a colon", mounts(mount("/a:b"))),
    ("a place that is relative and goes back", mounts(mount("../a"))),
    ("a part of a volume", mounts(mount(subPath="a/..b"))),
    ("a part of a volume by variables", mounts(mount(subPathExpr="$(POD)/a", subPath=""))),
    ("propagation from the node", mounts(mount(mountPropagation="HostToContainer"))),
    ("propagation to the node by the privileged", mounts(mount(mountPropagation="Bidirectional"), **PRIVILEGED)),
    ("recursively read-only", mounts(mount(readOnly=True, recursiveReadOnly="Enabled", mountPropagation="None"))),
    ("not recursively read-only", mounts(mount(recursiveReadOnly="Disabled", mountPropagation="HostToContainer"))),
    ("a device of a claim", devices(device())),
    ("devices beside mounts", devices(device(), device("e", "scratch"), volumeMounts=[mount()])),
]

#: Containers that it rejects, and the faults as `path: message` begins, with the paths below the container's.
REFUSED: list[tuple[str, Json, list[str]]] = [
    ("an empty mount", mounts({}), ["volumeMounts[0].name: Required", "volumeMounts[0].mountPath: Required"]),
    ("a volume that is not there", mounts(mount(name="gone")), ['volumeMounts[0].name: Not found: "gone"']),
    ("two volumes at one place", mounts(mount(), mount(name="data")), ["volumeMounts[1].mountPath: Duplicate"]),
    ("an absolute part", mounts(mount(subPath="/a")), ["volumeMounts[0].subPath: Invalid"]),
    ("a part outside", mounts(mount(subPath="a/../..")), ["volumeMounts[0].subPath: Invalid"]),
    (
        "a part twice",
        mounts(mount(subPath="a", subPathExpr="$(A)")),
        [
            'volumeMounts[0].subPathExpr: Invalid value: "$(A)": may not be set together with subPath: remove one of them'
        ],
    ),
    ("a part outside by variables", mounts(mount(subPathExpr="../$(A)")), ["volumeMounts[0].subPathExpr: Invalid"]),
    ("an unknown propagation", mounts(mount(mountPropagation="")), ["volumeMounts[0].mountPropagation: Unsupported"]),
    (
        "propagation to the node by anyone",
        mounts(mount(mountPropagation="Bidirectional"), securityContext={"privileged": False}),
        ["volumeMounts[0].mountPropagation: Forbidden"],
    ),
    (
        "recursively read-only, yet writable",
        mounts(mount(recursiveReadOnly="IfPossible")),
        ["volumeMounts[0].recursiveReadOnly: Forbidden"],
    ),
    (
        "an unknown mode of read-only",
        mounts(mount(readOnly=True, recursiveReadOnly="enabled")),
        ["volumeMounts[0].recursiveReadOnly: Unsupported"],
    ),
    ("a device without a path", devices({"name": "data"}), ["volumeDevices[0].devicePath: Required"]),
    ("a device of no claim", devices(device(name="cache")), ["volumeDevices[0].name: Invalid"]),
    ("one device twice", devices(device(), device("/e")), ["volumeDevices[1].name: Duplicate"]),
    ("two devices at one path", devices(device(), device(name="scratch")), ["volumeDevices[1].devicePath: Duplicate"]),
    (
        "a volume as a device and as a mount",
        devices(device(), volumeMounts=[mount(name="data")]),
        ['volumeDevices[0].name: Invalid value: "data": is already mounted by'],
    ),
    ("a device at the place of a mount", devices(device("/a"), **mounts(mount("/a"))), ["volumeDevices[0].devicePath"]),
    ("a device that is not there", devices(device(name="gone")), ["volumeDevices[0].name: Not found"]),
]


def messages(pod: Any) -> list[str]:
    return sorted(str(cause) for cause in FAMILY.check(pod, Path("spec.tasks[0].template")))


def begin(found: list[str], beginnings: list[str], below: str) -> bool:
    wanted = sorted(below + beginning for beginning in beginnings)
    return len(found) == len(wanted) and all(map(str.startswith, found, wanted))


@pytest.mark.parametrize(("case", "container"), TAKEN, ids=[case for case, _ in TAKEN])
def test_takes_what_the_api_server_takes(case: str, container: Json) -> None:
    assert messages({"spec": {"volumes": VOLUMES, "containers": [container]}}) == []


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize(("case", "container", "expected"), REFUSED, ids=[case for case, _, _ in REFUSED])
def test_rejects(case: str, container: Json, expected: list[str], field: str) -> None:
    result = messages({"spec": {"volumes": VOLUMES, field: [{}, container]}})
    assert begin(result, expected, f"spec.tasks[0].template.spec.{field}[1]."), result


def test_two_containers_may_use_one_place() -> None:
    container = mounts(mount())
    assert messages({"spec": {"volumes": VOLUMES, "containers": [container, container]}}) == []
