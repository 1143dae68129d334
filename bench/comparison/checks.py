"""The answers of a server, before anything is timed: verdicts, and patches that apply and do their work."""

from __future__ import annotations

import base64
import http.client
import ssl

import jsonpatch
import orjson

from bench.comparison.scenarios import Review
from bench.comparison.servers import CONSTANT
from webhook import Phase

#: As many of the bodies are checked so; of the others, wrk's script sees the verdict.
SAMPLE = 4


def check(server: str, port: int, ca: str, scenario: Review, phase: Phase, bodies: list[bytes]) -> None:
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
        connection.request("POST", scenario.path(phase), body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, (server, scenario.name, text)
        sent, response = orjson.loads(body)["request"], orjson.loads(text)["response"]
        assert response["uid"] == sent["uid"], (server, scenario.name, response)
        assert response["allowed"] is not scenario.denied, (server, scenario.name, phase, response)
        patch = orjson.loads(base64.b64decode(response.get("patch", "W10=")))
        scenario.check(jsonpatch.apply_patch(sent["object"], patch))
    connection.close()
