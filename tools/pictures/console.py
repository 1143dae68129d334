"""Screenshots of the console's pages.

All but *Health* show a real API server, to which two users applied the examples. *Health* shows the answers of the
page's tests: a server outside the cluster has no certificate that rotates.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from controlplane.assets import find_or_build_whole
from controlplane.controller import controller
from controlplane.progress import Terminal
from controlplane.runner import RUN, runner
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, environment, stop
from controlplane.whole import WholeControlPlane
from tools.page.browser import PHONE, Browser, started
from tools.page.fake import serving
from tools.pictures import FOLDER, ROOT

EXAMPLES = ROOT / "examples"
BROKEN = EXAMPLES / "dijob" / "broken" / "four-faults.yaml"
#: What the users apply, one after the other.
APPLIED: tuple[tuple[str, str, tuple[Path, ...]], ...] = (
    ("bob", "team-b", tuple(EXAMPLES / kind / "broken" for kind in ("torchjob", "vcjob", "mxjob"))),
    ("alice", "team-a", (EXAMPLES / "dijob" / "broken",)),
    ("bob", "team-b", (EXAMPLES / "torchjob" / "minimal.yaml", EXAMPLES / "vcjob" / "minimal.yaml")),
    ("alice", "team-a", (EXAMPLES / "dijob" / "plugins.yaml", ROOT / "tools" / "pictures" / "atari.yaml")),
    ("bob", "team-b", (EXAMPLES / "mxjob" / "dist.yaml", EXAMPLES / "dijob" / "gang.yaml")),
    ("alice", "team-a", (BROKEN,)),
)
#: Pods of the job whose graph is shown, by phase.
PODS = {"Running": 4, "Pending": 1}
#: The answers of the page's tests, and the clock of their day.
ANSWERS = ROOT / "tests" / "console" / "page" / "answers"
_CLOCK = """\
const Real = Date, now = Real.parse("2026-11-26T23:16:00Z");
Date = class extends Real { constructor(...parts) { super(...(parts.length ? parts : [now])); } };
Date.now = () => now;"""
SIZE = (1180, 720)
_JOB = "jobs/dijobs.diengine.opendilab.org/team-a/atari"
#: Without the reviews of pods that controllers create.
_PEOPLE = "now?user=example.com"
#: The pictures of the cluster: route, what must be there, window, theme.
PICTURES: dict[str, tuple[str, str, tuple[int, int], bool]] = {
    "console-jobs": (_JOB, ".task.waiting", (1440, 860), True),
    "console-rules": ("rules", "td a", SIZE, False),
    "console-try": ("try", "#example", SIZE, False),
    "console-phone": (_PEOPLE, "[role=option]", PHONE, True),
    "console-now": (_PEOPLE, "[role=option]", SIZE, False),
}
_TIMEOUT = 120.0


def take() -> None:
    """Take all of them."""
    with started() as browser:
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
        with console() as address:
            origin, _, token = address.partition("/#token=")
            for name, (route, content, size, dark) in PICTURES.items():
                browser.open(origin, route, token=token, size=size, dark=dark)
                browser.find(content)
                if name == "console-try":
                    browser.find("input[type=file]").send_keys(str(EXAMPLES / "dijob" / "plugins.yaml"))
                    browser.find("article details")
                elif name == "console-now":
                    browser.find("[role=option]", "denied (validate)DIJobteam-a/reinforcement").click()
                    browser.find(".note")
                _write(browser, name)
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _CLOCK})
        with serving() as server:
            server.reset({path.stem: json.loads(path.read_text(encoding="utf-8")) for path in ANSWERS.glob("*.json")})
            browser.open(server.origin, "health", size=(1180, 920), dark=True)
            browser.find(".timeline")
            _write(browser, "console-health")


@contextmanager
def console() -> Iterator[str]:
    """Run the console on a cluster with jobs, and give the address that it prints."""
    with ExitStack() as stack:
        plane = stack.enter_context(WholeControlPlane(find_or_build_whole(Terminal())))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        webhook = stack.enter_context(InstalledWebhook(plane, folder, [*RUN, "--keep-reviews=500"]))
        stack.enter_context(controller(plane, folder, RUN))
        stack.enter_context(runner(plane, folder / "runner.log"))
        for name in ("team-a", "team-b"):
            plane.kubectl("create", "namespace", name)
        for user, namespace, files in APPLIED:
            identity = ("--as", f"{user}@example.com", "--as-group=system:masters")
            plane.kubectl("apply", "-n", namespace, *identity, "-f", ",".join(map(str, files)), check=False)
        wait_for(lambda: _phases(plane) == PODS, _TIMEOUT, what="the pods of atari")
        command = [sys.executable, "-m", "jobgate", "console", f"--kubeconfig={plane.kubeconfig}", "--port=0"]
        process = subprocess.Popen(
            [*command, f"--server=http://127.0.0.1:{webhook.health_port}"], stdout=subprocess.PIPE, env=environment()
        )
        stack.callback(stop, process)
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()


def _phases(plane: WholeControlPlane) -> Counter[str]:
    """The number of pods of the job by phase."""
    pods = ("get", "pods", "-n", "team-a", "-l", "jobgate.dev/job=atari", "-o", "jsonpath={.items[*].status.phase}")
    return Counter(plane.kubectl(*pods).stdout.split())


def _write(browser: Browser, name: str) -> None:
    picture = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 82})
    (FOLDER / f"{name}.webp").write_bytes(base64.b64decode(picture["data"]))
