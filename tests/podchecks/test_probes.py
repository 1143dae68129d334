from typing import Any

from jobgate.podchecks import probes
from tests.podchecks.builder import INIT, MAIN, Json, case, container, of_container, pod, sidecar
from tests.podchecks.verdict import Case, judged

TCP: Json = {"tcpSocket": {"port": 80}}


def live(sentence: str, probe: Json, *expected: str) -> Case:
    """Return a row about a liveness probe."""
    return of_container(sentence, {"livenessProbe": probe}, *(f"livenessProbe{begins}" for begins in expected))


def ready(sentence: str, probe: Json, *expected: str) -> Case:
    """Return a row about a readiness probe."""
    return of_container(sentence, {"readinessProbe": probe}, *(f"readinessProbe{begins}" for begins in expected))


def stopping(sentence: str, hook: Json, *expected: str, **spec: Any) -> Case:
    """Return a row about a hook before the end."""
    begins = [f"{MAIN}.lifecycle.preStop{begin}" for begin in expected]
    return sentence, pod(container(lifecycle={"preStop": hook}), **spec), begins


PROBE_CASES: list[Case] = [
    live("a probe does one thing", {"exec": {"command": ["true"]}}),
    live("not none", {}, ": Required value: must have one of exec, httpGet, tcpSocket, grpc"),
    live(
        "and not two",
        {"exec": {"command": ["true"]}, **TCP},
        ".tcpSocket: Forbidden: may not be set together with exec, as only one handler is allowed",
    ),
    live("a command has a program", {"exec": {}}, ".exec.command: Required value"),
    live("a request has a port", {"httpGet": {"path": "/"}}, ".httpGet.port: Required value"),
    live("by number or name", {"httpGet": {"port": "http"}}),
    live("a number is none in quotes", {"httpGet": {"port": "80"}}, '.httpGet.port: Invalid value: "80"'),
    live("and not 0", {"httpGet": {"port": 0}}, ".httpGet.port: Invalid value: 0"),
    live("a scheme is HTTP or HTTPS", {"httpGet": {"port": 80, "scheme": "HTTPS"}}),
    live("in capitals", {"httpGet": {"port": 80, "scheme": "https"}}, '.httpGet.scheme: Unsupported value: "https"'),
    live("an empty one is HTTP", {"httpGet": {"port": 80, "scheme": "", "path": ""}}),
    live(
        "headers have names",
        {"httpGet": {"port": 80, "httpHeaders": [{"name": "X-A", "value": ""}, {"name": "X A", "value": ""}]}},
        '.httpGet.httpHeaders[1].name: Invalid value: "X A"',
    ),
    live("gRPC is asked by number", {"grpc": {"port": 65536}}, ".grpc.port: Invalid value: 65536"),
    live("TCP by name too", {"tcpSocket": {"port": "http"}}),
    live("times may be 0, for the default", {**TCP, "periodSeconds": 0, "timeoutSeconds": 0}),
    live("but not less", {**TCP, "initialDelaySeconds": -1}, ".initialDelaySeconds: Invalid value: -1"),
    live("life is one success", {**TCP, "successThreshold": 2}, ".successThreshold: Invalid value: 2"),
    live("or the default of it", {**TCP, "successThreshold": 0}),
    live("a grace period is at least a second", {**TCP, "terminationGracePeriodSeconds": 0}, ".terminationGrace"),
    ready("readiness may be more successes", {**TCP, "successThreshold": 2}),
    ready("and ends nothing", {**TCP, "terminationGracePeriodSeconds": 5}, ".terminationGracePeriodSeconds: Forbidden"),
    case("sidecars are probed too", pod(init=[sidecar(startupProbe={})]), f"{INIT}.startupProbe: Required value"),
]

HOOK_CASES: list[Case] = [
    stopping("a hook does one thing", {"exec": {"command": ["true"]}}),
    stopping("not none", {}, ": Required value: must have one of exec, httpGet, tcpSocket, sleep"),
    stopping("gRPC is no hook", {"grpc": {"port": 80}}, ": Required value"),
    stopping("it may sleep as long as the pod has time", {"sleep": {"seconds": 30}}),
    stopping("not longer", {"sleep": {"seconds": 31}}, ".sleep.seconds: Invalid value: 31: must be between 0 and the"),
    stopping("even where there is none", {"sleep": {"seconds": 1}}, ".sleep.sec", terminationGracePeriodSeconds=0),
    stopping("a negative period is one second", {"sleep": {"seconds": 1}}, terminationGracePeriodSeconds=-5),
    stopping("and no more", {"sleep": {"seconds": 2}}, ".sleep.seconds: Inv", terminationGracePeriodSeconds=-5),
    stopping("nor backwards", {"sleep": {"seconds": -1}}, ".sleep.seconds: Invalid value: -1"),
    case(
        "sidecars have hooks too",
        pod(init=[sidecar(lifecycle={"postStart": {"exec": {"command": []}}})]),
        f"{INIT}.lifecycle.postStart.exec.command: Required value",
    ),
    of_container("an empty lifecycle is fine", {"lifecycle": {}}),
]


test_probes = judged(probes.FAMILY.check, PROBE_CASES)
test_hooks = judged(probes.FAMILY.check, HOOK_CASES)
