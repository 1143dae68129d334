"""The generated pages of commands."""

import re

import crdgen.cli
import jobgate.cli
from website.commands import crdgen_page, jobgate_page


def _sections(page: str) -> set[str]:
    return set(re.findall(r"^## (.+)$", page, re.MULTILINE))


def test_every_command_of_jobgate_has_its_help() -> None:
    wanted = {f"jobgate {name}" for name in jobgate.cli._COMMANDS if name != "crdgen"}
    assert wanted | {"jobgate", "jobgate certs rotate"} <= _sections(jobgate_page())


def test_every_command_of_crdgen_has_its_help() -> None:
    page = crdgen_page()
    assert _sections(page) == {f"python -m crdgen {name}" for name in crdgen.cli._COMMANDS}
    assert page.count("usage: python -m crdgen ") == len(crdgen.cli._COMMANDS) + 1
