"""What all tests share: the control planes, and how tests are spread over processes."""

import gc
import os
from collections.abc import Collection, Iterator, Sequence

import pytest

from controlplane import system
from tests.missing import allows_missing, lacking

pytest_plugins = ["controlplane.fixtures"]


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests of a control plane mostly wait for it."""
    return (os.cpu_count() or 1) + 1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests of one control plane in one process, and those of one file, where tests run in several.

    What they share is made once then. xdist reads these marks as soon as all tests are collected, so that is too late
    to set them.
    """
    file = item.nodeid.partition("::")[0]
    item.add_marker(pytest.mark.xdist_group(min(_planes(item), key=len, default=file)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests of the control planes, the longest groups: those of one follow each other.

    Those with the runner come last, so that the webhook beside them starts with its settings only once.
    """
    items.sort(key=lambda item: (-max(map(len, _planes(item)), default=0), "running_webhook" in _fixtures(item)))


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Install what the tests need of the system once, before several workers start: apt-get has one lock."""
    _install(system.TESTS, config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install what the tests of a single process need, before the first one starts."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        _install({program for item in session.items for program in _needs(item)}, session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose programs are missing, with the command that installs them."""
    machine, needs = system.System(), _needs(item)
    if lacks := machine.lacks(needs, root=any(mark.kwargs.get("root") for mark in item.iter_markers("needs"))):
        lacking(system.message(lacks))


def _needs(item: pytest.Item) -> set[str]:
    return {str(program) for mark in item.iter_markers("needs") for program in mark.args}


def _install(programs: Collection[str], config: pytest.Config) -> None:
    terminal = config.pluginmanager.getplugin("terminalreporter")
    machine = system.System()
    missing = machine.missing(programs)
    if not missing or allows_missing():
        return
    terminal.write_line(f"installing {', '.join(missing)}")
    try:
        machine.install(missing)
    except system.Missing as error:
        terminal.write_line(str(error), red=True)  # the tests that need them fail, with the same message


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what the tests are made of to no garbage collection, now or later: each would go through all of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop a control plane, and what runs beside it, after its last test: an idle one takes a fifth of a core."""
    yield
    if not isinstance(item, pytest.Function):
        return
    for name in _planes(item) - _planes(nextitem):
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ()):
            fixture.finish(item._request)  # type: ignore[arg-type]  # any request will do: its node is not asked for


def _planes(item: pytest.Item | None) -> set[str]:
    return {name for name in _fixtures(item) if name.endswith("controlplane")}


def _fixtures(item: pytest.Item | None) -> Sequence[str]:
    return getattr(item, "fixturenames", ())
