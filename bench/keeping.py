"""`python -m bench.keeping`: the CPU time that keeping reviews adds to them, in this process; takes 20 seconds.

Per review, what keeping adds once the ring is full and the rate of masking is used up, as on a server under load. Per
second, masking adds what the rate allows: so many objects. On a server it takes longer, as other code runs between two
reviews and takes the processor's cache.
"""

import argparse
import gc
import time
from collections.abc import Callable
from itertools import cycle
from typing import Any

from bench.comparison import bodies, jobs
from bench.page import aligned
from bench.review import VARIANTS, Cluster, _body
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from webhook import Phase, Request, Response, review
from webhook.redaction import Redaction
from webhook.server import answer
from webhook.server.body import decode
from webhook.server.reviews import RATE, SMALL, KeptReviews, masked

VERDICTS = ("allowed", "warned", "denied")


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.keeping", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=60, help="turns for each job; the fastest counts")
    rounds = parser.parse_args(argv).rounds
    gc.disable()
    rows = [["job, 3 tasks", "call", "µs CPU", "µs to keep", "more", "µs to mask"]]
    for name in ("DIJob", "Job", "TorchJob"):
        for verdict in VERDICTS:
            for phase in Phase:
                times = _measured([_sent(name, variant, verdict, phase) for variant in range(VARIANTS)], phase, rounds)
                more = f"{100 * times[1] / times[0]:.1f} %"
                shown = [f"{times[0]:.0f}", f"{times[1]:.1f}", more, f"{times[2]:.0f}"]
                rows.append([f"{name}, {verdict}", str(phase), *shown])
    print(aligned(rows))
    print(f"\nmasked at most: {RATE / SMALL:.0f} objects of up to {SMALL // 1024} KiB per second")


def _sent(name: str, variant: int, verdict: str, phase: Phase) -> bytes:
    job = jobs.job(name, 3, variant, warned=verdict == "warned")
    if verdict != "denied":
        return _body(job, variant, phase, installed())
    job["spec"]["minReplicas" if name == "DIJob" else "minAvailable"] = -7
    return bodies.review(bodies.stored(job, variant), "jobs", variant)


def _measured(sent: list[bytes], phase: Phase, rounds: int) -> tuple[float, float, float]:
    """Return the CPU time of a review, of keeping it, and of masking it, in microseconds."""
    kinds, kept = installed(), KeptReviews(2000, rate=0)

    def whole(body: bytes) -> tuple[Request, Response, int, bytes]:
        request = Request.parse(decode(body))
        response = review(request, phase, kinds, Settings(), Cluster())
        changes = answer.patch(response)
        answer.review(request.uid, response, "", changes)
        return request, response, len(body), changes

    def keep(done: tuple[Request, Response, int, bytes]) -> None:
        request, response, size, changes = done
        kept.add(request, response, phase, size, changes, 0.0)

    done = [whole(body) for body in sent]
    for _, one in zip(range(3000), cycle(done), strict=False):
        keep(one)
    times: list[list[float]] = [[], [], []]
    for _ in range(rounds):
        times[0].append(_turn(whole, sent))
        times[1].append(_turn(keep, done))
        times[2].append(_turn(lambda one: masked(Redaction(), one[1], one[0].document), done))
    return min(times[0]), min(times[1]), min(times[2])


def _turn(function: Callable[[Any], object], arguments: list[Any]) -> float:
    started = time.process_time_ns()
    for argument in arguments * 4:
        function(argument)
    return (time.process_time_ns() - started) / len(arguments) / 4000


if __name__ == "__main__":
    main()
