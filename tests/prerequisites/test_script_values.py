"""From a value that a job gives to what a shell runs: hostile values are rejected, and what is let through is a text."""

import shlex
from pathlib import Path

import pytest

from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.item import Item, item_of
from jobgate.prerequisites.reference import NAMESPACED, Reference
from jobgate.prerequisites.resolve import Resolution, resolve
from jobgate.prerequisites.script import wrapped
from tests.prerequisites.script_shells import NEEDS, SHELLS, argv_of, run, shell_in

pytestmark = NEEDS

#: Values that a shell would read as a command, several words, an option or the end of a quotation.
HOSTILE = [
    "x; touch $OWNED", "x && touch $OWNED", "x | touch $OWNED", "x\ntouch $OWNED", "x\rtouch $OWNED", "$(touch $OWNED)",
    "`touch $OWNED`", "x' ; touch $OWNED ; '", 'x" ; touch $OWNED ; "', "x', 'touch $OWNED", "> $OWNED", "<(touch $OWNED)",
    "${OWNED}", "$OWNED", "*", "?", "[a-z]", "{a,b}", "~", "#", "a b", "it's", "\\", "!", "x\0y", "-rf", "--output=x", "..",
    "/data/../etc", "", "\u2028x", "$(OWNED)",
]  # fmt: skip

QUOTED = ["echo {{ value }}", "echo '{{ value }}'", 'echo "{{ value }}"', "echo a{{ value }}b $(echo {{ value }})"]


def item(*commands: str, pattern: str | None = None) -> Item:
    variable = {"name": "value"} | ({"pattern": pattern} if pattern else {})
    callbacks = [{"event": "taskStarts", "commands": list(commands)}]
    spec = {"templateVariables": [variable], "cmd": {"callbacks": callbacks}}
    return item_of({"metadata": {"name": "item"}, "spec": spec}, NAMESPACED)


def resolved(one: Item, value: str) -> Resolution:
    return resolve([Reference(NAMESPACED, "item", (("value", value),))], lambda *_: one)


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_are_rejected_before_any_shell_sees_them(value: str) -> None:
    assert [problem.reason for problem in resolved(item(*QUOTED), value).problems] == ["InvalidValue"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", ["/dataset/mnist", "30", "a@b.c:1,2=3%+_-", "s3://bucket/..data", "a{{b"])
def test_values_that_are_let_through_are_texts_in_quotes_of_any_sort(shell: str, value: str, tmp_path: Path) -> None:
    resolution = resolved(item(*QUOTED, pattern=None if "{" not in value else r"[a-z{]+"), value)
    assert resolution.problems == ()
    content, problems = content_of(resolution)
    assert problems == []
    argv = argv_of(wrapped({"command": ["true"]}, content.hooks, shell_in(tmp_path, shell)), {"value": "other"})
    assert run(argv).stdout.decode().splitlines() == [value, value, value, f"a{value}b {value}"]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_an_items_own_pattern_lets_through_is_its_authors_and_only_there(shell: str, tmp_path: Path) -> None:
    owned = tmp_path / "owned"
    value = "two words; touch $OWNED"
    content, _ = content_of(resolved(item(f"echo {shlex.quote('{{ value }}')}", pattern=".*"), value))
    argv = argv_of(wrapped({"command": ["true"]}, content.hooks, shell_in(tmp_path, shell)), {})
    assert run(argv, {"OWNED": str(owned)}).stdout.decode() == f"{value}\n"
    assert not owned.exists()
