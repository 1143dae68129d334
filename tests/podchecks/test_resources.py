from typing import Any

from jobgate.podchecks import resources
from tests.podchecks.builder import MAIN, Json, case, container, of_container, pod, sidecar
from tests.podchecks.verdict import Case, judged


def of_resources(sentence: str, requests: Json | None, limits: Json | None, *expected: str) -> Case:
    """Return a row about the requests and limits of one container."""
    given = {"requests": requests, "limits": limits}
    return of_container(sentence, {"resources": given}, *(f"resources{begins}" for begins in expected))


def of_resize(sentence: str, policies: list[Json], *expected: str, **spec: Any) -> Case:
    """Return a row about the resize policies of one container."""
    begins = [f"{MAIN}.resizePolicy{begin}" for begin in expected]
    return sentence, pod(container(resizePolicy=policies), **spec), begins


def asking(name: str = "main", /, **requests: str) -> Json:
    return container(name, resources={"requests": requests})


def limited(name: str = "main", /, **limits: str) -> Json:
    return container(name, resources={"limits": limits})


GPU = "nvidia.com/gpu"
HUGE = "hugepages-2Mi"
POD = "spec.resources"

CONTAINER_CASES: list[Case] = [
    of_resources("a request may be less than the limit", {"cpu": "500m"}, {"cpu": 1}),
    of_resources("or as much, in other words", {"memory": "1024Mi"}, {"memory": "1Gi"}),
    of_resources(
        "but not more",
        {"memory": "1Gi"},
        {"memory": "1G"},
        '.requests[memory]: Invalid value: "1Gi": must be at most the limit "1G"',
    ),
    of_resources("what is finer than a thousandth is rounded up", {"cpu": "1.0001"}, {"cpu": "1.001"}),
    of_resources("limits alone are requests too", None, {"cpu": "1", GPU: 2}),
    of_resources("null is nothing", {"cpu": None}, None),
    of_resources("an exponent is whole", {"cpu": "1e1.5"}, None, '.requests[cpu]: Invalid value: "1e1.5": must be a'),
    of_resources("an amount is not negative", {"cpu": "-1"}, None, '.requests[cpu]: Invalid value: "-1"'),
    of_resources("devices are counted", None, {GPU: "0.5"}, f'.limits[{GPU}]: Invalid value: "0.5": must be a whole'),
    of_resources("in any words", None, {GPU: "2000m"}),
    of_resources("and limited", {GPU: 1}, None, f".limits[{GPU}]: Required value"),
    of_resources("to what is requested", {GPU: 1}, {GPU: 2}, f".requests[{GPU}]: Invalid value: 1: must be equal to"),
    of_resources("Kubernetes' own are no devices", {"kubernetes.io/batteries": "0.5"}, None),
    of_resources("a plain name is one of few", {"gpu": "1"}, None, '.requests[gpu]: Invalid value: "gpu": must be cpu'),
    of_resources("storage is not of containers", {"storage": "1Gi"}, None, ".requests[storage]: Invalid value"),
    of_resources("but ephemeral storage is", {"ephemeral-storage": "1Gi"}, None),
    of_resources(
        "a name is qualified",
        {"a/b/c": "1"},
        {"a/b/c": "1"},
        *[f".{side}[a/b/c]: Inv" for side in ("limits", "requests")],
    ),
    of_resources(
        "quotas' words are not for containers",
        {"requests.example.com/gpu": "1"},
        {"requests.example.com/gpu": "1"},
        ".limits[requests.example.com/gpu]: Invalid value",
        ".requests[requests.example.com/gpu]: Invalid value",
    ),
    of_resources("huge pages need cpu or memory", None, {HUGE: "4Mi"}, ": Forbidden"),
    of_resources("and are fine then", None, {HUGE: "4Mi", "memory": "1Gi"}),
    of_resources("in whole pages", None, {HUGE: "3Mi", "memory": "1Gi"}, f'.limits[{HUGE}]: Invalid value: "3Mi"'),
    of_resources("whose size is a quantity", None, {"hugepages-x": "3Mi", "cpu": 1}, ".limits[hugepages-x]: Invalid"),
    of_resources("nor a part of one", None, {HUGE: "1m", "cpu": 1}, f".limits[{HUGE}]: Invalid"),
    of_resources("and not zero", None, {"hugepages-0": "3Mi", "cpu": 1}, ".limits[hugepages-0]: Invalid"),
    of_resources("great amounts are fine", {"cpu": "1e1000"}, {"cpu": "1E3"}, ".requests[cpu]: Invalid value"),
    of_resources("but not such that servers hang on", {"cpu": "1e2147483647"}, None, ".requests[cpu]: Invalid value"),
    of_resources("huge pages may be many", None, {HUGE: "1e999", "cpu": 1}),
]

