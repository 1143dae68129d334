"""Paths in containers, and volumes and mounts of the user that are in the way of a plugin's files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from jobgate.plugins.crew import Crew
from webhook import Cause, Forbidden, Path
from webhook.text import short


def is_inside(path: str, folder: str) -> bool:
    """Return whether an absolute path is a folder, or below it. `//etc` and `/x/../etc` are `/etc` to a container."""
    return f"{_normal(path)}/".startswith(f"{_normal(folder)}/")


def in_the_way(crew: Crew, path: Path, *, volume: str, folder: str, what: str, otherwise: str = "") -> Iterator[Cause]:
    """Yield volumes and mounts of the user at the path of a plugin's files, and below.

    Args:
        crew: the job.
        path: where it requests the plugin.
        volume: name of the plugin's volume.
        folder: mount path of the files.
        what: description of the files.
        otherwise: what the user can do, too.
    """
    place = f"{_normal(folder)}/"
    for part in crew.parts:
        task = short(part.name)
        if crew.has_volume(part, volume):
            text = f"task {task} has a volume {volume}, a name reserved for the {what}: rename it"
            yield Forbidden(path, text, [part.name, volume])
        for container in part.containers:
            for mount in container.mounts:
                if f"{_normal(mount)}/".startswith(place):
                    name = short(container.name)
                    yield Forbidden(
                        path,
                        f"container {name} of task {task} mounts a volume at {short(mount)}, a path reserved "
                        f"for the {what}: use another path{otherwise}",
                        [part.name, container.name, mount, folder],
                    )


def _normal(path: str) -> str:
    if path.startswith("/") and not path.endswith("/") and "//" not in path and "/." not in path:
        return path  # as nearly all are
    # POSIX lets two slashes at the beginning mean something of their own; Linux does not.
    return posixpath.normpath("/" + path.lstrip("/"))
