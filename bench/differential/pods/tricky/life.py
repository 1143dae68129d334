"""Probes and lifecycle."""

from typing import Any

from bench.differential.pods.tricky.builder import Table, pod

_EXEC = {"exec": {"command": ["true"]}}


def _live(*, spec: dict[str, Any] | None = None, **probe: Any) -> dict[str, Any]:
    return pod({"livenessProbe": probe}, **(spec or {}))


def _life(lifecycle: Any, **spec: Any) -> dict[str, Any]:
    return pod({"lifecycle": lifecycle}, **spec)


PROBES: Table = [
    ("no handler", _live()),
    ("no handler but a period", _live(periodSeconds=5)),
    ("a handler that is null", _live(exec=None)),
    ("two handlers", _live(exec={"command": ["true"]}, tcpSocket={"port": 1})),
    ("two handlers, the second broken", _live(exec={"command": ["true"]}, tcpSocket={"port": 0})),
    ("two handlers, the first broken", _live(exec={}, tcpSocket={"port": 1})),
    ("all four handlers", _live(exec={"command": ["a"]}, httpGet={"port": 1}, tcpSocket={"port": 1}, grpc={"port": 1})),
    ("no command", _live(exec={})),
    ("an empty command", _live(exec={"command": []})),
    ("a command of an empty word", _live(exec={"command": [""]})),
    ("a port by an unknown name", _live(httpGet={"port": "unknown"})),
    ("a port by a number in quotes", _live(httpGet={"port": "8080"})),
    ("a port by a name of 16 characters", _live(httpGet={"port": "a" * 16})),
    ("an empty name of a port", _live(httpGet={"port": ""})),
    ("port 0", _live(tcpSocket={"port": 0})),
    ("port 65536", _live(tcpSocket={"port": 65536})),
    ("no port", _live(httpGet={})),
    ("no port of a socket", _live(tcpSocket={})),
    ("gRPC", _live(grpc={"port": 9000})),
    ("gRPC port 0", _live(grpc={"port": 0})),
    ("gRPC without a port", _live(grpc={})),
    ("gRPC port 65536", _live(grpc={"port": 65536})),
    ("gRPC with an empty service", _live(grpc={"port": 1, "service": ""})),
    ("an empty path", _live(httpGet={"port": 1, "path": ""})),
    ("a relative path", _live(httpGet={"port": 1, "path": "healthz"})),
    ("a scheme in small letters", _live(httpGet={"port": 1, "scheme": "http"})),
    ("an empty scheme", _live(httpGet={"port": 1, "scheme": ""})),
    ("a header with a blank", _live(httpGet={"port": 1, "httpHeaders": [{"name": "a b", "value": "c"}]})),
    ("a header without a name", _live(httpGet={"port": 1, "httpHeaders": [{"value": "c"}]})),
    ("a header with an underscore", _live(httpGet={"port": 1, "httpHeaders": [{"name": "a_b", "value": "c"}]})),
    ("one header twice", _live(httpGet={"port": 1, "httpHeaders": [{"name": "A", "value": "c"}] * 2})),
    ("a success threshold of 2 for liveness", _live(**_EXEC, successThreshold=2)),
    ("a success threshold of 2 for readiness", pod({"readinessProbe": {**_EXEC, "successThreshold": 2}})),
    ("a success threshold of 2 for startup", pod({"startupProbe": {**_EXEC, "successThreshold": 2}})),
    ("a success threshold of 0 for liveness", _live(**_EXEC, successThreshold=0)),
    ("a negative delay", _live(**_EXEC, initialDelaySeconds=-1)),
    ("a negative period", _live(**_EXEC, periodSeconds=-1)),
    ("a period of 0", _live(**_EXEC, periodSeconds=0)),
    ("a negative timeout", _live(**_EXEC, timeoutSeconds=-1)),
    ("a negative failure threshold", _live(**_EXEC, failureThreshold=-1)),
    ("a grace period for liveness", _live(**_EXEC, terminationGracePeriodSeconds=5)),
    ("a grace period of 0", _live(**_EXEC, terminationGracePeriodSeconds=0)),
    ("a grace period for readiness", pod({"readinessProbe": {**_EXEC, "terminationGracePeriodSeconds": 5}})),
    ("a grace period for startup", pod({"startupProbe": {**_EXEC, "terminationGracePeriodSeconds": 5}})),
    ("a probe that is null", pod({"livenessProbe": None})),
    ("a negative grace period of the pod", pod(terminationGracePeriodSeconds=-1)),
    ("a grace period of the pod of 0", pod(terminationGracePeriodSeconds=0)),
]

LIFECYCLE: Table = [
    ("empty", _life({})),
    ("a hook that is empty", _life({"preStop": {}})),
    ("a hook that is null", _life({"preStop": None})),
    ("a hook of two handlers", _life({"preStop": {**_EXEC, "tcpSocket": {"port": 1}}})),
    ("a hook of gRPC, which is pruned", _life({"preStop": {"grpc": {"port": 1}}})),
    ("a hook without a command", _life({"postStart": {"exec": {}}})),
    ("a hook at a bad port", _life({"postStart": {"httpGet": {"port": 0}}})),
    ("a sleep", _life({"preStop": {"sleep": {"seconds": 5}}})),
    ("a sleep of no time", _life({"preStop": {"sleep": {"seconds": 0}}})),
    ("a sleep without seconds", _life({"preStop": {"sleep": {}}})),
    ("a negative sleep", _life({"preStop": {"sleep": {"seconds": -1}}})),
    ("a sleep as long as the default grace period", _life({"preStop": {"sleep": {"seconds": 30}}})),
    ("a sleep longer than the default grace period", _life({"preStop": {"sleep": {"seconds": 31}}})),
    (
        "a sleep longer than the grace period",
        _life({"preStop": {"sleep": {"seconds": 20}}}, terminationGracePeriodSeconds=10),
    ),
    (
        "a sleep within a negative grace period",
        _life({"preStop": {"sleep": {"seconds": 1}}}, terminationGracePeriodSeconds=-5),
    ),
    (
        "a sleep of one second within a negative grace period",
        _life({"preStop": {"sleep": {"seconds": 2}}}, terminationGracePeriodSeconds=-5),
    ),
    ("a sleep after the start", _life({"postStart": {"sleep": {"seconds": 5}}})),
    ("a sleep and a command", _life({"preStop": {"sleep": {"seconds": 5}, **_EXEC}})),
    ("a stop signal", _life({"stopSignal": "SIGTERM"}, os={"name": "linux"})),
    ("a stop signal without an operating system", _life({"stopSignal": "SIGTERM"})),
    ("an unknown stop signal", _life({"stopSignal": "SIGFOO"}, os={"name": "linux"})),
    ("an empty stop signal", _life({"stopSignal": ""}, os={"name": "linux"})),
    ("a real-time stop signal", _life({"stopSignal": "SIGRTMIN+15"}, os={"name": "linux"})),
    ("a real-time stop signal that is none", _life({"stopSignal": "SIGRTMIN+16"}, os={"name": "linux"})),
    ("a stop signal of Linux on Windows", _life({"stopSignal": "SIGUSR1"}, os={"name": "windows"})),
    ("SIGKILL on Windows", _life({"stopSignal": "SIGKILL"}, os={"name": "windows"})),
    ("a stop signal on an unknown system", _life({"stopSignal": "SIGTERM"}, os={"name": "plan9"})),
]
