"""Containers run for real: what kubelet makes of a command, and the shells that images have."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

SHELLS = ("dash", "bash", "busybox")
#: The needs of tests that run under each of them.
NEEDS = pytest.mark.needs(*SHELLS, "unshare")
TIMEOUT = 60

_EXPANDED = re.compile(r"\$\$|\$\(([-._a-zA-Z0-9]+)\)")


def shell_in(folder: Path, name: str) -> str:
    """Return the path of a shell; busybox is one under the name of sh."""
    program = shutil.which(name)
    assert program
    if name != "busybox":
        return program
    (folder / "sh").symlink_to(program)
    return str(folder / "sh")


def argv_of(container: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Return the arguments as kubelet expands them: `$(NAME)` becomes the value of a known variable, `$$` becomes `$`."""

    def value(found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else environment.get(found[1], found[0])

    return [_EXPANDED.sub(value, text) for text in (*container["command"], *container.get("args", ()))]


def run(
    argv: Sequence[str], environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run the arguments of kubelet to their end."""
    return subprocess.run(
        argv, env=variables(environment), input=stdin, capture_output=True, check=False, timeout=TIMEOUT
    )


def variables(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a container."""
    return {"PATH": os.environ["PATH"], **(more or {})}
