"""Paths of mounts in a container."""

import pytest

from jobgate.plugins.paths import is_inside


@pytest.mark.parametrize(
    "path", ["/etc/volcano", "/etc/volcano/", "//etc/volcano", "/etc/x/../volcano/a", "/etc//volcano"]
)
def test_what_is_in_a_folder(path: str) -> None:
    assert is_inside(path, "/etc/volcano")


@pytest.mark.parametrize("path", ["/etc", "/etc/volcanoes", "/volcano", "/etc/volcano/..", "/"])
def test_what_is_not(path: str) -> None:
    assert not is_inside(path, "/etc/volcano")
