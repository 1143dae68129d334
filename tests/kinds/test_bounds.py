"""No object makes an answer large, or costs more than in proportion to itself, whatever its names are."""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.kinds.dijob.jobs import job, task
from tests.kinds.places import ask, at, places, with_key, with_value
from webhook import Phase, Response

#: Most that an answer takes beside its patch, in bytes.
ANSWER = 64 * 1024
#: As long as a name may be in a request.
LONG = "n" * 1_000_000
#: Control characters, line ends, characters that turn the reading direction; and an overlong name.
EVIL = "a\x1b[31m\nb\x00\u202ec" + "é" * 50_000
#: As many parts below a long name. Half of them do for a comparison.
MANY = 300


def answer_of(response: Response) -> dict[str, Any]:
    """Return the answer without the patch, after a check that it can be sent."""
    answer: dict[str, Any] = response.to_review()["response"]
    orjson.dumps(answer)
    answer.pop("patch", None)
    return answer


def texts(value: Any) -> list[str]:
    """Return all texts in a value."""
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in (key, *texts(part))]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [value] if isinstance(value, str) else []


def test_no_name_or_text_of_a_job_makes_an_answer_large_or_unprintable() -> None:
    tried = 0
    for document, steps in places():
        changed = []
        if isinstance(steps[-1], str):
            changed.append(with_key(document, steps, EVIL))
        if isinstance(at(document, steps), str):
            changed.append(with_value(document, steps, EVIL))
        for evil in changed:
            for phase in Phase:
                answer = answer_of(ask(phase, evil))
                assert len(orjson.dumps(answer)) <= ANSWER / 4, steps
                assert all(text.isprintable() for text in texts(answer)), steps
                tried += 1
    assert tried > 1500


def of_kind(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def torch(tasks: dict[str, Any]) -> dict[str, Any]:
    return of_kind("train.distributed.io/v1alpha1", "TorchJob", torchTaskSpecs=tasks)


def volcano(*tasks: Any, **spec: Any) -> dict[str, Any]:
    return of_kind("batch.volcano.sh/v1alpha1", "Job", tasks=list(tasks), **spec)


def mx(*roles: Any, **spec: Any) -> dict[str, Any]:
    return of_kind("mxnet.mlkube.io/v1beta1", "MxJob", jobMode="dist", replicaSpecs=list(roles), **spec)


def pod(*containers: Any, metadata: Any = None, **spec: Any) -> dict[str, Any]:
    template: dict[str, Any] = {"spec": {"containers": list(containers), **spec}}
    return template if metadata is None else {**template, "metadata": metadata}


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "i", **fields}


def mounts(folder: str, many: int) -> list[Any]:
    return [{"name": "absent", "mountPath": f"{folder}/{place}"} for place in range(many)]


def requests(many: int) -> list[Any]:
    ask_for = {"requests": {"nvidia.com/gpu": 1}}
    return [container(f"c{place}", resources=ask_for) for place in range(many)]


