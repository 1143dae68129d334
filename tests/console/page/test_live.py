"""The page of the real console, on a real API server: what users do shows up."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from selenium.webdriver.common.keys import Keys

from controlplane.client import ClusterApi
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook, environment, stop
from jobgate.cli import main
from tests.corpus import ROOT
from tests.e2e.cluster import User
from tools.page.browser import NEEDS, Browser

pytestmark = pytest.mark.needs(*NEEDS)

#: Seconds from the denial until it is on the page, in the best of some attempts: the machine runs other tests.
SOON, ATTEMPTS = 1.0, 10
BROKEN = """\
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata:
  name: {name}
spec:
  tasks:
  - type: learner
    template:
      spec:
        containers:
        - name: di-container
          image: registry.example.com/ding:v1
          env:
          - name: TOKEN
            value: "hidden <script>alert(1)</script>"
        - name: di-container
          image: registry.example.com/ding:v2
  - name: tests
    dependsOn: {{name: [learner, nothing]}}
    template:
      spec:
        containers:
        - {{name: main, image: "registry.example.com/tests:v1"}}
"""
GOOD = BROKEN.replace("        - name: di-container\n", "        - name: sidecar\n", 1).replace(", nothing", "")


@dataclass(frozen=True)
class Page:
    """A console, and a user of the cluster."""

    browser: Browser
    origin: str
    token: str
    user: User

    def open(self, route: str) -> None:
        self.browser.open(self.origin, route, token=self.token)


@pytest.fixture(scope="module")
def console(controlplane: ControlPlane, servers: InstalledWebhook) -> Iterator[str]:
    """The address that `jobgate console` prints."""
    command = [sys.executable, "-m", "jobgate", "console", "--kubeconfig", str(controlplane.kubeconfig), "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            stop(process)


@pytest.fixture
def page(console: str, browser: Browser, controlplane: ControlPlane, cluster_api: ClusterApi) -> Page:
    origin, _, token = console.partition("/#token=")
    return Page(browser, origin, token, User(controlplane, new_namespace(cluster_api)))


def test_a_broken_job_appears_at_once_with_its_causes_beside_the_lines(page: Page) -> None:
    page.open(f"now?namespace={page.user.namespace}")
    page.browser.find(".live.on")
    delays = []
    for attempt in range(ATTEMPTS):
        applied, answer = page.user.create(yaml.safe_load(BROKEN.format(name=f"broken-{attempt}")))
        assert not applied
        started = time.monotonic()
        # The schema does not take the same name twice, so the job is denied when it would get its defaults.
        row = page.browser.find("[role=option]", f"denied (mutate)DIJob{page.user.namespace}/broken-{attempt}")
        delays.append(time.monotonic() - started)
        if delays[-1] <= SOON:
            break
    assert min(delays) <= SOON
    row.click()
    page.browser.find("aside .note")
    beside = {note["message"]: note["line"] for note in _notes(page.browser)}
    for message, line in beside.items():
        assert message in answer
        assert "ding:v2" in line or "nothing" in line, (message, line)
    assert len(beside) == 2
    shown = page.browser.text("aside")
    assert "hidden" not in shown
    assert "•••" in shown
    assert page.browser.problems() == []
    assert page.browser.violations() == []
    assert page.browser.strangers() == set()


def test_a_graph_follows_its_pods(page: Page, cluster_api: ClusterApi) -> None:
    assert page.user.create(yaml.safe_load(GOOD.format(name="atari")))[0]
    page.open("jobs")
    page.browser.find("[role=option]", f"{page.user.namespace}/atari").click()
    page.browser.find(".task[data-task=learner].waiting", "1 Missing")
    assert len(page.browser.all("path.arrow")) == 1
    uid = page.user.stored("atari")["metadata"]["uid"]
    owner = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": "atari", "uid": uid}
    _create_pod(cluster_api, page.user.namespace, owner)
    page.browser.find(".task[data-task=learner].waiting", "1 Pending")
    _run_pod(cluster_api, page.user.namespace)
    page.browser.find(".task[data-task=learner].running", "1 Running")
    page.browser.find("aside td", "atari-learner-0")
    assert page.browser.violations() == []
    assert page.browser.problems() == []
    page.user.delete("atari")
    page.browser.find("aside", "This job was deleted.")
    assert all("status of 404" in problem for problem in page.browser.problems())


@pytest.mark.parametrize("file", ["dijob/broken/four-faults.yaml", "dijob/full.yaml", "torchjob/minimal.yaml"])
def test_try_says_what_review_says(page: Page, file: str) -> None:
    path = ROOT / file
    page.open("try")
    page.browser.find("input[type=file]").send_keys(str(path.resolve()))
    page.browser.find("article")
    (reviewed,) = _reviewed(path)
    page.browser.find("article h2", "allowed" if reviewed["allowed"] else "denied")
    said = page.browser.texts("article .causes li > div")
    assert len(said) == len(reviewed["findings"])
    for finding, text in zip(reviewed["findings"], said, strict=True):
        assert finding["problem"] in text
    lines = page.browser.texts("article .causes button")
    assert lines == [f"line {finding['line']}" for finding in reviewed["findings"]]
    assert page.browser.violations() == []
    assert page.browser.problems() == []


def test_try_completes_from_the_schema_of_the_kind(page: Page) -> None:
    page.open("try")
    page.browser.find("#example")
    page.browser.run("document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus()")
    page.browser.press("apiVersion: diengine.opendilab.org/v2alpha1\nkind: DIJob\nspec:\n  cleanPod")
    inside = "return document.querySelector('.editor').shadowRoot.querySelector(arguments[0])?.textContent"
    page.browser.wait(lambda: page.browser.run(inside, ".cm-completionLabel") == "cleanPodPolicy" or None, "completion")
    # For 75 ms the editor takes Enter as a new line, lest who types fast gets a completion.
    page.browser.press(Keys.ENTER, "Ru", pause=0.1)
    page.browser.wait(lambda: page.browser.run(inside, ".cm-completionLabel") == "Running" or None, "a value")


@pytest.mark.parametrize("route, content", {"rules": "td a", "health": ".histogram"}.items())
def test_the_other_pages_show_the_installation(page: Page, route: str, content: str) -> None:
    page.user.create(yaml.safe_load(BROKEN.format(name="broken")))
    page.open(route)
    page.browser.find(content)
    page.browser.find("#audit, #doctor").click()
    page.browser.find("main [role=status] strong, main [role=status] .badge")
    assert page.browser.violations() == []
    assert page.browser.problems() == []
    assert page.browser.strangers() == set()


def _notes(browser: Browser) -> list[dict[str, str]]:
    found: list[dict[str, str]] = browser.run(
        "return [...document.querySelectorAll('.note')].map(note => ({message: note.textContent,"
        " line: note.previousElementSibling.closest('.row').textContent}))"
    )
    return found


def _reviewed(path: Path) -> list[dict[str, Any]]:
    reviewed = json.loads(CliRunner().invoke(main, ["review", "-o", "json", str(path)]).stdout)
    entries: list[dict[str, Any]] = reviewed["objects"] if isinstance(reviewed, dict) else reviewed
    return entries


def _create_pod(api: ClusterApi, namespace: str, owner: dict[str, Any]) -> None:
    api.post(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    pod = {
        "metadata": {
            "name": "atari-learner-0",
            "labels": {"task": "learner"},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {"containers": [{"name": "main", "image": "x"}]},
    }
    status, answer = api.post(f"/api/v1/namespaces/{namespace}/pods", pod)
    assert status == 201, answer


def _run_pod(api: ClusterApi, namespace: str) -> None:
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    status, answer = api.patch(f"/api/v1/namespaces/{namespace}/pods/atari-learner-0/status", running)
    assert status == 200, answer
