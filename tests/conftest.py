"""Shared fixtures, and the distribution of tests over processes."""

import gc
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import pytest

from controlplane import system
from tests.missing import allows_missing, lacking

pytest_plugins = ["controlplane.fixtures"]


#: Fixtures of control planes. Tests that use the first ones start first, because they take longest.
_PLANES = ("faulty_controlplane", "controlplane", "whole_controlplane", "whole_assets", "assets")
#: The webhook that runs jobs. Its tests come after those of the other webhook of the same control plane, so that it
#: restarts only once, and take three quarters of the time of that control plane.
_RUNNING = "running_webhook"


def pytest_xdist_auto_num_workers() -> int:
    """Return two more than the number of cores, since tests with a control plane mostly wait for it."""
    return (os.cpu_count() or 1) + 2


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run the tests of one control plane, and those of one file, in the same process, so that they share fixtures.

    Those with the runner are spread over all processes, file by file: each process that has time starts a control plane
    of its own. The marks are set here because xdist reads them as soon as all tests are collected.
    """
    item.add_marker(pytest.mark.xdist_group(_group(item)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests that use control planes, because they wait most; sorted by control plane."""
    fixtures = defaultdict[str, set[str]](set)
    for item in items:
        fixtures[_group(item)].update(_fixtures(item))
    items.sort(key=lambda item: _order(fixtures[_group(item)]))


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Install the programs that tests need, before several workers start: apt-get has one lock."""
    _install(system.TESTS, config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install the programs that the tests of a single process need, before the first test starts."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        _install({program for item in session.items for program in _needs(item)}, session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test if its programs are missing, with the command that installs them."""
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
    """Exclude the collected tests from garbage collection, which would visit all of them each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop a control plane and its processes after its last test: an idle one uses a fifth of a core."""
    yield
    if not isinstance(item, pytest.Function):
        return
    for name in _planes(item) - _planes(nextitem):
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ()):
            fixture.finish(item._request)  # type: ignore[arg-type]  # any request will do: its node is not asked for


def _group(item: pytest.Item) -> str:
    file, plane = item.nodeid.partition("::")[0], min(_planes(item), key=len, default="")
    return f"{file} {plane}" if _RUNNING in _fixtures(item) else plane or file


def _order(fixtures: set[str]) -> tuple[int, bool]:
    place = next((place for place, name in enumerate(_PLANES) if name in fixtures), len(_PLANES))
    return place, _RUNNING in fixtures


def _planes(item: pytest.Item | None) -> set[str]:
    return {name for name in _fixtures(item) if name.endswith("controlplane")}


def _fixtures(item: pytest.Item | None) -> Sequence[str]:
    return getattr(item, "fixturenames", ())
