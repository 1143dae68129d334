"""The served certificate: the last valid one, whatever is offered after it."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable

from webhook.server.candidate import BadCertificate, Candidate, Fault, ServingCertificate, judge
from webhook.server.log import logger, timestamp
from webhook.server.metrics import Metrics


class Certificates:
    """Holds the certificate for new handshakes, and replaces it by each valid one that is offered.

    Attributes:
        served, accepted: the certificate, and what it was made of; None if there is none yet.
    """

    def __init__(self, metrics: Metrics, name: str = "", clock: Callable[[], float] = time.time) -> None:
        """Begin without a certificate.

        Args:
            metrics: the metrics that count certificates.
            name: the server name that the API server uses. Each certificate must have it. Empty for any name.
            clock: returns the seconds since the epoch.
        """
        self.served: ServingCertificate | None = None
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._candidate: Candidate | None = None
        self.accepted: Candidate | None = None
        self._reported = ""

    def offer(self, candidate: Candidate) -> None:
        """Serve a certificate if it is valid. If not, keep the current one, and log the reason once.

        This takes some milliseconds. It may be called in another thread than the server's, one call at a time.

        Raises:
            BadCertificate: it is not valid. It is remembered: it can become valid later.
        """
        self._candidate = candidate
        if candidate == self.accepted:
            return
        try:
            served = judge(candidate, self._name, self._clock(), self.served)
        except BadCertificate as error:
            self.reject(error)
            raise
        except Exception as error:
            # An error of OpenSSL, or no file descriptor is left. The current certificate stays.
            rejected = BadCertificate(Fault.UNREADABLE, f"it cannot be judged: {type(error).__qualname__}")
            self.reject(rejected)
            raise rejected from error
        self.served, self.accepted, self._reported = served, candidate, ""
        self._metrics.serves(served)
        fields = {
            "generation": served.generation,
            "notAfter": timestamp(served.not_after),
            "authority": served.authority,
        }
        logger.info("certificate served", extra={"fields": fields})

    def reject(self, error: BadCertificate) -> None:
        """Count a rejected certificate, and log the reason if it has changed."""
        self._metrics.rejects(error.fault)
        if self._reported != str(error):
            self._reported = str(error)
            generation = self.served.generation if self.served else None
            fields = {"fault": error.fault, "reason": str(error), "kept": generation}
            logger.error("certificate rejected", extra={"fields": fields})

    def withdraw(self) -> None:
        """Note that the source has no certificate any more. The current one is still served, from memory."""
        self._candidate = None
        self.reject(BadCertificate(Fault.MISSING, "the source has no certificate any more"))

    def look_again(self) -> None:
        """Judge the last certificate again: it may have become valid, or the current one may have expired.

        Raises:
            BadCertificate: it is still not valid.
        """
        if self._candidate is not None:
            self.offer(self._candidate)

    def lacking(self) -> str:
        """Return what is wrong with the served certificate, for a probe; empty if nothing is."""
        served = self.served
        if served is None:
            return f"no certificate yet: {self._reported}" if self._reported else "no certificate yet"
        return "certificate expired" if self._clock() >= served.not_after else ""

    def context(self) -> ssl.SSLContext | None:
        """Return the context for the next handshake, or None if there is no certificate yet.

        A new certificate takes effect by one assignment, for the handshakes after it. A context in use is never loaded
        again: after an error in that, every handshake would fail.
        """
        return self.served.context if self.served else None
