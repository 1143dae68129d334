"""What all tests share: the control plane."""

import pytest

pytest_plugins = ["tests.controlplane.fixtures"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of one control plane in one process, where tests run in several: each would start its own.

    xdist reads these marks as soon as all tests are collected, so that is too late to set them.
    """
    planes = [name for name in getattr(item, "fixturenames", ()) if name.endswith("controlplane")]
    if planes:
        item.add_marker(pytest.mark.xdist_group(min(planes, key=len)))
