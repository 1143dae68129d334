"""A tutorial and the package that it quotes: installed, and used as its reader would."""

import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import installed


class Tutorial:
    """A page, its package, and the name of its kind.

    Attributes:
        files: the files of the package, each in a fenced block below a line that is its name.
        commands: the commands with what they print, but for those that need a cluster.
    """

    def __init__(self, page: str, package: str, module: str, kind: str) -> None:
        self.text = Path("docs/tutorials", page).read_text(encoding="utf-8")
        self.package, self.module, self.kind = Path(package), module, kind
        block = r"^`([\w./-]+)`\n\n```(?:python|toml|yaml|dockerfile)\n(.*?)^```$"
        self.files: dict[str, str] = dict(re.findall(block, self.text, re.MULTILINE | re.DOTALL))
        self.sessions: list[str] = re.findall(r"^```console\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)
        self.commands = [
            (command, shown)
            for session in self.sessions
            for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
            if not command.startswith("kubectl ")
        ]

    @contextmanager
    def installed(self, site: Path) -> Iterator[CustomKind]:
        """Install the package, and return the kind, found as any installed package's is."""
        uv = Path(sys.executable).with_name("uv")
        flags = ("--quiet", "--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable)
        subprocess.run([uv, "pip", "install", *flags, "--target", site, self.package], check=True)
        with pytest.MonkeyPatch.context() as patch:
            # Another test may have imported the package from its folder.
            for module in self._modules():
                patch.delitem(sys.modules, module)
            patch.syspath_prepend(str(site))
            yield next(kind for kind in installed() if kind.kind == self.kind)
            for module in self._modules():
                del sys.modules[module]

    def _modules(self) -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] == self.module]

    def quotes_its_package(self, unquoted: Iterable[str] = ()) -> None:
        """Check that the page has each file of the package, and each block of the page is one, or is run.

        Of `unquoted` files, it has none or the beginning.
        """
        for name, text in self.files.items():
            written = (self.package / name).read_text(encoding="utf-8")
            assert written.startswith(text) if name in unquoted else written == text, f"{name} and the page differ"
        assert files_of(self.package) == {*self.files, *unquoted, "README.md"}
        blocks = len(re.findall(r"^```\w+$", self.text, re.MULTILINE))
        assert blocks == len(self.files) + len(self.sessions) + self.text.count("\n```sh\n")
        assert self.commands

    def lines(self) -> int:
        """Return the number of lines of its modules, without empty ones."""
        modules = [text for name, text in self.files.items() if name.startswith(f"{self.module}/")]
        return sum(bool(line.strip()) for text in modules for line in text.splitlines())


def files_of(package: Path) -> set[str]:
    """Return the files of a package, without caches."""
    files = {file.relative_to(package) for file in package.rglob("*") if file.is_file()}
    return {str(file) for file in files if not any("cache" in part for part in file.parts)}


def printed(command: str) -> str:
    """Return what a command prints: our own programs run in this process, whose start they would cost otherwise."""
    program, *arguments = shlex.split(command.removesuffix(" 2>/dev/null"))
    if program == "jobgate":
        return CliRunner().invoke(main, arguments).stdout
    if program == "python":
        runpy.run_path(arguments[0])
        return ""
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
