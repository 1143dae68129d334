"""Containers run for real: what kubelet makes of a command, and the shells that images have."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHELLS = ("dash", "bash", "busybox")
PROGRAMS = (*SHELLS, "unshare")
INSTALL = "apt-get install --yes --no-install-recommends dash bash busybox util-linux"

#: Who cannot install the programs sets this variable; the tests that need them are skipped then.
ALLOW_MISSING = "ALLOW_MISSING"
TIMEOUT = 60

_EXPANDED = re.compile(r"\$\$|\$\(([-._a-zA-Z0-9]+)\)")


@cache
def need_programs() -> None:
    """Install what is missing, as root; fail, with the command to run, where that cannot be done."""
    if _missing() and os.geteuid() == 0 and os.environ.get(ALLOW_MISSING) != "1":
        command = f"apt-get update --quiet && {INSTALL}"
        subprocess.run(command, shell=True, check=False, capture_output=True, timeout=300)
    if missing := _missing():
        if os.environ.get(ALLOW_MISSING) == "1":
            pytest.skip(f"{ALLOW_MISSING}=1")
        pytest.fail(f"no {', '.join(missing)}: run `{INSTALL}`, or the tests with {ALLOW_MISSING}=1")


def shell_in(folder: Path, name: str) -> str:
    """Return the path of a shell; busybox is one under the name of sh."""
    need_programs()
    program = shutil.which(name)
    assert program
    if name != "busybox":
        return program
    (folder / "sh").symlink_to(program)
    return str(folder / "sh")


def argv_of(container: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Return what kubelet starts: `$(NAME)` is a variable's value where there is one, `$$` is one `$`."""

    def value(found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else environment.get(found[1], found[0])

    return [_EXPANDED.sub(value, text) for text in (*container["command"], *container.get("args", ()))]


def run(
    argv: Sequence[str], environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run what kubelet starts to its end."""
    return subprocess.run(
        argv, env=variables(environment), input=stdin, capture_output=True, check=False, timeout=TIMEOUT
    )


def variables(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a container."""
    return {"PATH": os.environ["PATH"], **(more or {})}


def _missing() -> list[str]:
    return [name for name in PROGRAMS if not shutil.which(name)]
