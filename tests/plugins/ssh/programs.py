"""The programs that the tests of logging in need: a real sshd, and a machine of its own for it."""

import os
import shutil
import subprocess
from functools import cache

import pytest

PROGRAMS = ("/usr/sbin/sshd", "ssh", "ip", "unshare", "nsenter", "setpriv", "mount")
INSTALL = "apt-get install --yes --no-install-recommends openssh-server openssh-client iproute2 util-linux"

#: Whoever cannot have the programs says so by this variable, and the tests that need them are passed over.
ALLOW_MISSING = "ALLOW_MISSING"


@cache
def need_programs() -> None:
    """Install what is missing, as root; fail, with the command to run, where that cannot be done."""
    if os.environ.get(ALLOW_MISSING) == "1" and (os.geteuid() != 0 or _missing()):
        pytest.skip(f"{ALLOW_MISSING}=1")
    if os.geteuid() != 0:
        pytest.fail(f"sshd logs users in as root only: run the tests as root, or with {ALLOW_MISSING}=1")
    if _missing():
        subprocess.run(
            f"apt-get update --quiet && {INSTALL}", shell=True, check=False, capture_output=True, timeout=300
        )
    if missing := _missing():
        pytest.fail(f"no {', '.join(missing)}: run `{INSTALL}`, or the tests with {ALLOW_MISSING}=1")


def _missing() -> list[str]:
    return [name for name in PROGRAMS if not shutil.which(name)]
