"""Objects from entry points of installed packages."""

from importlib import metadata
from typing import Any

import pytest

from jobgate import packages
from jobgate.packages import Unusable, provided


def entry(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry_point = metadata.EntryPoint("mine", value, "things")
    monkeypatch.setattr(packages, "may_provide", lambda _: True)
    monkeypatch.setattr(metadata, "entry_points", lambda **_: [entry_point])


def test_an_entry_point_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    entry(monkeypatch, "math:pi")
    assert provided("things", float) == [3.141592653589793]


@pytest.mark.parametrize(
    ("value", "wanted", "fault"),
    [
        ("math:tau_and_pi", float, "cannot be loaded: AttributeError: module 'math' has no attribute 'tau_and_pi'"),
        ("no_such_module:x", float, "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("math:pi", int, "must be a int, not a float"),
    ],
)
def test_an_unusable_entry_point_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch, value: str, wanted: type[Any], fault: str
) -> None:
    entry(monkeypatch, value)
    with pytest.raises(Unusable) as error:
        provided("things", wanted)
    assert str(error.value) == f"{value}, the entry point mine of things, {fault}"
