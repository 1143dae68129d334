"""The users of a pod that can use a private key, and the mode of its file.

The files of a Secret belong to root. If root runs OpenSSH, it rejects a key of root that other users may read; other
users only need to be able to read it. If a pod has an `fsGroup`, the kubelet always lets this group read the files:
then root cannot use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobgate.plugins.crew import CrewContainer, Part
from webhook import Cause, Forbidden, Notice, Path
from webhook.text import short

#: Readable by root alone, or, with an `fsGroup`, by this group too.
PRIVATE = 0o400

#: Readable by all users of a pod; root cannot use such a key.
PUBLIC = 0o444

#: Root's home, which no other user can read.
_HOME_OF_ROOT = "/root"


def mode_of(part: Part, folder: str) -> int:
    """Return the mode of private keys with which most containers can use them."""
    if part.fs_group is not None or any(runs_as_root(container, folder) for container in _lasting(part)):
        return PRIVATE
    return PUBLIC


def runs_as_root(container: CrewContainer, folder: str) -> bool:
    """Return whether a container runs as root; if its image decides, whether the keys are in root's home."""
    return _in_home_of_root(folder) if container.root is None else container.root


def check(part: Part, folder: str, path: Path) -> Iterator[Cause | Notice]:
    """Yield the settings of a task that prevent OpenSSH from using the keys."""
    containers = _lasting(part)
    roots = [container.name for container in containers if runs_as_root(container, folder)]
    is_root = frozenset(roots)
    others = [container.name for container in containers if container.name not in is_root]
    task = f"task {short(part.name)}"
    if part.fs_group is not None and roots:
        why = "securityContext.fsGroup makes the private key readable by a group, and OpenSSH then rejects it for root"
        fix = "remove fsGroup, or set runAsUser to a non-root user and --ssh-key-file-path to a directory of that user"
        if others:
            yield Notice(path, f"{task}: {why}: containers that run as root cannot use it: {_names(roots)}")
        else:
            yield Forbidden(path, f"{task} runs as root, and {why}: {fix}", [part.name, part.fs_group, folder])
    elif part.fs_group is None and roots and others:
        text = (
            f"{task}: some containers run as root, so only root can read the private key; {_names(others)} "
            "cannot use it"
        )
        yield Notice(path, text)
    elif part.fs_group is None and others:
        text = (
            f"{task} has no securityContext.fsGroup: all users in its containers can read the private key. "
            "Set fsGroup to allow only that group"
        )
        if any(container.root is None for container in containers):
            text += "; root cannot use the key then: if the image runs as root, set runAsUser: 0"
        yield Notice(path, text)
    if others and _in_home_of_root(folder):
        text = f"{task} runs as a non-root user, which cannot read {folder}: set --ssh-key-file-path"
        yield Notice(path, text)


def _names(containers: Sequence[str]) -> str:
    return short(", ".join(containers))


def _lasting(part: Part) -> list[CrewContainer]:
    """Return the containers that exist while the job runs: all but the init containers."""
    return [container for container in part.containers if not container.init]


def _in_home_of_root(folder: str) -> bool:
    return f"{folder}/".startswith(f"{_HOME_OF_ROOT}/")
