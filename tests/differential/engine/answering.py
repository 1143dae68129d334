"""Reviews cases with the code of this checkout: reads cases as lines of JSON, and writes an answer for each.

    python -m tests.differential.engine.answering

The first line is the cluster with the files of settings. Each checkout uses its own copy of this module, because it
depends on the signature of `review`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import click
import jsonpatch
import orjson

from jobgate.cli.settings import Configured, installation
from jobgate.serving.metrics import PRODUCT
from webhook import Cause, NoObjects, NotInstalled, Objects, Phase, Request, Response, User, review

Json: TypeAlias = dict[str, Any]


class Cluster:
    """The objects of the cluster.

    Args:
        objects: by resource, and then by namespace and name.
        bare: whether it serves only Kubernetes' own resources.
    """

    def __init__(self, objects: Mapping[str, Mapping[str, Any]], *, bare: bool) -> None:
        self._objects = objects
        self._bare = bare

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None."""
        if self._bare and not resource.endswith(".v1."):
            raise NotInstalled(resource)
        document: Mapping[str, Any] | None = self._objects[resource].get(f"{namespace}/{name}")
        return document


class Rights:
    """The rights of users: pseudo-random, but always the same for the same question."""

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        """Return whether the user has the right, or None if that is unknown."""
        return (True, True, False, None)[crc32(f"{user.name} {verb} {resource} {name} {namespace}".encode()) % 4]


@click.command()
@installation
def _configured(configured: Configured) -> Configured:
    return configured


class Answers:
    """Reviews cases.

    Args:
        cluster: its objects, and the files of settings.
        folder: where the files are written.
    """

    def __init__(self, cluster: Json, folder: Path) -> None:
        for name, text in cluster["files"].items():
            (folder / name).write_text(text, encoding="utf-8")
        self._folder = folder
        self._objects: Mapping[str, Objects] = {
            "full": Cluster(cluster["objects"], bare=False),
            "bare": Cluster(cluster["objects"], bare=True),
            "none": NoObjects(),
        }
        self._settings = cache(self._read_settings)

    def _read_settings(self, flags: tuple[str, ...]) -> Configured:
        words = [
            flag.replace("=", f"={self._folder}/", 1) if flag.endswith(".yaml") else flag  # a file of the cluster
            for flag in flags
        ]
        configured: Configured = _configured.main(args=words, standalone_mode=False)
        return configured

    def answer(self, case: Json) -> Json:
        """Return the responses of both calls; an exception is an answer, too."""
        answered: Json = {}
        try:
            asked = self._with_stored(case)
            changed, answered["mutate"] = self._call(Phase.MUTATE, case, asked)
            if case["mutated"] and changed is not None:
                asked = {**asked, "object": changed}
            _, answered["validate"] = self._call(Phase.VALIDATE, case, asked)
        except Exception as error:  # noqa: BLE001  # an answer that the other checkout may not give
            answered["error"] = f"{type(error).__name__}: {error}"
        return answered

    def _with_stored(self, case: Json) -> Json:
        """Return the request; in a case with `stored`, its old object has the defaults of mutation."""
        asked: Json = case["request"]
        if not case["stored"] or not isinstance(asked["oldObject"], dict):
            return asked
        created = {**asked, "operation": "CREATE", "object": asked["oldObject"], "oldObject": None}
        admitted, _ = self._call(Phase.MUTATE, case, created)
        return asked if admitted is None else {**asked, "oldObject": admitted}

    def _call(self, phase: Phase, case: Json, asked: Json) -> tuple[Any, Json]:
        """Return the object after a call, or None if it is denied, and the response."""
        configured = self._settings(tuple(case["settings"]))
        request = Request.parse({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked})
        access = None if case["cluster"] == "none" else Rights()
        objects = self._objects[case["cluster"]]
        response = review(request, phase, configured.kinds, configured.settings, objects, access=access)
        changed = jsonpatch.apply_patch(asked["object"], response.patch) if response.patch else asked["object"]
        return (changed if response.allowed else None), _recorded(response)


def _recorded(response: Response) -> Json:
    """Return the complete response, and a checksum of the bounded response for the API server."""
    return {
        "allowed": response.allowed,
        "causes": [[rule, cause.to_status()] for rule, cause in response.findings if isinstance(cause, Cause)],
        "notices": [str(notice) for notice in response.notices],
        "patch": response.patch,
        "sent": crc32(orjson.dumps(response.to_review(PRODUCT.hint))),
    }


def main() -> None:
    """Review line by line until the input ends."""
    for name in [name for name in os.environ if name.startswith("JOBGATE_")]:
        del os.environ[name]
    lines = iter(sys.stdin.buffer.readline, b"")
    with tempfile.TemporaryDirectory(prefix="jobgate-differential-") as folder:
        answers = Answers(orjson.loads(next(lines)), Path(folder))
        for line in lines:
            answered = answers.answer(orjson.loads(line))
            sys.stdout.buffer.write(orjson.dumps(answered, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
