"""A certificate in files, of a mounted Secret or of a user."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from webhook.server.candidate import LARGEST, BadCertificate, Candidate, Fault
from webhook.server.certificates import Certificates

#: Seconds between two checks of the files. The kubelet takes up to a minute to write a new Secret.
EVERY = 2.0
#: Number of checks after which a rejected certificate is judged again: it may have become valid.
JUDGE_AGAIN = 15


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
            return Candidate(*content, authority=_content(self.certificate.with_name("ca.crt")))
        except OSError:
            return Candidate(*content)


class Poller:
    """Offers the certificate in files whenever their content changes."""

    def __init__(self, certificates: Certificates, files: Files) -> None:
        self._certificates = certificates
        self._files = files
        self._found: Candidate | str | None = None
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
        try:
            found: Candidate | BadCertificate = self._files.read()
        except BadCertificate as error:
            found = error
        before, self._found = self._found, str(found) if isinstance(found, BadCertificate) else found
        self._unchanged = self._unchanged + 1 if self._found == before else 0
        if self._unchanged % JUDGE_AGAIN:
            return
        if isinstance(found, BadCertificate):
            self._certificates.reject(found)
            raise found
        self._certificates.offer(found)


def _content(path: Path) -> bytes:
    """Return the bytes of a file, not more than are needed to see that it is too large."""
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
