"""The right to use an item: asked within bounds, cached for a while, unknown without an answer."""

import asyncio

from jobgate.pods.access import ALLOWED, DENIED, PermissionCache
from jobgate.pods.access import TIMEOUT as LONGEST
from jobgate.pods.budget import Budget
from webhook import User

Question = tuple[User, str, str, str, str]


def question(name: str = "mnist", user: str = "alice", namespace: str = "team") -> Question:
    return User(user), "use", "clusterprerequisites.v1alpha1.jobgate.dev", name, namespace


class Trial:
    """An access whose clock stands, and a cluster that counts."""

    def __init__(self, answer: bool | Exception = True, budget: Budget | None = None) -> None:
        self.now, self.asked, self.answer = 100.0, 0, answer
        self.access = PermissionCache(self.ask, lambda: self.now, budget)

    async def ask(self, *_: object) -> bool:
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_an_answer_holds_for_a_while_and_a_rejection_for_less() -> None:
    for answer, holds in ((True, ALLOWED), (False, DENIED)):
        trial = Trial(answer)
        assert trial.access.may(*question()) is None
        await trial.access.learn([question()])
        assert trial.access.may(*question()) is answer
        assert trial.access.may(*question(user="bob")) is None
        trial.now += holds - 0.5
        assert trial.access.may(*question()) is answer
        assert trial.access.lacks([question()]), "a review must not outlive the answer"
        trial.now += 1.0
        assert trial.access.may(*question()) is None


async def test_one_question_at_a_time_is_asked_however_many_wait_for_it() -> None:
    trial = Trial()
    await asyncio.gather(*(trial.access.learn([question()]) for _ in range(20)))
    assert trial.asked == 1


async def test_without_an_answer_nothing_is_known() -> None:
    trial = Trial(OSError("gone"))
    await trial.access.learn([question()])
    assert trial.access.may(*question()) is None


async def test_a_namespace_beyond_its_budget_is_not_asked_for_and_others_are() -> None:
    trial = Trial(budget=Budget(lambda: 0.0, rate=1.0, burst=2.0))
    await trial.access.learn([question(f"item-{place}") for place in range(5)])
    assert trial.asked == 2
    await trial.access.learn([question(namespace="other")])
    assert trial.access.may(*question(namespace="other")) is True


async def test_made_up_namespaces_have_a_budget_together() -> None:
    trial = Trial()
    await trial.access.learn([question(namespace=f"n{place}") for place in range(1000)])
    assert trial.asked == 400


def test_a_review_has_time_left_after_all_questions() -> None:
    assert LONGEST < 5.0 - 2.0, "of the five seconds that the API server waits, a review may take two"
