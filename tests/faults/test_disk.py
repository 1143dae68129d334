"""The disk under certificates and logs is full."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import jobgate
from tests.faults.cluster import START, Program

SIZE, PAGE = 256 * 1024, 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system. The tests run as root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_the_old_certificate_is_served_and_the_error_is_clear(
    controlplane: ControlPlane, disk: Path, tmp_path: Path
) -> None:
    jobgate("certs", "issue", "--dir", str(disk))
    before = (disk / "tls.crt").read_bytes()
    arguments = [
        "serve", "--bind=127.0.0.1", "--port=0", "--health-port=0", f"--kubeconfig={controlplane.kubeconfig}",
        f"--tls-cert={disk / 'tls.crt'}", f"--tls-key={disk / 'tls.key'}",
    ]  # fmt: skip
    server = Program(tmp_path, "server", *arguments, log=disk / "server.log")
    try:
        wait_for(server.port, START, what="the server listens")
        wait_for(lambda: bool(server.ask("readyz")), START, what="the server is ready")
        full = disk / "full"
        with server.log.open("ab") as log:  # to the end of its page: a line more needs another
            log.write(b" " * (PAGE - 1 - log.tell() % PAGE) + b"\n")
        fill(full)
        with pytest.raises(RuntimeError, match=f"cannot write into {disk}: No space left on device"):
            jobgate("certs", "issue", "--dir", str(disk), "--force")
        assert (disk / "tls.crt").read_bytes() == before
        # What is wrong is logged at once, to the same disk.
        overwrite(disk / "tls.key", b"spoilt")
        wait_for(lambda: rejected(server) > 0, START, what="the change is rejected")
        assert server.ask("readyz"), "the old certificate is served"
        full.unlink()
        served = generation(server)
        jobgate("certs", "issue", "--dir", str(disk), "--force")
        wait_for(lambda: generation(server) != served, START, what="the new certificate is served")
    finally:
        server.stop()


def fill(file: Path) -> None:
    """Write until there is no room for more."""
    with file.open("wb", buffering=0) as written, suppress(OSError):
        while True:
            written.write(b"x" * PAGE)


def overwrite(file: Path, start: bytes) -> None:
    """Change the beginning of a file, for which no room is needed or given back."""
    with file.open("r+b") as written:
        written.write(start)


def rejected(server: Program) -> float:
    """How many certificates it has rejected."""
    lines = server.ask("metrics").splitlines()
    return sum(float(one.split()[-1]) for one in lines if "_reloads_total{" in one and "served" not in one)


def generation(server: Program) -> str:
    """When the certificate that it serves ends, by its metrics."""
    name = "jobgate_certificate_not_after_timestamp_seconds"
    return next((one for one in server.ask("metrics").splitlines() if one.startswith(name)), "")
