"""The image: what its Dockerfile says, since there is no engine here that could build it."""

import json
import tomllib
from pathlib import Path

import pytest

from jobgate.render.pods import USER


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage, with those before the first stage as a stage of their own."""
    found: list[list[tuple[str, str]]] = [[]]
    for line in Path("Dockerfile").read_text().replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            if word == "FROM":
                found.append([])
            found[-1].append((word, rest.strip()))
    return found


def said(stage: list[tuple[str, str]], word: str) -> list[str]:
    """Return what a stage says with an instruction."""
    return [rest for found, rest in stage if found == word]


def test_the_image_is_made_in_two_stages_and_the_last_has_no_shell() -> None:
    _, build, final = stages()
    assert said(build, "FROM") == ["python:${PYTHON}-slim AS build"]
    assert said(final, "FROM") == ["gcr.io/distroless/${DISTROLESS}"]
    assert not said(final, "RUN")
    assert said(final, "COPY") == ["--from=build /app /app"]


def test_both_stages_have_one_python_and_versions_are_named() -> None:
    arguments = dict(rest.split("=") for rest in said(stages()[0], "ARG"))
    # Debian 12 has Python 3.11: compiled packages of another would not load.
    assert arguments == {"PYTHON": "3.11", "DISTROLESS": "python3-debian12:nonroot"}


def test_the_command_runs_without_a_shell_as_nobody() -> None:
    final = stages()[-1]
    (command,) = said(final, "ENTRYPOINT")
    assert json.loads(command) == ["/usr/bin/python3", "/app/bin/jobgate"]
    assert said(final, "USER") == [f"{USER}:{USER}"]
    assert not said(final, "CMD")


def test_what_is_installed_is_checked_by_its_hash() -> None:
    download, install = said(stages()[1], "RUN")
    assert "--require-hashes" in download
    assert {"--no-index", "--find-links"} <= set(install.split())


@pytest.mark.parametrize(
    "package",
    tomllib.loads(Path("pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
)
def test_each_package_gets_into_the_image(package: str) -> None:
    assert f"{package} {package}" in said(stages()[1], "COPY")
    assert f"!{package}" in Path(".dockerignore").read_text().splitlines()


def test_all_that_is_copied_is_let_through_and_nothing_by_default() -> None:
    ignored = Path(".dockerignore").read_text().splitlines()
    assert "*" in ignored
    copied = {name for rest in said(stages()[1], "COPY") for name in rest.split()[:-1]}
    assert all(f"!{name}" in ignored for name in copied)
    assert all(Path(name).exists() for name in copied)
