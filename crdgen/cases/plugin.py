"""Run files `*.cases.yaml` as tests of pytest.

It is loaded only where a conftest.py at the root asks for it: `pytest_plugins = ["crdgen.cases.plugin"]`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crdgen.cases.model import Case
from crdgen.cases.suite import Suite, UnusableFile


class _CaseFailed(Exception):
    """A case has another verdict than expected; the message has a line for each difference."""


class _File(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each case."""
        try:
            suite = Suite(self.path)
        except UnusableFile as error:
            raise self.CollectError(str(error)) from error
        for case in suite.cases:
            item: pytest.Item = _Item.from_parent(self, name=case.name, suite=suite, case=case)
            yield item


class _Item(pytest.Item):
    """A case."""

    def __init__(self, *, suite: Suite, case: Case, **more: Any) -> None:
        super().__init__(**more)
        self._suite, self._case = suite, case

    def runtest(self) -> None:
        """Fail with all differences from the expected verdict."""
        if problems := self._suite.run(self._case):
            raise _CaseFailed("\n".join(problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the differences; of other exceptions, the traceback."""
        if isinstance(excinfo.value, _CaseFailed):
            return f"{self.path}:{self._suite.line(self._case)}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return file, line counted from 0, and name."""
        return self.path, self._suite.line(self._case) - 1, self.name


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> _File | None:
    """Collect files of cases."""
    if not file_path.name.endswith(".cases.yaml"):
        return None
    file: _File = _File.from_parent(parent, path=file_path)
    return file
