"""Files of OpenPAI that stand for far more than they say, or that are slow to read."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from crdgen.cli import sources
from jobgate.cli import main

IMAGE = "prerequisites: [{type: dockerimage, name: i, uri: example.org/i}]\n"
ROLE = "dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: 8, gpu: 0}"
HOOK = "plugin: cmd, callbacks: [{event: taskStarts, commands: [make]}]"
TOO_MUCH = "would be more than 20 times as long as the file"
ALIASES = "aliases expand to far more than is written"


def nested(levels: int) -> str:
    """A list of five lists of five lists, and so on."""
    lists = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 5)}]\n" for level in range(1, levels)]
    return "a0: &a0 [echo, echo]\n" + "".join(lists)


def stored(count: int) -> str:
    """A job of task roles that all have all storages of the job."""
    claims = ", ".join(f"{{name: c{index}}}" for index in range(count))
    roles = "".join(f"  r{index}: {{{ROLE}, commands: [a]}}\n" for index in range(count))
    return f"name: j\n{IMAGE}extras: {{storages: [{claims}]}}\ntaskRoles:\n{roles}"


def referred(count: int) -> str:
    """A job of task roles that all name all prerequisites of the job."""
    items = ", ".join(f"{{name: n{index}, {HOOK}}}" for index in range(count))
    names = ", ".join(f"n{index}" for index in range(count))
    roles = "".join(f"  r{index}: {{{ROLE}, commands: [a], prerequisites: [{names}]}}\n" for index in range(count))
    return f"name: j\n{IMAGE}extras: {{reference_prerequisites: [{items}]}}\ntaskRoles:\n{roles}"


def scripted(command: str) -> str:
    return f"name: j\n{IMAGE}parameters: {{p: {'x' * 2_000}}}\ntaskRoles:\n  r: {{{ROLE}, commands: ['{command}']}}\n"


@pytest.mark.parametrize(
    ("case", "text", "expected"),
    [
        ("aliases of aliases", f"{nested(9)}name: x\nplugin: cmd\nrequire: *a8\n", ALIASES),
        ("a callback", "name: x\nplugin: cmd\ncallbacks:\n- &c {event: taskStarts, commands: [make]}\n" + "- *c\n" * 50_000, "must have at most 32 items"),
        ("an item", f"- &a {{name: x, {HOOK}}}\n" + "- *a\n" * 18_000, TOO_MUCH),
        ("storages of task roles", stored(400), TOO_MUCH),
        ("parameters", scripted("<% $parameters.p %>" * 1_000), TOO_MUCH),
        ("faults", f"m: &m {{{', '.join(f'k{index}: []' for index in range(20))}}}\nname: x\nrequire:\n- &r {{name: item, template_variables: *m}}\n" + "- *r\n" * 8_000, TOO_MUCH),
        ("a role named in full", f"name: j\n{IMAGE}taskRoles: {{{'r' * 900}: {{{ROLE}, commands: []}}}}", "must have at least one command"),
    ],
    ids=lambda value: value if len(value) < 40 else "",
)  # fmt: skip
def test_what_stands_for_far_more_than_it_says_is_rejected(case: str, text: str, expected: str) -> None:
    done = CliRunner().invoke(main, ["import", "openpai", "-"], input=text)
    assert (done.exit_code, done.stdout) == (2, ""), case
    assert expected in done.stderr
    assert len(done.stderr) < 20_000


def test_what_is_repeated_within_reason_is_imported() -> None:
    text = (
        f"{stored(20)}---\nname: x\nx: &c {{event: taskStarts, commands: [make]}}\nplugin: cmd\ncallbacks: [*c, *c]\n"
    )
    done = CliRunner().invoke(main, ["import", "openpai", "-"], input=text)
    assert (done.exit_code, done.stdout.count("claimName: c19"), done.stdout.count("- make")) == (0, 20, 2)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("braces and blanks", lambda size: "a: {{" + " " * size + "x"),
        ("braces and comments", lambda size: "a: {{" + " # }}" * (size // 5)),
        ("lines of braces", lambda size: "a: {{ }}\n" * (size // 9)),
        ("parameters that do not end", lambda size: scripted("<%" * (size // 2))),
        ("references", lambda size: referred(int((size // 10) ** 0.5))),
        ("references to nothing", lambda size: f"name: j\n{IMAGE}taskRoles:\n  r: {{{ROLE}, commands: [a], prerequisites: [{'z, ' * (size // 3)}]}}"),
        ("items left out", lambda size: f"name: j\n{IMAGE}taskRoles: {{r: {{{ROLE}, commands: [a]}}}}\nextras: {{storages: [{'{a: b},' * (size // 7)}]}}"),
    ],
)  # fmt: skip
def test_a_file_ten_times_as_long_takes_about_ten_times_as_long(case: str, text: Callable[[int], str]) -> None:
    def cost(size: int) -> float:
        written = text(size)
        start = time.process_time()
        CliRunner().invoke(main, ["import", "openpai", "-"], input=written)
        return time.process_time() - start

    assert min(cost(100_000) for _ in range(2)) < 40 * max(min(cost(10_000) for _ in range(2)), 0.01), case


@pytest.mark.parametrize("command", [["import", "openpai"], ["review"], ["explain"], ["render"], ["convert"]])
def test_a_file_without_an_end_is_not_read_to_the_end(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 1 << 20)
    done = CliRunner().invoke(main, [*command, "/dev/zero"])
    assert done.exit_code == 2
    assert "allowed" not in done.stdout
    assert "has more than 1 MiB: split it" in done.stderr


def test_values_are_quoted_in_part(tmp_path: Path) -> None:
    file = tmp_path / "item.yaml"
    file.write_text(f"name: x\nplugin: {'p' * 5_000}\nrequire: ['a://{'q' * 5_000}']\n{'k' * 900}: 1\n")
    done = CliRunner().invoke(main, ["import", "openpai", str(file)])
    assert done.exit_code == 2
    assert max(map(len, done.stderr.splitlines())) < 400
