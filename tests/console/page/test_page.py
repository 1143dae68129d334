"""Each page in a real browser, with answers that a cluster seldom gives."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tools.page.browser import DESKTOP, NEEDS, PHONE, Browser
from tools.page.fake import Fake

pytestmark = pytest.mark.needs(*NEEDS)

REVIEW = 1764198948123457
JOB = "dijobs.diengine.opendilab.org/team-a/atari"
#: A route of each page, and what shows that its content is there.
ROUTES = {
    "now": "[role=option]",
    f"now/{REVIEW}": ".note",
    "jobs": "[role=option]",
    f"jobs/{JOB}": ".task",
    "rules": "table",
    "health": ".timeline",
    "try": "#example",
}
#: Text that is markup, ends attributes, turns the direction of text, controls terminals, or cannot be encoded.
HOSTILE = "</code><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u202egnp.\u2066\x1b[31m\x00\ud800 {{x}} javascript:alert(1)"
SHOWN = "</code><script>alert(1)</script><img src=x onerror=alert(1)>\"'\\u202egnp.\\u2066\\u001b[31m\\u0000\\ud800 {{x}} javascript:alert(1)"


def review(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "id": number, "key": f"webhook-1/{number}", "time": "2026-11-26T23:15:48Z", "replica": "webhook-1", "phase": "validate", "operation": "CREATE", "dryRun": False,
        "kind": "DIJob", "namespace": "team-a", "name": f"job-{number}", "user": "alice",
        "verdict": "allowed", "milliseconds": 1.2, "operations": 0, "causes": [], "warnings": [], **changed,
    }  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_a_page_is_accessible_and_stays_with_its_origin(browser: Browser, fake: Fake, route: str) -> None:
    browser.open(fake.origin, route)
    browser.find(ROUTES[route])
    for button in browser.all("#audit, #doctor, #example"):
        button.click()
        browser.find("main [role=status], main article")
    colours = set()
    for dark in (False, True):
        browser.media(DESKTOP, dark=dark)
        colours.add(browser.run("return getComputedStyle(document.documentElement).backgroundColor"))
        assert browser.violations() == []
    assert len(colours) == 2
    assert browser.problems() == []
    assert browser.strangers() == set()


@pytest.mark.parametrize("route", ROUTES)
def test_a_page_fits_a_phone(browser: Browser, fake: Fake, route: str) -> None:
    browser.open(fake.origin, route, size=PHONE)
    browser.find(ROUTES[route])
    assert browser.run("return document.documentElement.scrollWidth") == PHONE[0]
    sides = "return [...document.querySelectorAll('main button, main input, main a, nav a')].filter(n => n.checkVisibility()"
    outside = ".filter(n => !n.closest('.graph, .code, fieldset')).filter(n => n.getBoundingClientRect().right > innerWidth).map(n => n.outerHTML)"
    assert browser.run(f"{sides}){outside}") == []


@pytest.mark.parametrize("page", ["reviews", "jobs"])
def test_what_is_open_on_a_phone_is_accessible(browser: Browser, fake: Fake, page: str) -> None:
    (path,) = (path for path in fake.answers if path.startswith(f"{page}/"))
    browser.open(fake.origin, path.replace("reviews", "now"), size=PHONE)
    browser.find("aside h2")
    assert not browser.find(".pane").is_displayed()
    assert browser.violations() == []


@pytest.mark.parametrize(
    "route, title, reader",
    [
        ("now", "Reviews as they happen", "users whose job was denied"),
        ("jobs", "Jobs and their pods", "owners of jobs"),
        ("rules", "Rules that deny or warn", "operators"),
        ("health", "Health of the installation", "operators"),
        ("try", "Try a job", "authors of jobs"),
    ],
)
def test_a_page_says_what_it_shows_and_who_it_is_for(
    browser: Browser, fake: Fake, route: str, title: str, reader: str
) -> None:
    browser.open(fake.origin, route)
    for size in (DESKTOP, PHONE):
        browser.media(size, dark=False)
        assert browser.text("main h1") == title
        assert browser.find(".head p", f"For {reader}").is_displayed()


def test_the_token_leaves_the_address(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.find("[role=option]")
    assert "secret" not in browser.driver.current_url


def test_without_a_token_the_page_asks_for_one(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.run("sessionStorage.clear(); location.reload()")
    field = browser.find("#token")
    assert "the token is not valid" in browser.text()
    assert browser.violations() == []
    field.send_keys("other\u2026", Keys.ENTER)
    browser.wait(
        lambda: (browser.run("return document.querySelector('#token')?.value") == "") or None, "an empty field"
    )
    assert "the token is not valid" in browser.text()
    browser.find("#token").send_keys("\u2026secret\u200b", Keys.ENTER)  # as if copied from a page
    browser.find("[role=option]", "team-a/broken")


def test_a_token_that_is_opened_in_a_loaded_page_is_taken(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.run("sessionStorage.setItem('jobgate-token', 'of the console before'); location.reload()")
    browser.find("#token")
    browser.run("location.hash = '#token=secret'")
    browser.find("[role=option]", "team-a/broken")
    assert "secret" not in browser.driver.current_url


@pytest.mark.parametrize("name", ["nothing", "constructor", "__proto__", "%"])
def test_an_unknown_page_is_the_first_one(browser: Browser, fake: Fake, name: str) -> None:
    browser.open(fake.origin)
    browser.run("location.hash = arguments[0]; location.reload()", f"#/{name}")
    browser.find("main.now [role=option]")
    assert browser.problems() == []


class TestNow:
    def test_a_denial_unfolds_into_causes_beside_their_lines(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find("[role=option]", "team-a/broken").click()
        browser.find("aside h2", "DIJob team-a/broken")
        pairs = "return [...document.querySelectorAll('.note')].map(n => [n.previousElementSibling.dataset.line, n.className, n.textContent])"
        assert browser.run(pairs) == [
            ["6", "note warned", "the job restarts without limit"],
            ["9", "note denied", "Invalid value: 0: must be at least 1"],
            ["20", "note denied", 'Duplicate value: "learner": spec.tasks[0] already has this name'],
        ]
        assert browser.texts(".causes .line") == ["line 6", "line 9", "line 20"]
        assert browser.texts(".diff .added") == ["+added:     restartPolicy: Never"]
        assert browser.texts(".diff .removed") == ["-removed:     template: {}"]

    def test_a_review_appears_as_it_happens(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find("[role=option]")
        browser.find(".live.on")
        cause = {"rule": "r", "field": "spec.a", "message": "is wrong"}
        fake.add(review(REVIEW + 1, verdict="denied", causes=[cause]))
        browser.find("[role=option]", f"job-{REVIEW + 1}")
        assert browser.texts("[role=option] strong")[0] == f"team-a/job-{REVIEW + 1}"
        browser.find("#status", "1 new denial")

    def test_a_review_has_another_id_after_a_restart_of_the_console(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [review(1)]
        browser.open(fake.origin)
        browser.find(".live.on")
        fake.add(review(7, key="webhook-1/1"))
        browser.find("[role=option]", "job-7")
        assert browser.text("#total") == "1 review"

    @pytest.mark.parametrize("size", [DESKTOP, PHONE])
    def test_a_row_names_the_phase_and_the_first_fault(
        self, browser: Browser, fake: Fake, size: tuple[int, int]
    ) -> None:
        browser.open(fake.origin, f"now/{REVIEW}", size=size)
        browser.find(".note")
        if size == PHONE:
            browser.find(".close").click()
        assert browser.texts(".verdict") == ["denied (validate)", "patched (mutate)"]
        assert browser.texts(".reviews .summary")[0].startswith("spec.tasks[0].replicas: Invalid value: 0")

    @pytest.mark.parametrize("fault", [None, (502, "the API server does not answer")], ids=["no answer", "an error"])
    def test_after_a_fault_the_page_follows_again(self, browser: Browser, fake: Fake, fault: Any) -> None:
        browser.open(fake.origin)
        browser.find(".live.on")
        answer = fake.answers["reviews"]
        fake.answers["reviews"] = fault
        browser.find(".live.off", "Reconnecting")
        assert browser.texts("[role=option] strong") == ["team-a/broken", "team-b/resnet"]
        assert browser.texts(".failure p") == ([fault[1]] if fault else [])
        fake.answers["reviews"] = answer
        fake.add(review(REVIEW + 1))
        browser.find("#total", "3 reviews")
        browser.find(".live.on")
        assert browser.all(".failure") == []

    def test_while_it_is_hidden_a_page_asks_for_nothing(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find(".live.on")
        script = "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"
        browser.run(script, True)
        fake.add(review(REVIEW + 1))
        time.sleep(0.2)  # for a request that was on its way
        fake.asked.clear()
        time.sleep(1.5)
        assert fake.asked == []
        browser.run(script, False)
        browser.find("[role=option]", f"job-{REVIEW + 1}")

    def test_reviews_from_while_it_was_hidden_are_loaded_in_parts(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [review(1)]
        browser.open(fake.origin)
        browser.find(".live.on")
        fake.answers["reviews"]["items"] = [review(number) for number in range(2100, 0, -1)]
        browser.find("#total", "2,100 reviews")

    def test_older_reviews_that_failed_to_load_are_loaded_from_where_it_failed(
        self, browser: Browser, fake: Fake
    ) -> None:
        fake.answers["reviews"]["items"] = [review(number) for number in range(2100, 0, -1)]
        fake.failing = "before=101"
        browser.open(fake.origin)
        button = browser.find(".failure button")
        assert browser.text("#total") == "2,000 reviews"
        button.click()
        fake.add(review(2101))
        browser.find("#total", "2,001 reviews")
        browser.find(".failure", "the API server does not answer")
        fake.failing = ""
        browser.find(".failure button").click()
        browser.find("#total", "2,101 reviews")
        browser.wait(lambda: not browser.all(".failure") or None, "no failure")
        pages = [path.partition("before=")[2] for path, _ in fake.asked if "before=" in path]
        assert pages[0] == "1101"
        assert set(pages[1:]) == {"101"}

    def test_older_reviews_that_failed_to_load_are_loaded_as_new_ones_come(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [review(number) for number in range(1100, 0, -1)]
        fake.failing = "before="
        browser.open(fake.origin)
        browser.find(".failure")
        fake.failing = ""
        fake.add(review(1101))
        browser.find("#total", "1,101 reviews")
        browser.wait(lambda: not browser.all(".failure") or None, "no failure")

    def test_many_new_reviews_are_all_loaded_though_the_list_is_full(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [review(number) for number in range(12000, 0, -1)]
        browser.open(fake.origin)
        browser.find("#total", "10,000 reviews")
        fake.answers["reviews"]["items"] = [review(number) for number in range(15000, 0, -1)]
        browser.find("[role=option]", "job-15000")
        browser.run("document.querySelector('.list').focus()")
        browser.press(Keys.END)
        browser.find("[aria-posinset='10000']", "job-5001")

    def test_a_review_that_fails_late_does_not_replace_the_one_that_is_open(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find("[role=option]")
        browser.run(
            "const real = fetch; window.late = 0; window.fetch = (path, options) => !path.endsWith('/17') ? real(path, options)"
            " : new Promise((done) => setTimeout(done, 500)).then(() => real(path, options)).finally(() => setTimeout(() => window.late = 1))"
        )
        browser.go("now/17")
        browser.go(f"now/{REVIEW}")
        browser.find("aside .note")
        browser.wait(lambda: browser.run("return window.late") or None, "the late answer")
        assert browser.texts("aside .failure") == []
        assert browser.all("aside .note")

    @pytest.mark.parametrize("route, list_", [(f"now/{REVIEW}", ".reviews"), (f"jobs/{JOB}", ".jobs")])
    @pytest.mark.parametrize("size", [DESKTOP, (900, 700)])
    def test_the_focus_returns_to_the_list(
        self, browser: Browser, fake: Fake, size: tuple[int, int], route: str, list_: str
    ) -> None:
        browser.open(fake.origin, route, size=size)
        browser.find("aside h2")
        browser.find("[role=option]")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("aside h2") or None, "nothing open")
        assert browser.run("return document.activeElement.matches(arguments[0])", f".list{list_}")

    def test_unfolded_lines_keep_the_focus(self, browser: Browser, fake: Fake) -> None:
        lines = "".join(f"  a{number}: 1\n" for number in range(100))
        fake.answers[f"reviews/{REVIEW}"]["yaml"] = f"spec:\n{lines}"
        browser.open(fake.origin, f"now/{REVIEW}")
        browser.find("button.fold", "more lines")
        browser.run("document.querySelector('button.fold').focus()")
        browser.press(Keys.ENTER)
        assert len(browser.all(".code .row")) > 100
        assert browser.run("return document.activeElement.matches('.code')")

    def test_filters_are_in_the_address(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [
            review(3, verdict="denied", user="bob"),
            review(2, kind="MxJob"),
            review(1, namespace="team-b"),
        ]
        browser.open(fake.origin)
        browser.find("[role=option]")
        browser.find("#user").send_keys("bo")
        browser.find("#total", "1 review of 3")
        assert browser.driver.current_url.endswith("#/now?user=bo")
        for query, names in {
            "kind=MxJob": ["job-2"],
            "namespace=team-b": ["job-1"],
            "verdict=denied": ["job-3"],
            "verdict=denied&verdict=allowed": ["job-3", "job-2", "job-1"],
            "q=JOB-2": ["job-2"],
        }.items():
            browser.go(f"now?{query}")
            browser.find("#total", f"{len(names)} review{'' if len(names) == 1 else 's'}")
            assert [text.partition("/")[2] for text in browser.texts("[role=option] strong")] == names, query
        browser.go("now?namespace=nowhere")
        browser.find(".empty", "No review fits these filters.")

    def test_all_of_ten_thousand_reviews_can_be_reached_with_few_rows_in_the_document(
        self, browser: Browser, fake: Fake
    ) -> None:
        fake.answers["reviews"]["items"] = [review(number) for number in range(12000, 0, -1)]
        browser.open(fake.origin)
        browser.find("#total", "10,000 reviews")
        browser.run("document.querySelector('.list').focus()")
        browser.press(Keys.END)
        browser.find("[aria-posinset='10000'][aria-selected=true]", "job-2001")
        assert len(browser.all("[role=option]")) < 60

    def test_what_is_read_stays_in_place_as_reviews_come(self, browser: Browser, fake: Fake) -> None:
        fake.answers["reviews"]["items"] = [review(number) for number in range(300, 0, -1)]
        browser.open(fake.origin)
        browser.find(".live.on")
        browser.run("document.querySelector('.list').scrollTop = 3400")
        browser.find("[id$='-200']")
        top = "return document.querySelector(`[id$='-200']`).getBoundingClientRect().top"
        before = browser.run(top)
        fake.add(review(301))
        browser.find("#total", "301 reviews")
        assert browser.run(top) == before

    def test_a_list_is_read_and_opened_with_the_keyboard(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find("[role=option]")
        browser.run("document.querySelector('.list').focus()")
        browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, "k")
        active = browser.find(".list").get_attribute("aria-activedescendant")
        assert "broken" in browser.find(f"#{active}").text
        browser.press(Keys.ENTER)
        browser.find("aside h2", "broken")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("aside h2") or None, "no review")

    @pytest.mark.parametrize(
        "change, text",
        [
            (lambda fake: fake.answers["reviews"].update(items=[]), "No reviews yet."),
            (lambda fake: fake.answers.update(reviews=(502, "the API server does not answer")), "the API server does not answer"),
            (lambda fake: fake.answers["reviews"].update(replicas=[{"name": "webhook-2", "state": "unreachable", "message": "HTTP 502"}]), "No reviews from webhook-2 (HTTP 502)."),
            (lambda fake: fake.answers["about"].update(problems=["reviews are not kept"]), "reviews are not kept"),
            (lambda fake: fake.answers["reviews"].update(missed=True), "Some reviews could not be shown"),
            (lambda fake: fake.answers.update(reviews=None), "The console's server does not answer."),
        ],
    )  # fmt: skip
    def test_what_is_missing_is_said(
        self, browser: Browser, fake: Fake, change: Callable[[Fake], None], text: str
    ) -> None:
        change(fake)
        browser.open(fake.origin)
        browser.find("body", text)

    @pytest.mark.parametrize(
        "replicas, text",
        [
            ([], "No server is found."),
            ([{"name": "webhook-1", "state": "off", "message": "reviews are not kept"}], "None does. Set keepReviews: 500"),
            ([{"name": "webhook-1", "state": "streaming", "message": ""}], "1 server keeps reviews."),
        ],
    )  # fmt: skip
    def test_an_empty_list_says_what_must_happen(
        self, browser: Browser, fake: Fake, replicas: list[dict[str, str]], text: str
    ) -> None:
        fake.answers["reviews"].update(items=[], replicas=replicas)
        browser.open(fake.origin)
        browser.find(".empty li", text)
        browser.find(".empty li", "kubectl apply --dry-run=server")
        assert browser.violations() == []

    def test_each_verdict_is_explained(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin)
        browser.find("[role=option]")
        browser.find("summary", "What the words mean").click()
        explained = [row.partition(" ")[0] for row in browser.texts(".legend dt")]
        assert explained == [text.rstrip("0123456789") for text in browser.texts(".chip")]
        assert browser.violations() == []

    def test_a_review_that_is_not_kept_any_more_says_so(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "now/17")
        browser.find("aside .failure", "no such thing")


class TestJobs:
    def test_a_job_is_a_graph_of_its_tasks(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find(".task")
        assert browser.texts(".task strong") == ["learner", "collector"]
        assert browser.texts(".task[data-task=collector] .counts .badge") == ["2 Running", "1 Pending"]
        assert browser.texts(".gang text") == ["gang atari: 3 pods start together"]
        assert len(browser.all("path.arrow")) == 1
        assert "after learner" in browser.texts(".task[data-task=collector]")[0]
        assert browser.texts(".legend dd") == [
            "must start first",
            "a gang: its pods start together, or none does",
            "pods by phase",
        ]
        for text in (
            "Why it waits",
            "To do: ask for less, or add nodes",
            "Service",
            "atari-collector-2",
            "FailedScheduling \u00d74",
        ):
            assert text in browser.text("aside")

    def test_no_two_tasks_overlap(self, browser: Browser, fake: Fake) -> None:
        job = fake.answers["job"]
        names = [f"t{number}" for number in range(9)]
        job["tasks"] = [
            {**job["tasks"][0], "name": name, "dependsOn": names[: number // 3 * 3]}
            for number, name in enumerate(names)
        ]
        job["tasks"][0]["dependsOn"] = ["t8"]  # a cycle, which the webhook denies
        gangs = [
            {"name": "a", "minimum": 1, "tasks": names[::2]},
            {"name": "b", "minimum": 1, "tasks": names[1::2]},
        ]
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find(".task")
        boxes = "return [...document.querySelectorAll('.task')].map(n => [n.offsetLeft, n.offsetTop, n.offsetWidth, n.offsetHeight])"
        for size in ((1600, 900), PHONE):
            browser.media(size, dark=False)
            job["gangs"] = gangs[: 2 if size == PHONE else 1]
            browser.wait(lambda: len(browser.all(".gang")) == len(job["gangs"]) or None, "the frames")
            tasks = browser.run(boxes)
            assert len(tasks) == 9
            clashes = [
                (a, b)
                for a in tasks
                for b in tasks
                if a is not b and abs(a[0] - b[0]) < a[2] and abs(a[1] - b[1]) < a[3]
            ]
            assert clashes == []

    def test_the_graph_follows_the_pods(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find(".task.waiting")
        job = fake.answers["job"]
        job["tasks"][1] |= {"state": "running", "pods": {"Running": 3}}
        browser.find(".task[data-task=collector].running", "3 Running")
        fake.answers[f"jobs/{JOB}"] = (404, "there is no atari")
        browser.find("aside", "This job was deleted.")

    def test_what_has_not_changed_is_not_drawn(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find(".task")
        browser.find("[role=option]")
        browser.run("for (const node of document.querySelectorAll('.task, [role=option]')) node.drawn = 1")
        fake.asked.clear()
        paths = {f"/api/jobs/{JOB}": ".task", "/api/jobs?": "[role=option]"}
        for path, shown in paths.items():
            codes = browser.wait(partial(self.later_answers, fake, path), f"answers to {path}")
            assert set(codes) == {304}
            assert browser.run("return [...document.querySelectorAll(arguments[0])].every(node => node.drawn)", shown)

    def later_answers(self, fake: Fake, path: str) -> list[int] | None:
        """The statuses of all answers to a path but the first, for which the page may have asked before."""
        return [status for asked, status in fake.asked if asked.startswith(path)][1:] or None

    @pytest.mark.parametrize(
        "fault", [None, (502, "the API server does not answer"), (403, "you may not list")], ids=str
    )
    def test_after_a_fault_a_job_is_shown_again(self, browser: Browser, fake: Fake, fault: Any) -> None:
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find(".task")
        answers = {path: fake.answers[path] for path in ("jobs", f"jobs/{JOB}")}
        fake.answers.update(dict.fromkeys(answers, fault))
        if fault:
            browser.find("aside .failure", fault[1])
            browser.find(".pane .failure", fault[1])
        browser.find(".live.off")
        fake.answers.update(answers)
        browser.find(".live.on")
        browser.find("[role=option]")
        browser.find("aside .task")
        browser.wait(lambda: not browser.all(".failure") or None, "no failure")

    def test_the_list_follows_the_jobs(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "jobs")
        browser.find("[role=option]", "Running, 1 waits")
        fake.answers["jobs"]["items"][0]["phase"] = "Succeeded"
        browser.find("[role=option]", "Succeeded")
        del fake.answers["jobs"]["items"][0]
        browser.wait(lambda: len(browser.all("[role=option]")) == 1 or None, "one job")

    def test_ages_grow_though_nothing_changes(self, browser: Browser, fake: Fake) -> None:
        created = datetime.fromtimestamp(time.time() - 20, UTC).isoformat()
        for job in (fake.answers["jobs"]["items"][0], fake.answers["job"]["job"]):
            job["created"] = created
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find("[role=option] time")
        browser.find("aside time")
        for place in ("[role=option] time", "aside time"):
            before = browser.texts(place)[0]
            browser.wait(partial(self.other, browser, place, before), "another age")

    def other(self, browser: Browser, place: str, before: str) -> str | None:
        """The text at a place, if it is another than before."""
        (text, *_) = browser.texts(place)
        return text if text != before else None

    def test_a_condition_without_a_time_has_an_unknown_one(self, browser: Browser, fake: Fake) -> None:
        fake.answers["job"]["conditions"][0]["time"] = None
        browser.open(fake.origin, f"jobs/{JOB}")
        browser.find("[aria-label=Conditions] td", "unknown")

    def test_an_empty_list_says_what_to_do(self, browser: Browser, fake: Fake) -> None:
        fake.answers["jobs"] |= {"items": [], "total": 0, "matched": 0}
        browser.open(fake.origin, "jobs")
        browser.find(".empty", "kubectl apply")


class TestRules:
    def test_a_table_with_the_focus_is_not_drawn_again(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "rules")
        browser.find("td a")
        browser.run(
            "const real = setTimeout; window.setTimeout = (call, wait) => real(call, wait === 5000 ? 100 : wait)"
        )
        browser.run("document.querySelector('td a').focus()")
        fake.add(review(REVIEW + 1))
        time.sleep(1.5)  # the page asks each half second
        assert browser.run("return document.activeElement.matches('td a')")
        browser.run("document.activeElement.blur()")
        browser.find("main", "Counted from 3 reviews")

    def test_a_rule_leads_to_its_reviews(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "rules")
        browser.find("td a", "schema").click()
        browser.find("#total", "1 review of 2")
        assert browser.texts("[role=option] strong") == ["team-a/broken"]
        browser.find("button.tag", "rule schema").click()
        browser.find("#total", "2 reviews")

    def test_rules_are_counted_once_in_each_review(self, browser: Browser, fake: Fake) -> None:
        def finding(rule: str, message: str = "is wrong") -> dict[str, str]:
            return {"rule": rule, "field": "spec.a", "message": message}

        fake.answers["reviews"]["items"] = [
            review(5, namespace="__proto__", causes=[finding("often", "is worse")], warnings=[finding("warns")]),
            review(4, kind="MxJob", causes=[finding("often"), finding("often")]),
            review(3, causes=[finding("both")], warnings=[finding("both")]),
            review(2, warnings=[finding("warns")]),
            review(1),
        ]
        browser.open(fake.origin, "rules")
        rows = browser.wait(lambda: browser.texts("tbody tr") or None, "rules")
        assert len(rows) == 3
        for row, texts in zip(
            rows,
            (
                ("often", "spec.a: is worse", "2 denials", "DIJob 1MxJob 1", "__proto__ 1team-a 1"),
                ("both", "1 denial", "DIJob 1"),
                ("warns", "2 warnings", "DIJob 2"),
            ),
            strict=True,
        ):
            assert [text for text in texts if text not in row] == [], row
        assert "warning" not in rows[1]
        assert "Counted from 5 reviews" in browser.text()

    @pytest.mark.parametrize(
        "reviews, text", [([], "There are no reviews to count"), ([review(1)], "The next job")], ids=["none", "allowed"]
    )
    def test_without_denials_the_page_says_what_would_count(
        self, browser: Browser, fake: Fake, reviews: list[Any], text: str
    ) -> None:
        fake.answers["reviews"]["items"] = reviews
        browser.open(fake.origin, "rules")
        browser.find(".empty", text)


def test_the_audit_lists_stored_jobs(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin, "rules")
    browser.find("#audit").click()
    browser.find("main", "120 jobs reviewed; 1 would be denied.")
    assert fake.posted == [("audit", {})]
    for text in (
        "team-a/old",
        "Invalid value: 0: must be at least 1",
        "spec.tasks[0].prerequisites[0]: not checked",
        "2 more jobs with findings not shown.",
        "torchjobs.train.distributed.io (the API server responded with 403)",
    ):
        assert text in browser.text()


class TestHealth:
    def test_everything_is_shown(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "health")
        browser.find("#doctor").click()
        browser.find("main", "webhook-not-called")
        for text in (
            "jobgate-webhook-5d9f6c7b8-x2v4q",
            "≤ 5 ms 99th percentile",
            "dijobs: 12s old",
            "generation 4",
            "Generation 4 is served; 5 is staged to replace it.",
            "apply the manifests again",
            "responded with 502",
        ):
            assert text in browser.text(), text
        assert browser.texts(".generation text") == ["4 served, until 2026-12-26", "5 staged, until 2027-02-24"]
        assert browser.texts(".stages .done strong") == ["trusted"]
        assert browser.texts(".histogram .muted") == ["40,000", "11,000", "234"]

    @pytest.mark.parametrize(
        "staged, times, done",
        [
            (5, [None, None, None], []),
            (5, ["2026-11-26T23:00:10Z", None, None], ["trusted"]),
            (None, [None, "2026-11-26T23:05:00Z", None], ["trusted", "promoted"]),
            (None, [None, "2026-11-26T23:05:00Z", "2026-11-26T23:06:00Z"], ["trusted", "promoted", "verified"]),
            (None, [None, None, None], []),
        ],
        ids=["staged", "trusted", "promoted", "verified", "never rotated"],
    )
    def test_the_stages_are_those_of_the_rotation_that_goes_on(
        self, browser: Browser, fake: Fake, staged: int | None, times: list[str | None], done: list[str]
    ) -> None:
        certificates = fake.answers["health"]["certificates"]
        certificates["staged"] = staged
        for stage, at in zip(certificates["stages"], times, strict=True):
            stage["time"] = at
        browser.open(fake.origin, "health")
        browser.find(".stages")
        assert browser.texts(".stages .done strong") == done
        assert "".join(browser.texts(".stages")).count("not yet") == 3 - len(done)

    def test_parts_without_content_say_what_would_fill_them(self, browser: Browser, fake: Fake) -> None:
        latency = {"count": 0, "sumSeconds": 0, "buckets": []}
        fake.answers["health"].update(replicas=[], latency=latency)
        browser.open(fake.origin, "health")
        browser.find("main", "kubectl get pods --namespace jobgate-system")
        browser.find("main", "this fills when someone creates or changes a job")

    def test_parts_that_cannot_be_read_say_so(self, browser: Browser, fake: Fake) -> None:
        fake.answers["health"] |= {"replicas": None, "latency": None, "certificates": None}
        fake.answers["doctor"] = (403, "you may not list nodes")
        browser.open(fake.origin, "health")
        browser.find("main", "Certificates cannot be read")
        browser.find("#doctor").click()
        browser.find(".failure", "you may not list nodes")


class TestTry:
    def edit(self, browser: Browser, text: str) -> None:
        """Type text at the end, as a user does: after each character the page may answer."""
        browser.run("document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus()")
        browser.press(text)

    def inside(self, browser: Browser, selector: str) -> list[str]:
        found: list[str] = browser.run(
            "return [...document.querySelector('.editor').shadowRoot.querySelectorAll(arguments[0])].map(n => n.textContent)",
            selector,
        )
        return found

    def test_findings_mark_their_lines(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "try")
        browser.find("#example").click()
        browser.find("article", "DIJob broken")
        assert self.inside(browser, ".cm-lintRange-error")
        browser.find("article button.line", "line 9").click()
        assert self.inside(browser, ".cm-activeLineGutter")[0] == "9"
        assert "MASTER_ADDR=good-learner-0" in browser.text()
        assert browser.texts("article .diff .added") == ["+added:   backoffLimit: 3"]

    def test_a_file_can_be_opened_again(self, browser: Browser, fake: Fake, tmp_path: Path) -> None:
        file = tmp_path / "job.yaml"
        browser.open(fake.origin, "try")
        for text in ("kind: A", "kind: B"):
            file.write_text(text)
            browser.find("input[type=file]").send_keys(str(file))
            browser.wait(partial(self.holds, browser, text), f"the editor with {text}")

    def holds(self, browser: Browser, text: str) -> bool | None:
        """Whether the editor has one line, and which."""
        return self.inside(browser, ".cm-line") == [text] or None

    def test_the_last_text_is_what_counts(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "try")
        browser.find("#example")
        self.edit(browser, "kind: A")
        self.edit(browser, "BC")
        browser.find("article")
        assert fake.posted[-1] == ("try", {"yaml": "kind: ABC", "namespace": "default"})
        browser.go("now")
        browser.go("try")
        browser.wait(lambda: self.inside(browser, ".cm-line") == ["kind: ABC"] or None, "the text from before")

    def test_a_text_that_cannot_be_kept_is_reviewed(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "try")
        browser.find("#example").click()
        browser.find("article")
        browser.run("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
        self.edit(browser, "A")
        browser.wait(lambda: len(fake.posted) > 1 or None, "a review")
        assert browser.run("return sessionStorage.getItem('jobgate-try')") is None
        assert browser.problems() == []

    def test_fields_and_values_are_completed_from_the_schema(self, browser: Browser, fake: Fake) -> None:
        fake.answers["schemas/dijob"] = _schema()
        browser.open(fake.origin, "try")
        browser.find("#example")
        self.edit(browser, "apiVersion: diengine.opendilab.org/v2alpha1\nkind: DIJob\nspec:\n  cleanPod")
        option = browser.wait(lambda: self.inside(browser, ".cm-completionLabel") or None, "completions")
        assert option == ["cleanPodPolicy"]

    def test_a_path_follows_from_the_indentation(self, browser: Browser, fake: Fake) -> None:
        browser.open(fake.origin, "try")
        cases = {
            ("spec:", "  "): ["spec"],
            ("spec:\n  tasks:", "  - "): ["spec", "tasks", None],
            ("spec:\n  tasks:\n  - name: a", "    "): ["spec", "tasks", None],
            ("spec:\n  tasks:\n    - name: a\n      template:\n        spec:", "          "): ["spec", "tasks", None, "template", "spec"],
            ("spec:\n  tasks:\n  - name: a\n    template:\n      spec: {}\n  - name: b", "    "): ["spec", "tasks", None],
            ("spec:\n  tasks:\n  - name: a", "  "): ["spec"],
            ("# a comment: here\nspec:\n\n  plugins:\n    svc: []", "  "): ["spec"],
            ("a:\n- - b: 1", "    "): ["a", None, None],
            ("spec:\n  a: 1", ""): [],
        }  # fmt: skip
        script = "const [lines, start, done] = arguments; import('/static/complete.js').then(m => done(m.pathTo(lines, start)), e => done(String(e)))"
        for (before, start), path in cases.items():
            assert browser.driver.execute_async_script(script, before.split("\n"), start) == path, before


def _schema() -> dict[str, Any]:
    policy = {"type": ["string", "null"], "enum": ["Running", "All", None], "description": "Which pods are deleted."}
    return {
        "properties": {"spec": {"type": "object", "properties": {"cleanPodPolicy": policy, "tasks": {"type": "array"}}}}
    }


@pytest.mark.parametrize("route", ROUTES)
def test_what_users_write_is_text(browser: Browser, fake: Fake, route: str) -> None:
    kept = {"id", "plural", "verdict", "sign", "url", "phase", "operation", "time", "state", "level", "severity", "notBefore", "notAfter", "renewal", "created", "started", "since", "last"}  # fmt: skip

    def hostile(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: hostile(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [hostile(item, key) for item in value]
        return f"{value}{HOSTILE}" if isinstance(value, str) and key not in kept else value

    fake.answers = {path: hostile(answer) for path, answer in fake.answers.items()}
    fake.answers["jobs"]["items"][0]["plural"] = fake.answers["job"]["job"]["plural"]
    browser.open(fake.origin, route)
    browser.find(ROUTES[route])
    for button in browser.all("#audit, #doctor, #example"):
        button.click()
        browser.find("main [role=status], main article")
    if route != "try":
        assert SHOWN.split(" {{", maxsplit=1)[0] in browser.run("return document.querySelector('main').textContent")
    assert browser.run("return document.querySelectorAll('main script, main img').length") == 0
    codes = "return [...document.querySelector('body').textContent.matchAll(/[\\p{Cf}\\p{Cs}\\0\\x1b]/gu)].length"
    assert browser.run(codes) == 0
    assert browser.problems() == []
    assert browser.strangers() == set()


def test_the_theme_is_chosen_and_kept(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.find("[role=option]")
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.run(colour)
    browser.press("t")
    dark = browser.run(colour)
    assert light != dark
    assert browser.find("#theme").get_attribute("aria-pressed") == "true"
    browser.driver.refresh()
    browser.find("[role=option]")
    assert browser.run(colour) == dark


def test_shortcuts_are_listed_and_can_be_turned_off(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.find("[role=option]")
    browser.press("2")
    browser.find("nav [aria-current]", "Jobs")
    browser.find("main.jobs")
    browser.press("/")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "search"
    browser.press("3", Keys.ESCAPE)  # typed into the search
    browser.find("nav [aria-current]", "Jobs")
    browser.press("?")
    assert "Keyboard shortcuts" in browser.text("dialog")
    assert browser.violations() == []
    browser.find("#single").click()
    browser.press(Keys.ESCAPE)
    browser.press("1")
    browser.find("nav [aria-current]", "Jobs")


def test_the_first_key_skips_to_the_content(browser: Browser, fake: Fake) -> None:
    browser.open(fake.origin)
    browser.find("[role=option]")
    browser.press(Keys.TAB)
    assert browser.driver.switch_to.active_element.text == "Skip to content"
    browser.press(Keys.ENTER)
    assert browser.driver.switch_to.active_element.get_attribute("id") == "main"
