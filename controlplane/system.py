"""What tests, demo and benchmarks need of the operating system, installed here and nowhere else.

`tests/conftest.py` installs it once, before tests start: all that tests need if several workers run them, and what the
chosen tests need otherwise.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Programs of tests, and the Debian package of each.
PACKAGES: Mapping[str, str] = {
    "/usr/bin/python3": "python3",
    "/usr/sbin/sshd": "openssh-server",
    "bash": "bash",
    "busybox": "busybox",
    "dash": "dash",
    "ip": "iproute2",
    "jq": "jq",
    "mount": "mount",
    "mpirun": "openmpi-bin",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "unshare": "util-linux",
    "wrk": "wrk",
}
#: Programs of benchmarks alone.
BENCHMARKS = frozenset({"wrk"})
TESTS = frozenset(PACKAGES) - BENCHMARKS

#: How long another process may hold a lock of apt or dpkg, and one attempt of ours may take, in seconds.
WAIT = 600.0
_RETRY_PERIOD = 1.0
#: Locks of package files and of the lists of packages, for which apt-get does not wait by itself.
_LOCKED = "Could not get lock"


class Missing(RuntimeError):
    """Programs are missing; the message says how to get them."""


@dataclass(frozen=True)
class System:
    """The operating system, as far as programs can be looked up and installed.

    Attributes:
        path: folders of programs, as in `PATH`.
        root: whether this process may install packages.
        root_folder: folder in which absolute programs are looked up.
        sleep: waits some seconds.
    """

    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    root_folder: Path = Path("/")
    sleep: Callable[[float], None] = time.sleep

    def missing(self, programs: Collection[str]) -> list[str]:
        """Return the programs that are not there."""
        return sorted(name for name in programs if not self._find(name))

    def lacks(self, programs: Collection[str], *, root: bool = False) -> list[str]:
        """Return the missing programs, and `root` if it is needed and this process is another user's."""
        return [*self.missing(programs), *(["root"] if root and not self.root else [])]

    def install(self, programs: Collection[str]) -> None:
        """Install missing programs with apt-get if possible; wait while another process holds its locks.

        Raises:
            Missing: programs are missing still.
        """
        missing = self.missing(programs)
        if not missing:
            return
        output = ""
        if self.root and (apt := self._find("apt-get")):
            # Without the newest lists, packages may be found all the same.
            output = self._run([apt, "update"])
            output = self._run([apt, *_install(missing)]) or output
        if missing := self.missing(programs):
            raise Missing(message(missing, output))

    def _find(self, program: str) -> str | None:
        if not program.startswith("/"):
            return shutil.which(program, path=self.path)
        return shutil.which(self.root_folder / program.lstrip("/"))

    def _run(self, command: list[str]) -> str:
        """Run apt-get, again while its locks are held; return what it prints if it fails."""
        environment = {**os.environ, "PATH": self.path, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
        deadline = time.monotonic() + WAIT
        command = [*command, "--quiet", f"--option=DPkg::Lock::Timeout={WAIT:.0f}"]
        while True:
            try:
                done = subprocess.run(
                    command, env=environment, check=False, capture_output=True, text=True, timeout=WAIT
                )
            except subprocess.TimeoutExpired:
                return f"{' '.join(command)}: no end after {WAIT:.0f} s"
            if done.returncode == 0:
                return ""
            if _LOCKED not in done.stderr or time.monotonic() >= deadline:
                return done.stderr
            self.sleep(_RETRY_PERIOD)


def message(missing: Iterable[str], output: str = "") -> str:
    """Return what to do about missing programs: one message everywhere."""
    names = list(missing)
    programs = [name for name in names if name in PACKAGES]
    remedies = [f"run `apt-get {' '.join(_install(programs))}` as root"] if programs else []
    text = f"missing here: {', '.join(names)}; {' and '.join([*remedies, *(['be root'] if 'root' in names else [])])}"
    return f"{text}\n{output.strip()}" if output.strip() else text


def _install(programs: Iterable[str]) -> list[str]:
    return ["install", "--yes", "--no-install-recommends", *sorted({PACKAGES[name] for name in programs})]