RESIZE_CASES: list[Case] = [
    of_resize("cpu and memory may be resized", [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
    of_resize("nothing else", [{"resourceName": GPU, "restartPolicy": "NotRequired"}], "[0].resourceName: Unsupported"),
    of_resize("both are needed", [{}], "[0].resourceName: Required", "[0].restartPolicy: Required"),
    of_resize(
        "a policy is known", [{"resourceName": "cpu", "restartPolicy": "Never"}], "[0].restartPolicy: Unsupported"
    ),
    case(
        "a sidecar is",
        pod(init=[sidecar(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}])]),
    ),
]

CLAIM = [{"name": "gpu", "resourceClaimName": "gpu"}]


def claiming(sentence: str, claims: list[Json], *expected: str) -> Case:
    """Return a row about what a container claims of the pod's claim `gpu`."""
    begins = [f"{MAIN}.resources.claims{begin}" for begin in expected]
    return sentence, pod(container(resources={"claims": claims}), resourceClaims=CLAIM), begins


CLAIM_CASES: list[Case] = [
    claiming("a container claims what its pod has", [{"name": "gpu"}]),
    claiming("or parts of it", [{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}]),
    claiming("nothing else", [{"name": "tpu"}], '[0].name: Not found: "tpu": must be one of gpu'),
    claiming("nothing twice", [{"name": "gpu"}, {"name": "gpu"}], '[1]: Duplicate value: "gpu"'),
    claiming("no part twice", [{"name": "gpu", "request": "a"}] * 2, '[1]: Duplicate value: "gpu/a"'),
    claiming(
        "not the whole beside a part", [{"name": "gpu", "request": "a"}, {"name": "gpu"}], '[1]: Duplicate value: "gpu"'
    ),
    claiming(
        "nor a part beside the whole",
        [{"name": "gpu"}, {"name": "gpu", "request": "a"}],
        '[1]: Duplicate value: "gpu/a"',
    ),
    claiming("a name is needed", [{"name": ""}], "[0].name: Required value"),
]

POD_CASES: list[Case] = [
    case(
        "a pod may have resources", pod(asking(cpu="1"), resources={"requests": {"cpu": "2"}, "limits": {"cpu": "3"}})
    ),
    case("an empty word is nothing", pod(resources={})),
    case(
        "an init container runs before them",
        pod(asking("a", cpu="1"), init=[asking("b", cpu="2")], resources={"requests": {"cpu": "2"}}),
    ),
    case(
        "none of its containers may exceed it",
        pod(container(resources={"limits": {"memory": "3Gi"}}), resources={"limits": {"memory": "2Gi"}}),
        f'{MAIN}.resources.limits[memory]: Invalid value: "3Gi": must be at most "2Gi", the limit of the pod',
    ),
    case(
        "but an init container may",
        pod(init=[container("a", resources={"limits": {"memory": "4Gi"}})], resources={"limits": {"memory": "3072Mi"}}),
    ),
    case("devices are of containers", pod(resources={"limits": {GPU: 1}}), f"{POD}.limits[{GPU}]: Unsupported value"),
]


test_resources_of_a_container = judged(resources.FAMILY.check, CONTAINER_CASES + RESIZE_CASES)
test_claims = judged(resources.FAMILY.check, CLAIM_CASES)
test_resources_of_a_pod = judged(resources.FAMILY.check, POD_CASES)
