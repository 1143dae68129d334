"""Runs a process for each checkout, and compares their answers."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import orjson

from tests.differential.engine import drawing

#: Number of cases that are sent before their answers are read.
BATCH = 500
_MODULE = "tests.differential.engine.answering"


@dataclass(frozen=True)
class Checkout:
    """A process that reviews cases with the code of a checkout."""

    process: subprocess.Popen[bytes]

    def answers(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        """Yield an answer for each line; both are without a line break.

        Raises:
            RuntimeError: the process has ended.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        writer = Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        for _ in lines:
            answer = self.process.stdout.readline()
            if not answer:
                raise RuntimeError("a checkout does not answer: see its error above")
            yield answer.rstrip(b"\n")
        writer.join()

    def _write(self, lines: Sequence[bytes]) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()


@contextmanager
def started(root: Path) -> Iterator[Checkout]:
    """Start the process of a checkout, with the kind of its `examples/own-kind`.

    It runs the checkout's module `answering`, or ours if it has none.
    """
    ours = Path(__file__).with_name("answering.py")
    theirs = root / ours.relative_to(drawing.ROOT)
    program = ["-m", _MODULE] if theirs.exists() else ["-P", str(ours)]
    with TemporaryDirectory(prefix="jobgate-differential-") as folder:
        record = Path(folder) / "sweepjob-1.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: sweepjob\nVersion: 1\n", encoding="utf-8")
        project = tomllib.loads((root / "examples/own-kind/pyproject.toml").read_text(encoding="utf-8"))["project"]
        entry = f"[jobgate.kinds]\nsweepjob = {project['entry-points']['jobgate.kinds']['sweepjob']}\n"
        (record / "entry_points.txt").write_text(entry, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": f"{root}:{folder}:{root / 'examples' / 'own-kind'}"}
        command = [str(_python(root)), *program]
        with subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(orjson.dumps(drawing.cluster(), option=orjson.OPT_APPEND_NEWLINE))
            try:
                yield Checkout(process)
            finally:
                process.kill()


def _python(root: Path) -> Path:
    """Return the Python of a checkout, or ours if it has no virtual environment."""
    own = root / ".venv" / "bin" / "python"
    return own if own.exists() else Path(sys.executable)


def answers(seed: int, numbers: range, roots: Sequence[Path]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of each case with the answer of each checkout."""
    with ExitStack() as stack:
        checkouts = [stack.enter_context(started(root)) for root in roots]
        for start in range(numbers.start, numbers.stop, BATCH):
            batch = range(start, min(start + BATCH, numbers.stop))
            lines = [orjson.dumps(drawing.case(seed, number)) for number in batch]
            yield from zip(
                batch,
                map(list, zip(*(checkout.answers(lines) for checkout in checkouts), strict=True)),
                strict=True,
            )


def differences(ours: bytes, theirs: bytes) -> Iterator[str]:
    """Yield a line for each difference between two answers."""
    local, remote = orjson.loads(ours), orjson.loads(theirs)
    for call in sorted(local.keys() | remote.keys()):
        here, there = local.get(call), remote.get(call)
        if here == there:
            continue
        if not isinstance(here, dict) or not isinstance(there, dict):
            yield f"{call}: here {here!r}, there {there!r}"
            continue
        for part in sorted(here.keys() | there.keys()):
            yield from _parts(f"{call}, {part}", here.get(part), there.get(part))


def _parts(name: str, here: Any, there: Any) -> Iterator[str]:
    if isinstance(here, list) and isinstance(there, list):
        yield from (f"{name}: only here:  {orjson.dumps(item).decode()}" for item in here if item not in there)
        yield from (f"{name}: only there: {orjson.dumps(item).decode()}" for item in there if item not in here)
        if here != there and all(item in there for item in here) and all(item in here for item in there):
            yield f"{name}: in another order, or another number of times"
    elif here != there:
        yield f"{name}: here {here!r}, there {there!r}"
