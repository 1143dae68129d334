"""A certificate in files, of a mounted Secret or of a user."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from webhook.server.candidate import LARGEST, BadCertificate, Candidate, Fault
from webhook.server.certificates import Certificates

#: Seconds between two checks of the files. The kubelet takes up to a minute to write a new Secret.
EVERY = 2.0
#: Number of checks after which a rejected certificate is judged again: it may have become valid.
JUDGE_AGAIN = 15

_Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a certificate and its key. The CA is in `ca.crt` in the same folder, if that exists.

    The kubelet may replace a mounted Secret while the files are read. Files of two Secrets do not fit each other: they
    are rejected, and read again at the next check.
    """

    certificate: Path
    key: Path

    def read(self) -> Candidate:
        """Return the certificate.

        Raises:
            BadCertificate: the files cannot be read.
        """
        try:
            content = _content(self.certificate), _content(self.key)
        except OSError as error:
            raise BadCertificate(Fault.MISSING, f"{error.filename} cannot be read: {error.strerror}") from None
        try:
            return Candidate(*content, authority=_content(self._authority))
        except OSError:
            return Candidate(*content)

    def stamp(self) -> _Stamp:
        """Return a value that changes with the files."""
        stamps = []
        for path in (self.certificate, self.key, self._authority):
            with suppress(OSError):
                status = path.stat()
                stamps.append((str(path), status.st_mtime_ns, status.st_ino, status.st_size))
        return tuple(stamps)

    @property
    def _authority(self) -> Path:
        return self.certificate.with_name("ca.crt")


class Poller:
    """Offers the certificate in files whenever they change."""

    def __init__(self, certificates: Certificates, files: Files) -> None:
        self._certificates = certificates
        self._files = files
        self._stamp: _Stamp | None = None
        self._unchanged = 0

    async def run(self) -> None:
        """Check the files every few seconds, until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Offer the certificate if the files have changed. `Certificates` reports what is wrong with it."""
        with suppress(BadCertificate):
            self.take()

    def take(self) -> None:
        """Offer the certificate if the files have changed.

        Raises:
            BadCertificate: it is not served.
        """
        # The stamp is taken before reading: a change in between is seen at the next check.
        stamp = self._files.stamp()
        if stamp == self._stamp:
            self._unchanged += 1
            if self._unchanged % JUDGE_AGAIN == 0:
                self._certificates.look_again()
            return
        self._stamp, self._unchanged = stamp, 0
        try:
            candidate = self._files.read()
        except BadCertificate as error:
            self._certificates.reject(error)
            raise
        self._certificates.offer(candidate)


def _content(path: Path) -> bytes:
    """Return the bytes of a file, not more than are needed to see that it is too large."""
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
