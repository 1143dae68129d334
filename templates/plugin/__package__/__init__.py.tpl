"""The plugin `$name`: each pod has a folder of its own, and a variable with its path."""

from collections.abc import Iterator
from typing import Annotated

from jobgate.api import Arguments, Cause, Crew, Forbidden, Member, Path, Plugin, Pod, Takes
from pydantic import Field

__all__ = ["PLUGIN"]

VOLUME = "$name"


class FolderArguments(Arguments):
    """Where the folder is."""

    directory: Annotated[str, Takes("an absolute path"), Field(pattern="^/[^:]*$$")] = "/$name"


class Folder(Plugin[FolderArguments]):
    """Mounts a folder."""

    name = "$name"
    arguments = FolderArguments

    def check(self, crew: Crew, arguments: FolderArguments, path: Path) -> Iterator[Cause]:
        """Deny jobs with a volume of this name."""
        for part in crew.parts:
            if crew.has_volume(part, VOLUME):
                yield Forbidden(path, f"task {part.name} has a volume {VOLUME} already: rename it")

    def wire(self, pod: Pod, member: Member, arguments: FolderArguments) -> None:
        """Add the volume, mount it, and set its path in each container."""
        pod.volume({"name": VOLUME, "emptyDir": {}})
        pod.mount({"name": VOLUME, "mountPath": arguments.directory})
        pod.variable("${variable}_DIRECTORY", arguments.directory)


PLUGIN = Folder()
