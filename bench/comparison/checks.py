"""The answers of a server, before anything is timed: verdicts, and patches that apply and do their work."""

from __future__ import annotations

import base64
import http.client
import ssl
from typing import Any

import jsonpatch
import orjson

from bench.comparison.scenarios import CONSTANT, Scenario
from webhook import Phase

#: As many of the bodies are checked so; of the others, wrk's script sees the verdict.
SAMPLE = 4


def check(server: str, port: int, ca: str, scenario: Scenario, phase: Phase, bodies: list[bytes]) -> None:
    """Send some bodies.

    Raises:
        AssertionError: an answer is not what it has to be.
    """
    if server == CONSTANT:
        return
    context = ssl.create_default_context(cadata=ca)
    context.check_hostname = False  # the certificate is the Service's, and this is loopback
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    for body in bodies[:SAMPLE]:
        connection.request("POST", scenario.of().path(phase), body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, (server, scenario.name, text)
        sent, response = orjson.loads(body)["request"], orjson.loads(text)["response"]
        assert response["uid"] == sent["uid"], (server, scenario.name, response)
        assert response["allowed"] is not scenario.denied, (server, scenario.name, phase, response)
        if phase is Phase.MUTATE and not scenario.update:
            _check_patched(server, scenario, sent["object"], response)
    connection.close()


def _check_patched(server: str, scenario: Scenario, job: dict[str, Any], response: dict[str, Any]) -> None:
    patch = orjson.loads(base64.b64decode(response.get("patch", "W10=")))
    stored = jsonpatch.apply_patch(job, patch)
    if scenario.kind == "DIJob":
        assert stored["spec"]["priority"] == "normal", (server, stored)
        assert all(task["name"] and task["replicas"] == 1 for task in stored["spec"]["tasks"]), (server, stored)
