"""A headless Chromium that shows the console: what is on a page, and what it asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from controlplane.system import System
from tools.page import modules

#: Programs that the tests need, for `pytest.mark.needs`.
NEEDS = ("chromium", "chromedriver", "node", "npm")
#: Seconds to wait for something on a page: it is there at once, except on a machine under load.
WAIT = 20.0
DESKTOP = (1280, 800)
PHONE = (360, 740)

_Result = TypeVar("_Result")


class Browser:
    """A page of the console in Chromium."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self.origin = ""

    def open(
        self,
        origin: str,
        route: str = "now",
        *,
        token: str = "secret",  # noqa: S107  # of the fake server
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
    ) -> None:
        """Load a page with nothing kept from the one before, as a browser with this window and theme."""
        self.origin = origin
        self.media(size, dark=dark)
        # A file of the same origin unloads the page before it; about:blank would cost a new process.
        self.driver.get(f"{origin}/static/icon.svg")
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.problems()
        self.requests()
        self.driver.get(f"{origin}/#token={token}")
        self.go(route)

    def media(self, size: tuple[int, int], *, dark: bool) -> None:
        """Change the size of the window, and the theme of the system."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def go(self, route: str) -> None:
        """Go to a route of the page that is loaded."""
        self.run("location.hash = arguments[0]", f"#/{route}")
        self.find(f"main.{route.partition('/')[0].partition('?')[0]} h1")

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str, text: str = "") -> WebElement:
        """Return the first element that fits and contains the text, as soon as there is one."""
        return self.wait(
            lambda: next((one for one in self.all(selector) if text in (one.get_attribute("textContent") or "")), None),
            f"{selector} with {text!r}",
        )

    def all(self, selector: str) -> list[WebElement]:
        """Return the elements that fit now."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that fit now."""
        script = "return [...document.querySelectorAll(arguments[0])].map(n => n.textContent.trim())"
        found: list[str] = self.run(script, selector)
        return found

    def text(self, selector: str = "main") -> str:
        """Return the text that is shown of an element."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def press(self, *keys: str, pause: float = 0.0) -> None:
        """Press keys where the focus is, after a pause."""
        webdriver.ActionChains(self.driver).pause(pause).send_keys(*keys).perform()

    def wait(self, ask: Callable[[], _Result | None], what: str) -> _Result:
        """Return the first result that is not None."""

        def asked(_: object) -> _Result | None:
            try:
                return ask()
            except StaleElementReferenceException:
                return None

        try:
            result = WebDriverWait(self.driver, WAIT, poll_frequency=0.02).until(asked)
        except TimeoutException as error:
            raise AssertionError(f"not on the page: {what}; it shows: {self.text('body')[:2000]}") from error
        assert result is not None
        return result

    def violations(self) -> list[str]:
        """Return what axe finds on the page, one line for each element."""
        if not self.run("return 'axe' in window"):
            self.run((modules() / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
        results = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(done, e => done(String(e)))"
        )
        return [
            f"{found['id']}: {node['html'][:200]} {node['failureSummary']}"
            for found in results["violations"]
            for node in found["nodes"]
        ]

    def problems(self) -> list[str]:
        """Return the errors since the last call: exceptions, violations of the policy, failures."""
        # The browser asks for it because of the icon that `open` loads; the page names its icon.
        return [each["message"] for each in self._log("browser") if "/favicon.ico - " not in each["message"]]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]

    def _log(self, name: str) -> list[dict[str, str]]:
        entries: list[dict[str, str]] = self.driver.get_log(name)  # type: ignore[no-untyped-call]
        return entries

    def strangers(self) -> set[str]:
        """Return the origins other than the console's that were asked for something."""
        parts = [urlsplit(address) for address in self.requests()]
        return {f"{one.scheme}://{one.netloc}" for one in parts if one.scheme not in {"data", "about"}} - {self.origin}


@contextmanager
def started() -> Iterator[Browser]:
    """Run a browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = System().find("chromium") or "chromium"
    # Tests run as root, and in containers with a small /dev/shm.
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-proxy-server",
        # Without a cache of left pages, the next one of an origin has the same process.
        "--disable-features=BackForwardCache",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(System().find("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_script_timeout(WAIT)
        yield Browser(driver)
    finally:
        driver.quit()
