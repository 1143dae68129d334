"""What all tests share: the control plane."""

import pytest

pytest_plugins = ["tests.controlplane.fixtures"]


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one control plane in one process, where tests run in several: each would start its own."""
    for item in items:
        planes = [name for name in getattr(item, "fixturenames", ()) if name.endswith("controlplane")]
        if planes:
            item.add_marker(pytest.mark.xdist_group(min(planes, key=len)))
