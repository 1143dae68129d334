"""The changes of objects, as a watch reports them."""

import itertools
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for

Object = dict[str, Any]
#: A pod that is never scheduled.
POD: Object = {
    "metadata": {"generateName": "last-"},
    "spec": {"schedulingGates": [{"name": "example.com/last"}], "containers": [{"name": "main", "image": "none"}]},
}


@contextmanager
def recorded(
    plane: ControlPlane, collection: str, last: Object = POD, home: str = ""
) -> Iterator[Callable[[], list[tuple[str, Object]]]]:
    """Record the changes of a collection from now on.

    The API server keeps past changes for a minute only, so they are read as they come. The function that is yielded
    creates the object `last`, and returns all changes before it: ADDED, MODIFIED or DELETED, and the object. If the
    collection is that of all namespaces, `home` is where the object is created.
    """
    version = plane.client.get(collection)[1]["metadata"]["resourceVersion"]
    command = [str(plane.assets.kubectl), "get", "--raw", f"{collection}?watch=1&resourceVersion={version}"]
    with (
        tempfile.NamedTemporaryFile() as file,
        subprocess.Popen(command, env=plane.environment(), stdout=file, stderr=file) as watch,
    ):

        def seen() -> list[tuple[str, Object]]:
            whole, _, _ = Path(file.name).read_text(encoding="utf-8").rpartition("\n")
            return [(event["type"], event["object"]) for event in map(json.loads, whole.splitlines())]

        def changes() -> list[tuple[str, Object]]:
            status, stored = plane.client.post(home or collection, last)
            assert status == 201, stored
            uid = stored["metadata"]["uid"]
            wait_for(lambda: uid in map(_uid, seen()), what="the watch reports the last object")
            return list(itertools.takewhile(lambda change: _uid(change) != uid, seen()))

        try:
            yield changes
        finally:
            watch.terminate()


def _uid(change: tuple[str, Object]) -> str:
    return str(change[1]["metadata"]["uid"])
