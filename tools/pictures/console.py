"""Screenshots of the console's pages, with sample data."""

from __future__ import annotations

import base64
import json
from typing import Any

from jobgate.console.commands import Trial
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tools.page.browser import PHONE, Browser, started
from tools.page.fake import Fake, serving
from tools.pictures import FOLDER, ROOT

#: What the page is shown with: the answers of its tests, and more reviews.
ANSWERS = ROOT / "tests" / "console" / "page" / "answers"
TRIED = ROOT / "examples" / "dijob" / "broken" / "four-faults.yaml"
SIZE = (1180, 660)
#: The page shows the time alone of what is of today, so its clock says the sample's day.
_CLOCK = """\
const Real = Date, now = Real.parse("2026-11-26T23:16:00Z");
Date = class extends Real { constructor(...parts) { super(...(parts.length ? parts : [now])); } };
Date.now = () => now;"""
#: The pictures: route, what must be there, window, theme.
PICTURES: dict[str, tuple[str, str, tuple[int, int], bool]] = {
    "console-now": ("now/{review}", ".note", SIZE, False),
    "console-jobs": ("jobs/{job}", ".task", (1440, 700), True),
    "console-rules": ("rules", "td a", SIZE, False),
    "console-health": ("health", ".timeline", (1180, 820), True),
    "console-try": ("try", "#example", SIZE, False),
    "console-phone": ("now", "[role=option]", PHONE, True),
}


def take() -> None:
    """Take all of them."""
    with serving() as server, started() as browser:
        answers = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in ANSWERS.glob("*.json")}
        answers["reviews"]["items"] += [_another(answers["reviews"]["items"], number) for number in range(40)]
        review, job = answers["review"]["id"], answers["job"]["job"]
        answers["try"] = Trial(installed(), Settings()).review(TRIED.read_text(encoding="utf-8"), "default")
        answers["job"]["tasks"] += [
            _task("evaluator", "learner", "Succeeded"),
            _task("report", "collector", "", "evaluator"),
        ]
        server.reset({**answers, f"reviews/{review}": answers["review"]})
        path = f"{job['plural']}/{job['namespace']}/{job['name']}"
        server.events = {f"jobs/{path}/stream": [("job", answers["job"])]}
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _CLOCK})
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
        for name, (route, content, size, dark) in PICTURES.items():
            _take(browser, server, route.format(review=review, job=path), content, size, dark=dark)
            picture = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 82})
            (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(picture["data"]))


def _take(browser: Browser, server: Fake, route: str, content: str, size: tuple[int, int], *, dark: bool) -> None:
    browser.open(server.origin, route, size=size, dark=dark)
    browser.find(content)
    if route == "try":
        browser.find("input[type=file]").send_keys(str(TRIED))
        browser.find("article")


def _task(name: str, after: str, phase: str, *others: str) -> dict[str, Any]:
    state = phase.lower() or "waiting"
    pods = {phase: 1} if phase else {}
    counts = {"replicas": 1, "minimum": 1, "pods": pods, "ready": 0, "restarts": 0}
    return {"name": name, "type": "", "dependsOn": [after, *others], "any": False, "state": state, **counts}


def _another(items: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """Return a review like one of the first, of another job."""
    item = items[min(number % 4, 1)]
    name = ("resnet", "atari", "bert", "mnist", "dqn")[number % 5]
    minute = f"{14 - number // 4:02}:{59 - number % 4 * 13:02}"
    changed = {"id": item["id"] - number - 10, "name": f"{name}-{number}", "time": f"2026-11-26T23:{minute}Z"}
    if number % 5 == 0:
        return {**item, **changed, "verdict": "warned", "causes": [], "warnings": items[0]["warnings"]}
    return {**item, **changed}
