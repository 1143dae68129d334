"""The disk with certificates and logs is full."""

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
    """A small file system. Mounting it requires root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_the_old_certificate_is_served_and_the_error_is_reported(
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
        with server.log.open("ab") as log:  # fill the log's last page: the next line needs another page
            log.write(b" " * (PAGE - 1 - log.tell() % PAGE) + b"\n")
        fill(full)
        with pytest.raises(RuntimeError, match=f"cannot write into {disk}: No space left on device"):
            jobgate("certs", "issue", "--dir", str(disk), "--force")
        assert (disk / "tls.crt").read_bytes() == before
        # The error is logged to the same disk.
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
    """Write to the file until the disk is full."""
    with file.open("wb", buffering=0) as written, suppress(OSError):
        while True:
            written.write(b"x" * PAGE)


def overwrite(file: Path, start: bytes) -> None:
    """Change the beginning of a file, which needs no more space."""
    with file.open("r+b") as written:
        written.write(start)


def rejected(server: Program) -> float:
    """Return how many certificates the server has rejected."""
    lines = server.ask("metrics").splitlines()
    return sum(float(line.split()[-1]) for line in lines if "_reloads_total{" in line and "served" not in line)


def generation(server: Program) -> str:
    """Return the metric with the end of the served certificate."""
    name = "jobgate_certificate_not_after_timestamp_seconds"
    return next((line for line in server.ask("metrics").splitlines() if line.startswith(name)), "")
