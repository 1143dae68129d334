"""Certificates in files: the kubelet's swap of a link, files that are written one by one, and files that go."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.webhook.server.offers import NOW, issued, offered
from webhook.server.candidate import LARGEST, BadCertificate, Candidate, Fault
from webhook.server.certificates import Certificates
from webhook.server.files import JUDGE_AGAIN, Files, Poller
from webhook.server.metrics import Metrics

FIRST, SECOND = offered(issued(), ""), offered(issued(), "")


def write(folder: Path, candidate: Candidate) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"tls.crt": candidate.certificate, "tls.key": candidate.key, "ca.crt": candidate.authority}
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def swap(mount: Path, version: str, candidate: Candidate) -> None:
    """Bring another Secret as the kubelet does: a folder of its own, and one link that is swapped."""
    write(mount / version, candidate)
    link = mount / "..new"
    link.symlink_to(version)
    link.rename(mount / "..data")
    for name in ("tls.crt", "tls.key", "ca.crt"):
        if not (mount / name).is_symlink():
            (mount / name).symlink_to(f"..data/{name}")


def files_of(folder: Path) -> Files:
    return Files(folder / "tls.crt", folder / "tls.key")


@pytest.fixture
def certificates() -> Certificates:
    return Certificates(Metrics(), clock=NOW.timestamp)


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    """A mounted Secret."""
    swap(tmp_path, "..first", FIRST)
    return tmp_path


def authority(certificates: Certificates) -> str:
    assert certificates.served
    return certificates.served.authority


def test_a_swapped_secret_is_served(mount: Path, certificates: Certificates) -> None:
    poller = Poller(certificates, files_of(mount))
    poller.take()
    before = authority(certificates)
    swap(mount, "..second", SECOND)
    poller.take()
    assert authority(certificates) != before


def test_files_without_links_are_read_where_they_are(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path, FIRST)
    poller = Poller(certificates, files_of(tmp_path))
    poller.take()
    before = authority(certificates)
    write(tmp_path, SECOND)
    poller.take()
    assert authority(certificates) != before


def test_files_that_are_written_one_by_one_are_served_once_they_fit(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path, FIRST)
    poller = Poller(certificates, files_of(tmp_path))
    poller.take()
    before = authority(certificates)
    for name, content in (("tls.crt", SECOND.certificate), ("tls.key", SECOND.key)):
        (tmp_path / name).write_bytes(content)
        poller.look()
        assert authority(certificates) == before
    (tmp_path / "ca.crt").write_bytes(SECOND.authority)
    poller.look()
    assert authority(certificates) != before


def test_a_ca_need_not_be_there(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path, FIRST)
    (tmp_path / "ca.crt").unlink()
    Poller(certificates, files_of(tmp_path)).take()
    assert authority(certificates) == ""


def test_a_ca_is_looked_for_beside_the_certificate(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path / "a", FIRST)
    write(tmp_path / "b", FIRST)
    (tmp_path / "b" / "ca.crt").write_bytes(SECOND.authority)
    Poller(certificates, Files(tmp_path / "a" / "tls.crt", tmp_path / "b" / "tls.key")).take()
    assert authority(certificates)


@pytest.mark.parametrize("gone", ["..data/tls.crt", "..data/tls.key", "..data"])
def test_files_that_go_are_served_from_memory(mount: Path, certificates: Certificates, gone: str) -> None:
    poller = Poller(certificates, files_of(mount))
    poller.take()
    (mount / gone).unlink()
    with pytest.raises(BadCertificate) as error:
        poller.take()
    assert error.value.fault is Fault.MISSING
    assert certificates.lacking() == ""


def test_no_more_is_read_than_a_secret_can_hold(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path, replace(FIRST, key=b"x" * (3 * LARGEST)))
    read = files_of(tmp_path).read()
    assert len(read.key) == LARGEST + 1
    with pytest.raises(BadCertificate, match=r"tls.key is larger than"):
        certificates.offer(read)


def test_a_device_without_end_is_not_read_for_ever(tmp_path: Path, certificates: Certificates) -> None:
    write(tmp_path, FIRST)
    (tmp_path / "tls.key").unlink()
    (tmp_path / "tls.key").symlink_to("/dev/zero")
    with pytest.raises(BadCertificate, match=r"tls.key is larger than"):
        Poller(certificates, files_of(tmp_path)).take()


def test_what_did_not_change_is_not_judged_again(
    mount: Path, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    poller = Poller(certificates, files_of(mount))
    poller.take()
    monkeypatch.setattr(certificates, "offer", lambda _: pytest.fail("it was judged"))
    poller.take()


def test_what_came_too_early_is_judged_again(mount: Path) -> None:
    now = [NOW.timestamp() - 86_400]
    certificates = Certificates(Metrics(), clock=lambda: now[0])
    poller = Poller(certificates, files_of(mount))
    poller.look()
    assert certificates.served is None
    now[0] = NOW.timestamp()
    for _ in range(JUDGE_AGAIN):
        poller.look()
    assert certificates.served
