"""Programs of the operating system that tests, demo and benchmarks need.

`tests/conftest.py` installs them once, before tests start: those of the selected tests, or those of all tests if
several workers run them.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: The Debian package of each program.
PACKAGES: Mapping[str, str] = {
    "/usr/bin/python3": "python3",
    "/usr/sbin/sshd": "openssh-server",
    "bash": "bash",
    "busybox": "busybox",
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "dash": "dash",
    "ip": "iproute2",
    "jq": "jq",
    "mount": "mount",
    "mpirun": "openmpi-bin",
    "node": "nodejs",
    "npm": "npm",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "unshare": "util-linux",
    "wrk": "wrk",
}
#: Programs that only benchmarks need.
BENCHMARKS = frozenset({"wrk"})
TESTS = frozenset(PACKAGES) - BENCHMARKS

#: Seconds to wait for the locks of apt and dpkg, and for one attempt.
WAIT = 600.0
_RETRY_PERIOD = 1.0
#: The message for the locks of package files and package lists: apt-get does not wait for them by itself.
_LOCKED = "Could not get lock"


class Missing(RuntimeError):
    """Programs are missing; the message says how to get them."""


@dataclass(frozen=True)
class System:
    """Looks up and installs programs of the operating system.

    Attributes:
        path: folders of programs, as in `PATH`.
        root: whether this process may install packages.
        root_folder: folder in which absolute programs are looked up.
        root_folder: folder in which absolute paths are looked up.
    """

    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    root_folder: Path = Path("/")
    sleep: Callable[[float], None] = time.sleep

    def missing(self, programs: Collection[str]) -> list[str]:
        """Return the programs that are not installed."""
        return sorted(name for name in programs if not self.find(name))

    def lacks(self, programs: Collection[str], *, root: bool = False) -> list[str]:
        """Return the missing programs, and `root` if the process needs to be root and is not."""
        return [*self.missing(programs), *(["root"] if root and not self.root else [])]

    def install(self, programs: Collection[str]) -> None:
        """Install missing programs with apt-get if possible; wait while another process holds its locks.

        Raises:
            Missing: programs are still missing.
        """
        missing = self.missing(programs)
        if not missing:
            return
        output = ""
        if self.root and (apt := self.find("apt-get")):
            # Even if the update fails, the packages may be found.
            output = self._run([apt, "update"])
            output = self._run([apt, *_install(missing)]) or output
        if missing := self.missing(programs):
            raise Missing(message(missing, output))

    def find(self, program: str) -> str | None:
        """Return the path of a program, if it is installed."""
        if not program.startswith("/"):
            return shutil.which(program, path=self.path)
        return shutil.which(self.root_folder / program.lstrip("/"))

    def _run(self, command: list[str]) -> str:
        """Run apt-get, and retry while its locks are held; return its output if it fails."""
        environment = {**os.environ, "PATH": self.path, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
        deadline = time.monotonic() + WAIT
        command = [*command, "--quiet", f"--option=DPkg::Lock::Timeout={WAIT:.0f}"]
        while True:
            try:
                process = subprocess.run(
                    command, env=environment, check=False, capture_output=True, text=True, timeout=WAIT
                )
            except subprocess.TimeoutExpired:
                return f"{' '.join(command)}: no end after {WAIT:.0f} s"
            if process.returncode == 0:
                return ""
            if _LOCKED not in process.stderr or time.monotonic() >= deadline:
                return process.stderr
            self.sleep(_RETRY_PERIOD)


def message(missing: Iterable[str], output: str = "") -> str:
    """Return the message about missing programs: how to install them."""
    names = list(missing)
    programs = [name for name in names if name in PACKAGES]
    remedies = [f"run `apt-get {' '.join(_install(programs))}` as root"] if programs else []
    text = f"missing here: {', '.join(names)}; {' and '.join([*remedies, *(['be root'] if 'root' in names else [])])}"
    return f"{text}\n{output.strip()}" if output.strip() else text


def _install(programs: Iterable[str]) -> list[str]:
    return ["install", "--yes", "--no-install-recommends", *sorted({PACKAGES[name] for name in programs})]
