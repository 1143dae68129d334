"""Accelerators: what the installation says of them, and what the pods that ask for one are given."""

from typing import Any

import pytest
from pydantic import ValidationError

from jobgate.kinds.mxjob.accelerators import MxJobSettings
from tests.kinds.mxjob.jobs import POD, container, faults, local, mutate, template, validate
from tests.kinds.mxjob.test_defaults import defaulted

GPU = "nvidia.com/gpu"
DRIVERS = {"name": "drivers", "hostPath": "/opt/drivers", "mountPath": "/usr/local/nvidia"}
ACCELERATORS = {
    GPU: {"volumes": [DRIVERS], "envVars": [{"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib"}]},
    "example.com/npu": {"volumes": [{"name": "npu", "hostPath": "/opt/npu", "mountPath": "/npu"}]},
}
VOLUME = {"name": "drivers", "hostPath": {"path": "/opt/drivers"}}
MOUNT = {"name": "drivers", "mountPath": "/usr/local/nvidia"}
VARIABLE = {"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib"}


def with_gpu(side: str = "limits", resource: str = GPU, **fields: Any) -> dict[str, Any]:
    """Return the container that trains, which asks for a device."""
    return container(resources={side: {resource: 1}}, **fields)


def pod_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the pod spec of the first role after mutation."""
    pod: dict[str, Any] = defaulted(document, accelerators=ACCELERATORS)["spec"]["replicaSpecs"][0]["template"]["spec"]
    return pod


@pytest.mark.parametrize("side", ["limits", "requests"])
def test_a_container_that_asks_for_an_accelerator_has_its_drivers(side: str) -> None:
    pod = pod_of(local(template=template(with_gpu(side))))
    assert pod["volumes"] == [VOLUME]
    assert pod["containers"][0]["volumeMounts"] == [MOUNT]
    assert pod["containers"][0]["env"] == [VARIABLE]


@pytest.mark.parametrize(
    "case, containers",
    [
        ("it asks for nothing", [container()]),
        ("it asks for something else", [with_gpu(resource="cpu")]),
        ("another container asks", [container(), {**with_gpu(), "name": "other"}]),
    ],
)
def test_else_nothing_is_added(case: str, containers: list[dict[str, Any]]) -> None:
    pod = pod_of(local(template=template(*containers)))
    assert "volumes" not in pod, case
    assert not any("volumeMounts" in container or "env" in container for container in pod["containers"]), case


def test_nothing_is_added_if_the_installation_says_nothing() -> None:
    assert "volumes" not in str(mutate(local(template=template(with_gpu()))).patch)


def test_several_accelerators_come_in_the_order_of_their_names() -> None:
    both = container(resources={"limits": {GPU: 1}, "requests": {"example.com/npu": 1}})
    pod = pod_of(local(template=template(both)))
    assert [volume["name"] for volume in pod["volumes"]] == ["npu", "drivers"]
    assert [mount["name"] for mount in pod["containers"][0]["volumeMounts"]] == ["npu", "drivers"]


def test_what_is_there_comes_first_and_stays() -> None:
    own = {"name": "data", "emptyDir": {}}
    document = template(
        with_gpu(env=[{"name": "LR", "value": "1"}], volumeMounts=[{"name": "data", "mountPath": "/d"}]), volumes=[own]
    )
    pod = pod_of(local(template=document))
    assert pod["volumes"] == [own, VOLUME]
    assert pod["containers"][0]["volumeMounts"] == [{"name": "data", "mountPath": "/d"}, MOUNT]
    assert pod["containers"][0]["env"] == [{"name": "LR", "value": "1"}, VARIABLE]


def test_a_second_time_there_is_nothing_to_add() -> None:
    once = defaulted(local(template=template(with_gpu())), accelerators=ACCELERATORS)
    assert not mutate(once, accelerators=ACCELERATORS).patch
    assert validate(once, accelerators=ACCELERATORS).warnings == []
    assert validate(once, accelerators=ACCELERATORS).allowed


def test_what_the_user_wrote_alike_is_taken_for_it() -> None:
    alike = template(
        with_gpu(env=[VARIABLE], volumeMounts=[MOUNT | {"readOnly": True}]),
        volumes=[{"name": "drivers", "hostPath": {"path": "/opt/drivers", "type": "Directory"}}],
        restartPolicy="Never",
    )
    written = local(template=alike, replicas=1)
    assert not mutate(written, accelerators=ACCELERATORS).patch
    assert faults(validate(written, accelerators=ACCELERATORS)) == []


def test_a_volume_of_the_same_name_that_is_another_is_rejected() -> None:
    document = local(template=template(with_gpu(), volumes=[{"name": "drivers", "emptyDir": {}}]))
    assert faults(validate(document, accelerators=ACCELERATORS)) == [
        f'{POD}.volumes[0].name: Invalid value: "drivers": reserved for the host directory /opt/drivers, '
        "which jobgate adds for nvidia.com/gpu: use another name"
    ]
    assert faults(validate(document)) == []


def test_a_mount_in_the_place_of_the_drivers_is_rejected() -> None:
    elsewhere = with_gpu(volumeMounts=[{"name": "data", "mountPath": "/usr/local/nvidia"}])
    document = local(template=template(elsewhere, volumes=[{"name": "data", "emptyDir": {}}]))
    assert faults(validate(document, accelerators=ACCELERATORS)) == [
        f'{POD}.containers[0].volumeMounts[0].mountPath: Invalid value: "/usr/local/nvidia": reserved for the '
        "volume drivers of nvidia.com/gpu, which jobgate mounts here: use another path"
    ]


def test_a_variable_of_the_users_own_stays_and_is_reported_without_its_value() -> None:
    document = local(template=template(with_gpu(env=[{"name": "LD_LIBRARY_PATH", "value": "hunter2"}])))
    assert pod_of(document)["containers"][0]["env"] == [{"name": "LD_LIBRARY_PATH", "value": "hunter2"}]
    response = validate(document, accelerators=ACCELERATORS)
    assert (response.allowed, response.warnings) == (
        True,
        [
            f"{POD}.containers[0].env[0]: overrides the value that jobgate is configured to set for "
            "containers that request nvidia.com/gpu"
        ],
    )


@pytest.mark.parametrize(
    "case, fields",
    [
        ("volumes are no list", {"volumes": {"name": "drivers"}}),
        ("volumes are of no objects", {"volumes": [1, None]}),
        ("containers are no list", {"containers": {"name": "mxnet"}}),
        ("mounts are no list", {"containers": [with_gpu(volumeMounts="x", env=5)]}),
        ("resources are no object", {"containers": [container(resources=[GPU])]}),
        ("a main container twice", {"containers": [with_gpu(), with_gpu()]}),
    ],
)
def test_what_is_broken_is_rejected_and_stays(case: str, fields: dict[str, Any]) -> None:
    document = local(template={"spec": {"containers": [with_gpu()], **fields}})
    assert not mutate(document, accelerators=ACCELERATORS).allowed, case
    assert not validate(document, accelerators=ACCELERATORS).allowed, case


@pytest.mark.parametrize(
    "accelerators, problem",
    [
        ({GPU: {"volumes": [DRIVERS]}, "example.com/npu": {"volumes": [DRIVERS | {"hostPath": "/other"}]}},
         "the volume drivers is defined twice with different values"),
        ({GPU: {"volumes": [DRIVERS, DRIVERS | {"name": "more"}]}},
         "the mountPath /usr/local/nvidia is defined twice with different values"),
        ({GPU: {"envVars": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}},
         "the variable A is defined twice with different values"),
        ({GPU: {"volumes": [DRIVERS | {"name": "A_b"}]}}, "must consist of lower case letters"),
        ({GPU: {"volumes": [DRIVERS | {"hostPath": "opt"}]}}, "must be an absolute path"),
        ({GPU: {"volumes": [DRIVERS | {"mountPath": "/a:b"}]}}, "without '..' and ':'"),
        ({GPU: {"volumes": [DRIVERS | {"readOnly": True}]}}, "Extra inputs are not permitted"),
        ({GPU: {"volumes": [DRIVERS | {"hostpath": "/opt"}]}}, "Extra inputs are not permitted"),
        ({GPU: {"envVars": [{"name": "A=B"}]}}, "must be printable ASCII characters other than '='"),
        ({"a/b/c": {}}, "at most one '/'"),
        ({GPU: []}, "should be a valid dictionary"),
    ],
)  # fmt: skip
def test_settings_that_cannot_go_together_are_rejected_when_they_are_read(accelerators: Any, problem: str) -> None:
    with pytest.raises(ValidationError) as raised:
        MxJobSettings.model_validate({"accelerators": accelerators})
    assert problem in str(raised.value)


def test_accelerators_may_share_what_is_the_same() -> None:
    assert MxJobSettings.model_validate(
        {"accelerators": {GPU: {"volumes": [DRIVERS]}, "example.com/npu": {"volumes": [DRIVERS]}}}
    )
