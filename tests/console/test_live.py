"""The page in a browser, with a real console on a real API server."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook
from tests.console.page.browser import NEEDS, started
from tests.console.test_console import dijob
from tests.e2e.cluster import User

pytestmark = pytest.mark.needs(*NEEDS)
ROUTES = ("now", "jobs", "rules", "health", "try")


async def test_a_denial_appears_on_the_page_and_every_page_works(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Callable[..., Any], cluster_api: ClusterApi
) -> None:
    user = User(controlplane, new_namespace(cluster_api))
    page = await open_console(controlplane.kubeconfig, token="secret")
    assert user.create(dijob("runs"))[0]
    await page.until("/api/reviews", lambda content: content["items"])
    await page.until("/api/jobs", lambda content: content["items"])

    def look() -> list[str]:
        with started() as browser:
            browser.open(page.url)
            assert not user.create(dijob("broken", image=7))[0]
            browser.find("main", "broken")
            for route in ROUTES:
                browser.go(route)
            browser.go("jobs")
            browser.find("main", "runs")
            return browser.problems()

    assert await asyncio.to_thread(look) == []
