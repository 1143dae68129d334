"""A certificate in files, as a mounted Secret has it or as a user put it there."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from webhook.server.candidate import LARGEST, BadCertificate, Candidate, Fault
from webhook.server.certificates import Certificates

#: How often the files are looked at, in seconds: the kubelet itself takes a minute to bring a new Secret.
EVERY = 2.0
#: After so many looks what was rejected is judged again, unchanged as it is: its time may have come.
PATIENCE = 15

_Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Files:
    """Where certificate and key are; the CA is looked for beside the certificate, as `ca.crt`.

    The kubelet may swap a mounted Secret while they are read. Parts of two Secrets do not fit each other: they are
    rejected, and read again at the next look.
    """

    certificate: Path
    key: Path

    def read(self) -> Candidate:
        """Return what they hold.

        Raises:
            BadCertificate: they cannot be read.
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
        """Return what changes with the files."""
        found = []
        for place in (self.certificate, self.key, self._authority):
            with suppress(OSError):
                status = place.stat()
                found.append((str(place), status.st_mtime_ns, status.st_ino, status.st_size))
        return tuple(found)

    @property
    def _authority(self) -> Path:
        return self.certificate.with_name("ca.crt")


class Poller:
    """Offers what files hold whenever they change."""

    def __init__(self, certificates: Certificates, files: Files) -> None:
        self._certificates = certificates
        self._files = files
        self._stamp: _Stamp | None = None
        self._unchanged = 0

    async def run(self) -> None:
        """Look at the files every few seconds, for ever."""
        while True:
            await asyncio.sleep(EVERY)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Offer what has changed; whoever it is offered to reports what is wrong with it."""
        with suppress(BadCertificate):
            self.take()

    def take(self) -> None:
        """Offer what has changed.

        Raises:
            BadCertificate: it is not served.
        """
        # Stamped before it is read: what is written in between is seen the next time.
        stamp = self._files.stamp()
        if stamp == self._stamp:
            self._unchanged += 1
            if self._unchanged % PATIENCE == 0:
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
    """Return a file's bytes; of one that is too large as many as tell so."""
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
