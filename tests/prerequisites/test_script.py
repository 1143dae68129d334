import pytest

from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.script import (
    HOOK_LIMIT,
    PROLOGUE,
    SUPERVISOR,
    EventName,
    Hook,
    ScriptError,
    substituted,
    wrapped,
)

EVENTS: tuple[EventName, ...] = ("taskStarts", "taskSucceeds", "taskFails")


def hook(event: EventName = "taskStarts", *commands: str) -> Hook:
    return Hook(event, commands or ("echo $HOME",), "Fail", "Prerequisite/item")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "container",
    [{"command": ["python", "$(A)", "$$"]}, {"command": ["a"], "args": ["", "$x"], "name": "x"}],
)
def test_wrapping_twice_equals_once(event: EventName, container: dict[str, object]) -> None:
    once = wrapped(container, [hook(event), hook(event, "a", "b")])
    assert wrapped(once, [hook(event), hook(event, "a", "b")]) == once


def test_other_hooks_take_the_place_of_those_that_are_there() -> None:
    container = {"command": ["a"], "args": ["b"]}
    assert wrapped(wrapped(container, [hook(each) for each in EVENTS]), [hook()], "bash") == wrapped(
        container, [hook()], "bash"
    )


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "echo", "jobgate", "0", "a"],
        ["sh", "-c", SUPERVISOR.replace("$", "$$"), "other", "0", "a"],
        ["sh", "-c", SUPERVISOR.replace("$", "$$") + "#", "jobgate", "0", "a"],
        ["sh", "-c", SUPERVISOR.replace("$", "$$"), "jobgate", "-1", "a"],
        ["sh", "-c", PROLOGUE.replace("$", "$$"), "jobgate"],
    ],
)
def test_what_only_looks_like_the_wrapper_is_a_command(command: list[str]) -> None:
    assert wrapped({"command": command}, [hook()])["command"][-len(command) :] == command


def test_a_container_without_hooks_stays_as_it_is() -> None:
    assert wrapped({"args": ["a"], "image": "x"}, []) == {"args": ["a"]}


def test_only_the_command_changes_and_every_dollar_of_ours_is_doubled() -> None:
    result = wrapped({"command": ["$(A)"], "args": ["$(B)"]}, [hook("taskStarts", "echo $(date)")])
    *ours, last = result["command"]
    assert (last, result["args"]) == ("$(A)", ["$(B)"])
    assert not any("$" in text.replace("$$", "") for text in ours)


@pytest.mark.parametrize(
    ("container", "one", "expected"),
    [
        ({}, hook(), ProblemReason.COMMAND_REQUIRED),
        ({"args": ["train.py"]}, hook(), ProblemReason.COMMAND_REQUIRED),
        ({"command": []}, hook(), ProblemReason.COMMAND_REQUIRED),
        ({"command": ["a"]}, hook("taskFails", "é" * (HOOK_LIMIT // 2), "x"), ProblemReason.TOO_LARGE),
    ],
)
def test_what_cannot_be_wrapped_is_rejected(container: dict[str, object], one: Hook, expected: ProblemReason) -> None:
    with pytest.raises(ScriptError) as raised:
        wrapped(container, [one])
    assert raised.value.reason is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mkdir {{ path }}", "mkdir /data"),
        ("{{path}}/{{ path }}{{\tn }}m", "/data//data30m"),
        ("{{ other }}", "{{ other }}"),
        ("{{ again }}", "{{ path }}"),
        ("{{.Config}} {{ a-b }} {{ }} { path }", "{{.Config}} {{ a-b }} {{ }} { path }"),
        ("{{{ path }}} {{#path}}x{{/path}}", "{{{ path }}} {{#path}}x{{/path}}"),
        ("{{\npath }}", "{{\npath }}"),
    ],
)
def test_template_variables_are_replaced_once(text: str, expected: str) -> None:
    assert substituted(text, {"path": "/data", "n": "30", "again": "{{ path }}"}) == expected
