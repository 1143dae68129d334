"""A file is read again when it changes; one with faults changes nothing."""

import asyncio
import logging
from pathlib import Path

import pytest

from jobgate.runner.queues.admission import Queues
from jobgate.runner.run import reloader_of

ONE, TWO = b"queues: [{name: a}]", b"queues: [{name: a}, {name: b, weight: 3}]"


def test_queues_are_used_when_the_file_changes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    used: list[Queues] = []
    file = tmp_path / "queues.yaml"
    reloader = reloader_of(file, used.append)
    with caplog.at_level(logging.INFO, "jobgate"):
        for content in (ONE, ONE, b"queues: [{name: a, weight: 0}]", b"queues: 2026-13-45", None, b"\xff", TWO, TWO):
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content)
            asyncio.run(reloader.check())
    assert [sorted(each.queues) for each in used] == [["a", "default"], ["a", "b", "default"]]
    invalid = [record for record in caplog.records if record.getMessage() == "invalid queues ignored"]
    assert len(invalid) == 4
    assert "weight" in invalid[0].fields["reason"]  # type: ignore[attr-defined]