#: By name, a job of so many parts below a name of a million characters, or of as many characters in all.
ATTACKS: dict[str, Callable[[int], dict[str, Any]]] = {
    "a long key over broken containers": lambda many: torch(
        {LONG: {"template": pod(*(container("") for _ in range(many)))}}
    ),
    "a long key over containers of a wrong type": lambda many: torch(
        {LONG: {"template": pod(*({"name": 5} for _ in range(many)))}}
    ),
    "a long key over containers that get a default": lambda many: torch({LONG: {"template": pod(*requests(many))}}),
    "a long key over affinity": lambda many: torch(
        {
            LONG: {
                "template": pod(
                    container(), tolerations=[{"key": "", "operator": "X", "effect": "Y"} for _ in range(many)]
                )
            }
        }
    ),
    "a long task under svc": lambda many: job(
        task(name=LONG, template=pod(container(volumeMounts=mounts("/etc/volcano", many)))), plugins={"svc": []}
    ),
    "a long container under svc": lambda many: job(
        task(name="a", template=pod(container(LONG, volumeMounts=mounts("/etc/volcano", many)))), plugins={"svc": []}
    ),
    "a long container under ssh": lambda many: job(
        task(name="a", template=pod(container(LONG, volumeMounts=mounts("/root/.ssh", many)))), plugins={"ssh": []}
    ),
    "long containers of two users under ssh": lambda many: job(
        task(
            name="a",
            template=pod(
                *(container("c" * 3000 + str(n), securityContext={"runAsUser": n % 2}) for n in range(many)),
                securityContext={"fsGroup": 1},
            ),
        ),
        plugins={"ssh": []},
    ),
    "a long task that waits for many": lambda many: job(
        task(name=LONG, dependsOn={"name": [f"t{place}" for place in range(many)]})
    ),
    "tasks of one long name": lambda many: job(*(task(name="t" * 3000) for _ in range(many))),
    "long tasks and containers on Volcano": lambda many: volcano(
        *(
            {"name": f"{'t' * 3000}{n}", "template": pod(container("c" * 1000, volumeMounts=mounts("/etc/volcano", 1)))}
            for n in range(many)
        ),
        plugins={"svc": [], "ssh": []},
    ),
    "a long task with wrong policies": lambda many: volcano(
        {"name": LONG, "template": pod(container()), "policies": [{"event": "*", "exitCode": 3} for _ in range(many)]}
    ),
    "a long runtime id": lambda many: mx(
        {
            "mxReplicaType": "WORKER",
            "template": pod(container(LONG, ports=[{"containerPort": 0} for _ in range(many)])),
        },
        runtimeId=LONG,
    ),
    "long names of ports": lambda many: job(
        task("learner", template=pod(container(ports=[{"name": "p" * 3000, "containerPort": 0} for _ in range(many)])))
    ),
    "long names of variables": lambda many: job(
        task("learner", template=pod(container(env=[{"name": "=" * 3000, "value": "v"} for _ in range(many)])))
    ),
    "long names of volumes": lambda many: job(
        task("learner", template=pod(container(), volumes=[{"name": "v" * 3000, "emptyDir": {}} for _ in range(many)]))
    ),
    "long names of resources": lambda many: job(
        task("learner", template=pod(container(resources={"limits": {f"{'r' * 3000}{n}": "x" for n in range(many)}})))
    ),
    "long labels and annotations": lambda many: job(
        task("learner", template=pod(container())),
        metadata={
            "name": "a",
            "labels": {f"{'l' * 1000}{n}": "v" * 1000 for n in range(many)},
            "annotations": {f"{'l' * 1000}{n}": "v" * 1000 for n in range(many)},
        },
    ),
    "long labels and annotations of pods": lambda many: torch(
        {
            "Master": {
                "template": pod(
                    container("torch"),
                    metadata={
                        "labels": {f"{'l' * 1000}{n}": "v" * 1000 for n in range(many)},
                        "annotations": {
                            f"container.apparmor.security.beta.kubernetes.io/{'l' * 1000}{n}": "v" for n in range(many)
                        },
                    },
                )
            }
        }
    ),
    "a long name of the job": lambda many: job(
        *(task(name=f"t{n}") for n in range(many)), name=LONG, plugins={"svc": [], "ssh": [], "env": []}
    ),
    "a long beginning of its name": lambda many: (
        volcano(*({"name": f"t{n}", "template": pod(container())} for n in range(many)), plugins={"svc": [], "ssh": []})
        | {"metadata": {"generateName": LONG}}
    ),
}


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_costly_object_gets_a_small_answer_in_little_memory(attack: str, phase: Phase) -> None:
    document = ATTACKS[attack](MANY)
    size = len(orjson.dumps(document))
    ask(phase, document)  # what a kind compiles once is not of the object
    tracemalloc.start()
    try:
        response = ask(phase, document)
        answer = response.to_review()["response"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    patch = answer.pop("patch", "")
    assert len(orjson.dumps(answer)) <= ANSWER
    assert len(patch) < 2 * size + ANSWER  # in base64, and with the defaults
    assert peak < 8 * size + 2_000_000


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_costly_object_costs_in_proportion_to_its_parts(attack: str) -> None:
    def cost(many: int) -> float:
        document = ATTACKS[attack](many)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            for phase in Phase:
                ask(phase, document).to_review()
            best = min(best, time.process_time() - start)
        return best

    # Ten times the parts, and a fixed cost for the name; the product of both would be a hundred times as much.
    assert cost(MANY) < 30 * cost(MANY // 10) + 0.05
