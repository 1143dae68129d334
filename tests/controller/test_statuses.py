"""The status of prerequisites, in a cluster in memory."""

import asyncio
from collections.abc import Callable
from typing import Any

from jobgate.cluster import Resource
from jobgate.controller.statuses import Statuses
from jobgate.prerequisites.reference import CLUSTER, NAMESPACED, RESOURCES
from tests.controller.cluster import MemoryCluster
from tests.prerequisites.items import NAMESPACE, item, wants

NOW = "2030-01-01T00:00:00Z"


class Trial:
    """Items in a cluster, and what writes their status."""

    def __init__(self, *documents: dict[str, Any]) -> None:
        self.cluster = MemoryCluster()
        for document in documents:
            self.put(document)

    def put(self, document: dict[str, Any]) -> None:
        metadata = {"namespace": "", **document["metadata"]}
        self.cluster.put(Resource.parse(RESOURCES[document["kind"]]), {**document, "metadata": metadata})

    def status(self, kind: str, name: str) -> dict[str, Any]:
        result = self.cluster.find(Resource.parse(RESOURCES[kind]), NAMESPACE if kind == NAMESPACED else "", name)
        assert result is not None
        return dict(result.get("status") or {})

    def reason(self, kind: str, name: str) -> str:
        conditions = self.status(kind, name).get("conditions") or [{}]
        return str(conditions[0].get("reason"))

    async def until(self, *conditions: Callable[[], bool]) -> None:
        """Work until the expected state is reached."""
        statuses = Statuses(self.cluster, lambda _: True, now=lambda: NOW)
        working = asyncio.create_task(statuses.run(self.cluster))
        try:
            async with asyncio.timeout(30):
                while not all(condition() for condition in conditions):  # noqa: ASYNC110  # a cluster in memory tells nobody
                    await asyncio.sleep(0.02)
        finally:
            working.cancel()


async def test_an_item_is_ready_with_all_that_it_brings_in_order() -> None:
    trial = Trial(
        item("a"), item("b", templateVariables=[{"name": "x"}, {"name": "y", "default": 3}], require=[wants("a")]),
    )  # fmt: skip
    await trial.until(lambda: trial.reason(CLUSTER, "b") == "Resolved")
    status = trial.status(CLUSTER, "b")
    assert status["resolved"] == ["ClusterPrerequisite/a", "ClusterPrerequisite/b"]
    assert status["variables"] == "x, y=3"
    assert [(condition["type"], condition["status"]) for condition in status["conditions"]] == [
        ("Ready", "True"),
        ("Invalid", "False"),
    ]
    assert status["conditions"][0]["lastTransitionTime"] == NOW


async def test_an_item_follows_what_it_requires() -> None:
    trial = Trial(item("a", NAMESPACED, require=[wants("b", CLUSTER)]))
    await trial.until(lambda: trial.reason(NAMESPACED, "a") == "UnknownReference")
    trial.put(item("b"))
    await trial.until(lambda: trial.reason(NAMESPACED, "a") == "Resolved")
    trial.put(item("b", templateVariables=[{"name": "x"}]))
    await trial.until(lambda: trial.reason(NAMESPACED, "a") == "MissingVariable")
    assert "Prerequisite a → ClusterPrerequisite b" in trial.status(NAMESPACED, "a")["conditions"][0]["message"]


async def test_a_cycle_is_shown_as_a_path() -> None:
    trial = Trial(item("a", require=[wants("b")]), item("b", require=[wants("a")]))
    await trial.until(lambda: trial.reason(CLUSTER, "a") == trial.reason(CLUSTER, "b") == "Cycle")
    message = trial.status(CLUSTER, "a")["conditions"][0]["message"]
    assert "ClusterPrerequisite a → ClusterPrerequisite b → ClusterPrerequisite a" in message


async def test_a_status_that_is_right_is_not_written_again() -> None:
    trial = Trial(item("a"))
    await trial.until(lambda: trial.reason(CLUSTER, "a") == "Resolved")
    trial.put(item("b"))
    await trial.until(lambda: trial.reason(CLUSTER, "b") == "Resolved")
    assert [name for verb, _, name in trial.cluster.calls if verb == "patch"] == ["a", "b"]
