"""The page on plugins: its files are a package as its reader would have it; what it shows is what comes out."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.plugins import ENTRY_POINT, Plugin, installed, parse
from tests.installed import forget, on_path
from tests.plugins.crews import crew, drafted, part, pod, reported, variables, wired
from webhook import Path as Place

TEXT = Path("docs/tutorials/writing-a-plugin.md").read_text(encoding="utf-8")
#: The files, each in a fenced block below a line that is its name; and what its commands print.
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```(?:python|toml|yaml)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^```console\n\$ jobgate (.*?)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
LINES = 40


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugin[Any]]:
    """The plugin, found as an installed package's is; its folder is the one in which commands run."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    entries = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][ENTRY_POINT].items())
    record = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    record.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (record / "METADATA").write_text(metadata, encoding="utf-8")
    (record / "entry_points.txt").write_text(f"[{ENTRY_POINT}]\n{entries}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    on_path(tmp_path, monkeypatch)
    yield installed()["scratch"]
    forget()
    sys.modules.pop("scratch", None)


def test_the_plugin_takes_as_few_lines_as_promised() -> None:
    assert sum(bool(line.strip()) for line in FILES["scratch.py"].splitlines()) <= LINES
    assert f"in {LINES} lines of Python" in TEXT
    assert len(re.findall(r"^```\w+$", TEXT, re.MULTILINE)) == len(FILES) + len(COMMANDS)


@pytest.mark.usefixtures("scratch")
def test_what_the_page_shows_is_what_its_commands_print() -> None:
    assert COMMANDS
    for arguments, shown in COMMANDS:
        assert CliRunner().invoke(main, arguments.split()).stdout == shown


def test_it_comes_after_the_built_in_ones(scratch: Plugin[Any]) -> None:
    assert list(installed())[-1] == scratch.name == "scratch"


def test_it_puts_its_folder_into_a_pod_once(scratch: Plugin[Any]) -> None:
    arguments, causes = parse(scratch.arguments, "scratch", {"gigabytes": 20}, Place("spec"))
    assert causes == []
    of = crew(plugins={"scratch": arguments})
    after = wired(pod(), of)
    assert after["spec"]["volumes"] == [{"name": "scratch", "emptyDir": {"sizeLimit": "20Gi"}}]
    assert after["spec"]["containers"][0]["volumeMounts"] == [{"name": "scratch", "mountPath": "/scratch"}]
    assert variables(after) == {"SCRATCH": "/scratch"}
    assert drafted(after, of).patch == []


def test_it_rejects_a_job_whose_volume_is_called_so(scratch: Plugin[Any]) -> None:
    of = crew(part(volumes=frozenset({"scratch"})))
    assert reported(scratch.check(of, scratch.arguments(), Place("spec"))) == [
        "spec: Forbidden: task worker has a volume scratch already: call it something else"
    ]
