"""Each extra of the distribution runs the commands that its name promises, with nothing else installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from jobgate.cli.extras import import_fault

_ROOT = Path(__file__).resolve().parents[2]
#: Runs commands, one after the other, where the import path holds the standard library and one folder.
_RUN = """
import json, sys
sys.path[:0] = [sys.argv[1]]
from click.testing import CliRunner
from jobgate.cli import main
done = [CliRunner().invoke(main, command, prog_name="jobgate") for command in json.loads(sys.argv[2])]
print(json.dumps([(one.exit_code, one.output, repr(one.exception)) for one in done]))
"""


class Answer(NamedTuple):
    """The result of a command."""

    code: int
    output: str
    error: str


def _required(name: str, extras: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the distributions that a distribution requires, directly or indirectly."""
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            if not requirement.name.startswith("jobgate"):  # ours are linked from the checkout
                yield requirement.name
            yield from _required(requirement.name, frozenset(requirement.extras))


def _installed(folder: Path, *extras: str) -> Path:
    """Return a folder with what `pip install jobgate[extras]` would install, as links."""
    names = {*_required("jobgate"), *(_required("jobgate", frozenset(extras)) if extras else ())}
    for name in names:
        for file in distribution(name).files or ():
            top = file.parts[0]
            if top in {"..", "__pycache__"}:
                continue
            source, link = Path(str(distribution(name).locate_file(top))), folder / top
            if source.is_dir() and not link.exists():
                link.mkdir()
            if not source.is_dir() and not link.exists():
                link.symlink_to(source)
            if source.is_dir() and len(file.parts) > 1:
                inner = link / file.parts[1]
                if not inner.exists() and not inner.is_symlink() and (source / file.parts[1]).exists():
                    inner.symlink_to(source / file.parts[1])
    for package in ("crdgen", "webhook", "certs", "jobgate"):
        (folder / package).symlink_to(_ROOT / package)
    return folder


def _run(folder: Path, *commands: Sequence[str]) -> list[Answer]:
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUN, str(folder), json.dumps(commands)],
        cwd=_ROOT,
        env={"PATH": "/usr/bin:/bin", "KUBECONFIG": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return [Answer(*load) for load in json.loads(result.stdout)]


#: A command, the extras with which it runs, and what it then says; none of these reaches a cluster.
_COMMANDS = [
    (("review", "examples/dijob/with-tasks.yaml"), {"", "server", "certs", "cluster", "all"}, "allowed"),
    (("manifests",), {"", "server", "certs", "cluster", "all"}, "kind: CustomResourceDefinition"),
    (("crdgen", "lint", "manifests/chart/jobgate/files/crds/mxnet.mlkube.io_mxjobs.yaml"), {"", "server", "certs", "cluster", "all"}, ""),
    (("certs", "issue", "--secret"), {"certs", "all"}, "kind: Secret"),
    (("certs", "status", "--kubeconfig", "tests/cli/__init__.py"), {"all"}, ""),
    (("audit", "--kubeconfig", "tests/cli/__init__.py"), {"cluster", "all"}, "cluster cannot be reached"),
    (("fit", "--kubeconfig", "tests/cli/__init__.py"), {"cluster", "all"}, "cluster cannot be reached"),
    (("serve", "--tls-cert", "README.md", "--tls-key", "README.md"), {"server", "all"}, "cannot be served"),
    (("control", "--lease-namespace", "x", "--kubeconfig", "tests/cli/__init__.py"), {"all"}, ""),
    (("run", "--run", "torchjobs.train.distributed.io", "--lease-namespace", "x", "--kubeconfig", "tests/cli/__init__.py"), {"all"}, ""),
    (("doctor", "--kubeconfig", "tests/cli/__init__.py"), {"all"}, ""),
]  # fmt: skip


@pytest.fixture(scope="module", params=["", "server", "certs", "cluster", "all"])
def extra(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Answer]]:
    """An extra, and what comes of each command where only it is installed."""
    name = str(request.param)
    folder = _installed(tmp_path_factory.mktemp("extra"), *filter(None, [name]))
    return name, _run(folder, *(arguments for arguments, _, _ in _COMMANDS))


@pytest.mark.parametrize("index", range(len(_COMMANDS)), ids=[" ".join(each[0][:2]) for each in _COMMANDS])
def test_an_extra_runs_its_commands_and_others_name_the_extra_that_they_need(
    extra: tuple[str, list[Answer]], index: int
) -> None:
    (name, answers), (_, extras, result) = extra, _COMMANDS[index]
    code, output, error = answers[index]
    assert error == "None" or error.startswith("SystemExit("), error
    if name in extras:
        assert result in output
        assert "resource not installed" not in output
    else:
        assert (code, "is not installed: pip install 'jobgate[" in output) == (2, True)


@pytest.mark.parametrize(
    ("package", "extras", "named"),
    [
        ("cryptography", "server,certs,cluster", "certs"),
        ("kubernetes.client", "server,cluster", "cluster"),
        ("aiohttp", "server", "server"),
        ("aiohttp", "server,cluster", "server,cluster"),
        ("prometheus_client", "all", "server"),
        ("opentelemetry", "server", "traces"),
    ],
)
def test_only_the_extra_that_has_the_package_is_named(package: str, extras: str, named: str) -> None:
    fault = import_fault(ImportError(name=package), extras)
    assert fault is not None
    assert fault.message.endswith(f"pip install 'jobgate[{named}]'")


def test_a_package_that_another_distribution_has_overwritten_is_named_and_repaired(tmp_path: Path) -> None:
    folder = _installed(tmp_path, "all")
    (folder / "certs").unlink()
    (folder / "certs").mkdir()
    (folder / "certs" / "__init__.py").write_text("")
    other = folder / "certs-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: certs\nVersion: 1.0\n")
    (other / "top_level.txt").write_text("certs\n")
    (other / "RECORD").write_text("certs/__init__.py,,\n")
    (answer,) = _run(folder, ["certs", "issue", "--secret"])
    assert answer.code == 2
    assert "'certs' of jobgate has been overwritten by certs" in answer.output
    assert "pip uninstall certs" in answer.output
