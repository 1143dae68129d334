"""Prints each review in a line, without secret values."""

from __future__ import annotations

import time
from contextlib import suppress

import orjson

from webhook.admission import Request, Response
from webhook.server.limits import MIB
from webhook.server.reviews import KeptReviews
from webhook.text import line


class PrintedReviews(KeptReviews):
    """Reviews that are printed as soon as they are answered."""

    _printed = 1

    def add(self, request: Request, response: Response, phase: str, size: int, patch: bytes, started: float) -> None:
        """Print a review."""
        super().add(request, response, phase, size, patch, started)
        for number, kept in self.after(self._printed, 100, MIB)[0]:
            self._printed = number
            with suppress(OSError):  # who reads it has ended
                print(time.strftime("%H:%M:%S"), shown(kept), flush=True)  # noqa: T201


def shown(kept: bytes) -> str:
    """Return the line of a review: verdict, phase, operation, object, duration, and the first cause or warning."""
    review = orjson.loads(kept)
    found = [*review["causes"], *review["warnings"]]
    first = "  " + ": ".join(filter(None, (found[0]["field"], found[0]["message"]))) if found else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    name = "/".join(filter(None, (review["namespace"], review["name"])))
    what = f"{review['phase']} {review['operation']} {review['kind']} {name}{' (dry run)' if review['dryRun'] else ''}"
    return line(f"{review['verdict']:<7} {what}  {review['milliseconds']:.1f} ms{first}{more}")
