"""The file of queues is read again when it changes; one with faults changes nothing."""

import logging
from pathlib import Path

import pytest

from jobgate.runner.queues import Queues
from jobgate.runner.reload import Reloader

ONE, TWO = b"queues: [{name: a}]", b"queues: [{name: a}, {name: b, weight: 3}]"


def test_queues_are_used_when_the_file_changes(caplog: pytest.LogCaptureFixture) -> None:
    used: list[Queues] = []
    reloader = Reloader(Path("queues.yaml"), used.append)
    with caplog.at_level(logging.INFO, "jobgate"):
        for content in (ONE, ONE, b"queues: [{name: a, weight: 0}]", b"queues: 2026-13-45", None, b"\xff", TWO, TWO):
            reloader.look(content)
    assert [sorted(one.queues) for one in used] == [["a", "default"], ["a", "b", "default"]]
    invalid = [one for one in caplog.records if one.message == "invalid queues ignored"]
    assert len(invalid) == 4
    assert "weight" in invalid[0].fields["reason"]  # type: ignore[attr-defined]
