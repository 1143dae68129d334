"""The certificate that is served: the last good one, whatever is offered after it."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable

from webhook.server.candidate import BadCertificate, Candidate, Fault, ServingCertificate, judge
from webhook.server.log import logger, timestamp
from webhook.server.metrics import Metrics


class Certificates:
    """Holds the certificate that new handshakes get, and takes over each better one that is offered.

    Attributes:
        served: that certificate, or None while there is none.
    """

    def __init__(self, metrics: Metrics, name: str = "", clock: Callable[[], float] = time.time) -> None:
        """Have none yet.

        Args:
            metrics: count each certificate.
            name: what the API server calls the server: each certificate must hold it. Empty for any.
            clock: gives seconds since the epoch.
        """
        self.served: ServingCertificate | None = None
        self._name = name
        self._clock = clock
        self._metrics = metrics
        self._candidate: Candidate | None = None
        self._taken: Candidate | None = None
        self._told = ""

    def offer(self, candidate: Candidate) -> None:
        """Serve a candidate, if it is fit; else keep what there is, and tell why once.

        It takes some milliseconds, and may be called in another thread than the server's; one call at a time.

        Raises:
            BadCertificate: it is not; it is remembered, and may become fit with time.
        """
        self._candidate = candidate
        if candidate == self._taken:
            return
        try:
            served = judge(candidate, self._name, self._clock(), self.served)
        except BadCertificate as error:
            self.reject(error)
            raise
        except Exception as error:
            # Of OpenSSL, or no descriptor is left. Whatever it is: what is served stays, and the next one is judged.
            unfit = BadCertificate(Fault.UNREADABLE, f"it cannot be judged: {type(error).__qualname__}")
            self.reject(unfit)
            raise unfit from error
        self.served, self._taken, self._told = served, candidate, ""
        self._metrics.serves(served)
        fields = {
            "generation": served.generation,
            "notAfter": timestamp(served.not_after),
            "authority": served.authority,
        }
        logger.info("certificate served", extra={"fields": fields})

    def reject(self, error: BadCertificate) -> None:
        """Count what was offered instead of a certificate, and log it if it is new."""
        self._metrics.rejects(error.fault)
        if self._told != str(error):
            self._told = str(error)
            generation = self.served.generation if self.served else None
            fields = {"fault": error.fault, "reason": str(error), "kept": generation}
            logger.error("certificate rejected", extra={"fields": fields})

    def withdraw(self) -> None:
        """Note that the source has none any more: what is served is served from memory."""
        self._candidate = None
        self.reject(BadCertificate(Fault.MISSING, "there is none any more where it came from"))

    def look_again(self) -> None:
        """Judge what was rejected once more: its time may have come, or that of what is served be over.

        Raises:
            BadCertificate: it is still not fit.
        """
        if self._candidate is not None:
            self.offer(self._candidate)

    def lacking(self) -> str:
        """Return what is wrong with what is served, in words for a probe; empty where nothing is."""
        served = self.served
        if served is None:
            return f"no certificate yet: {self._told}" if self._told else "no certificate yet"
        return "certificate expired" if self._clock() >= served.not_after else ""

    def context(self) -> ssl.SSLContext | None:
        """Return the context for the next handshake, or None while there is none.

        So what is served changes by one assignment, for the handshakes that begin after it. A live context is never
        loaded again: a key that does not match its certificate would leave it broken, and every handshake failing.
        """
        return self.served.context if self.served else None
