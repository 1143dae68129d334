"""Paths in containers, and the user's volumes and mounts that collide with a plugin's files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from jobgate.plugins.crew import Crew
from webhook import Cause, Forbidden, Path
from webhook.text import short


def is_inside(path: str, folder: str) -> bool:
    """Return whether an absolute path is a folder or below it. `//etc` and `/x/../etc` mean `/etc` in a container."""
    return f"{_normal(path)}/".startswith(f"{_normal(folder)}/")


def collisions(crew: Crew, path: Path, *, volume: str, folder: str, what: str, otherwise: str = "") -> Iterator[Cause]:
    """Yield the user's volumes and mounts at or below the path of a plugin's files.

    Args:
        crew: the job.
        path: the path of the field that requests the plugin.
        volume: name of the plugin's volume.
        folder: mount path of the files.
        what: description of the files.
        otherwise: another fix, for the message.
    """
    prefix = f"{_normal(folder)}/"
    for part in crew.parts:
        task = short(part.name)
        if crew.has_volume(part, volume):
            text = f"task {task} has a volume {volume}, a name reserved for the {what}: rename it"
            yield Forbidden(path, text, [part.name, volume])
        for container in part.containers:
            for mount in container.mounts:
                if f"{_normal(mount)}/".startswith(prefix):
                    name = short(container.name)
                    yield Forbidden(
                        path,
                        f"container {name} of task {task} mounts a volume at {short(mount)}, a path reserved "
                        f"for the {what}: use another path{otherwise}",
                        [part.name, container.name, mount, folder],
                    )


def _normal(path: str) -> str:
    if path.startswith("/") and not path.endswith("/") and "//" not in path and "/." not in path:
        return path  # fast, for nearly all paths
    # POSIX allows two leading slashes to have a special meaning; Linux gives them none.
    return posixpath.normpath("/" + path.lstrip("/"))
