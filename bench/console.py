"""`python -m bench.console`: measures the console's page in Chromium: bytes, first paint, frames of a long list.

The page is served over loopback, uncompressed. First paint is the median of fresh loads with an empty cache, also with
a processor four times slower. The list has 10,000 reviews and gets 50 more a second, while it is scrolled from end to
end.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

from bench.page import aligned, piped, renew
from tools.page.browser import DESKTOP, Browser, started
from tools.page.fake import Fake, serving

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "console.md"
#: Reviews that the page keeps, new ones per second, and seconds of scrolling.
REVIEWS, RATE, SECONDS = 10_000, 50, 10
#: Scrolls the list down and up again; returns the milliseconds between frames, and of long tasks.
_SCROLL = """
const [seconds, done] = arguments, list = document.querySelector('.list'), frames = [], long = [];
new PerformanceObserver(all => long.push(...all.getEntries().map(one => one.duration)))
  .observe({entryTypes: ['longtask']});
const start = performance.now(); let last = start;
requestAnimationFrame(function frame(now) {
  frames.push(now - last); last = now;
  const passed = (now - start) / 1000 / seconds;
  if (passed >= 1) return setTimeout(() => done([frames.slice(1), long]), 200);
  list.scrollTop = (1 - Math.abs(1 - 2 * passed)) * list.scrollHeight;
  requestAnimationFrame(frame);
});
"""
_PAINT = """
const done = arguments[0], paint = performance.getEntriesByName('first-contentful-paint')[0];
if (paint) done(paint.startTime);
else new PerformanceObserver(all => {
  for (const one of all.getEntriesByName('first-contentful-paint')) done(one.startTime);
}).observe({type: 'paint', buffered: true});
"""


def main() -> int:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__)
    parser.add_argument("--loads", type=int, default=9, help="loads of the page")
    parser.add_argument("--write", action="store_true", help=f"renew the figures in {PAGE.name}")
    options = parser.parse_args()
    with serving() as server, started() as browser:
        server.reset(_answers(0))
        loads = [["Page", "bytes", "requests", "first paint, ms", "with a slow processor, ms"]]
        loads += [_loaded(browser, server, route, options.loads) for route in ("now", "try")]
        server.reset(_answers(REVIEWS))
        frames = _scrolled(browser, server)
    print(aligned(loads), aligned(frames), sep="\n\n")
    if options.write:
        renew("figures", f"{piped(loads)}\n\n{piped(frames)}", PAGE)
    return 0


def _answers(count: int) -> dict[str, Any]:
    about = {"version": "", "mode": "kubeconfig", "cluster": "https://127.0.0.1:6443", "kinds": [], "problems": []}
    items = [_review(number) for number in range(count, 0, -1)]
    reviews = {"items": items, "replicas": []}
    return {"about": about, "schemas": {"kinds": []}, "reviews": reviews}


def _review(number: int) -> dict[str, Any]:
    denied = number % 7 == 0
    cause = {"rule": "schema", "field": "spec.tasks[0].replicas", "message": "Invalid value: 0: must be at least 1"}
    return {
        "id": number,
        "key": f"jobgate-webhook-0/{number}",
        "time": "2026-01-01T00:00:00Z",
        "replica": "jobgate-webhook-0",
        "phase": "validate",
        "operation": "CREATE",
        "dryRun": False,
        "kind": "DIJob",
        "namespace": f"team-{number % 40}",
        "name": f"job-{number}",
        "user": f"user-{number % 90}@example.com",
        "verdict": "denied" if denied else "allowed",
        "milliseconds": 0.4,
        "operations": 0,
        "causes": [cause] if denied else [],
        "warnings": [],
    }


def _loaded(browser: Browser, server: Fake, route: str, count: int) -> list[str]:
    """Return the row of a page: what it loads, and when something is first seen."""
    times: dict[int, list[float]] = {1: [], 4: []}
    received = requests = 0
    browser.open(server.origin)  # the tab keeps the token
    for slowness, paints in times.items():
        browser.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": slowness})
        for _ in range(count):
            browser.media(DESKTOP, dark=False)
            browser.driver.get("about:blank")
            browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
            browser.requests()
            browser.driver.get(f"{server.origin}/?{slowness}#/{route}")
            paints.append(browser.driver.execute_async_script(_PAINT))
            browser.find(f"main.{route} h1")
            sizes = "return performance.getEntries().filter(one => 'transferSize' in one).map(one => one.transferSize)"
            sent = [size for size in browser.run(sizes) if size]
            received, requests = sum(sent), len(sent)
    browser.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    return [route, f"{received:,}", str(requests), *(f"{statistics.median(paints):.0f}" for paints in times.values())]


def _scrolled(browser: Browser, server: Fake) -> list[list[str]]:
    """Return how smoothly the list scrolls while reviews arrive."""
    browser.open(server.origin, "now")
    browser.find("#total", f"{REVIEWS:,} reviews")
    browser.find(".live.on")
    browser.driver.set_script_timeout(SECONDS * 3)
    ended = threading.Event()
    arriving = threading.Thread(target=_arrive, args=(server, ended))
    arriving.start()
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = _busy(browser)
    frames, long = browser.driver.execute_async_script(_SCROLL, SECONDS)
    busy = (_busy(browser) - before) / SECONDS
    ended.set()
    arriving.join()
    rows = len(browser.all("[role=option]"))
    late = sum(frame > 50 for frame in frames)
    return [
        ["Scrolling 10,000 reviews while 50 a second arrive", ""],
        ["frames in a second", f"{len(frames) / SECONDS:.0f}"],
        ["time between frames, median, ms", f"{statistics.median(frames):.1f}"],
        ["time between frames, 99 %, ms", f"{statistics.quantiles(frames, n=100)[98]:.1f}"],
        ["frames after more than 50 ms", f"{late} of {len(frames)}"],
        ["longest task, ms", f"{max(long, default=0):.0f}"],
        ["processor time of the page's thread, % of a core", f"{busy * 100:.0f}"],
        ["rows in the document", str(rows)],
    ]


def _busy(browser: Browser) -> float:
    """Return the processor time of the page's thread, in seconds."""
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def _arrive(server: Fake, ended: threading.Event) -> None:
    """Add reviews until the end, at their rate whatever the machine is doing."""
    start = time.monotonic()
    for number in range(REVIEWS + 1, REVIEWS + 1 + RATE * SECONDS * 3):
        if ended.wait(start + (number - REVIEWS) / RATE - time.monotonic()):
            return
        server.add(_review(number))


if __name__ == "__main__":
    sys.exit(main())
