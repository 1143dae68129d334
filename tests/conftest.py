"""What all tests share: the control plane."""

import os
from collections.abc import Iterator

import pytest

pytest_plugins = ["controlplane.fixtures"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of one control plane in one process, where tests run in several: each would start its own.

    xdist reads these marks as soon as all tests are collected, so that is too late to set them.
    """
    if planes := _planes(item):
        item.add_marker(pytest.mark.xdist_group(min(planes, key=len)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop a control plane, and what runs beside it, after its last test: an idle one takes a fifth of a core.

    Only where tests run in several processes: all tests of a control plane follow each other there.
    """
    yield
    if "PYTEST_XDIST_WORKER" not in os.environ or not isinstance(item, pytest.Function):
        return
    for name in _planes(item) - _planes(nextitem):
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ()):
            fixture.finish(item._request)  # type: ignore[arg-type]  # any request will do: its node is not asked for


def _planes(item: pytest.Item | None) -> set[str]:
    return {name for name in getattr(item, "fixturenames", ()) if name.endswith("controlplane")}
