"""Items with data that one pod fetches: their faults, and what they add to pods."""

from typing import Any

import pytest

from jobgate.podchecks.pod_security.checks import violations
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.resolve import resolve
from jobgate.prerequisites.script import FETCH
from tests.prerequisites.items import Known, item, named, starts
from tests.prerequisites.test_inject import injected, pod
from tests.prerequisites.test_review import causes, reviewed
from webhook import Path

CLAIM = {"name": "datasets"}
FETCHED = {"commands": ["curl -O {{ url }}"], "pathVariable": "IMAGENET"}
URL = [{"name": "url", "default": "https://example.com/a"}]


def fetched(**spec: Any) -> dict[str, Any]:
    """Return an item with data to fetch."""
    return item("imagenet", **{"fetch": FETCHED, "pvcStorage": CLAIM, "templateVariables": URL, **spec})


def content(*documents: dict[str, Any], **values: str) -> Injection:
    references = [named(document["metadata"]["name"], **values) for document in documents]
    result, conflicts = content_of(resolve(references, Known(documents).find()))
    assert not conflicts
    return result


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({}, "", ""),
        ({"pvcStorage": None}, "spec.fetch", "Malformed: needs pvcStorage: the claim that keeps the data"),
        (
            {"pvcStorage": {**CLAIM, "readOnly": True}},
            "spec.pvcStorage.readOnly",
            "Malformed: must be false: with fetch",
        ),
        ({"env": [{"name": "IMAGENET", "value": "x"}]}, "spec.env[0].name", "EnvConflict: is fetch.pathVariable, too"),
        (
            {"templateVariables": None},
            "spec.fetch.commands[0]",
            "UndeclaredPlaceholder: url is not in templateVariables",
        ),
        ({"fetch": {**FETCHED, "commands": []}}, "spec.fetch.commands", "must have at least one item"),
        ({"fetch": {"commands": ["x"]}}, "spec.fetch.pathVariable", "Required value"),
        ({"fetch": {**FETCHED, "pathVariable": "a-b"}}, "spec.fetch.pathVariable", 'Invalid value: "a-b"'),
        ({"fetch": {**FETCHED, "timeoutSeconds": 0}}, "spec.fetch.timeoutSeconds", "must be at least 1"),
    ],
)
def test_faults_of_an_item(spec: dict[str, Any], field: str, message: str) -> None:
    (entry,) = reviewed({key: value for key, value in fetched(**spec).items() if value is not None})
    result = causes(entry)
    assert len(result) == bool(field), result
    assert all(cause.startswith(f"{field}: ") and message in cause for cause in result), result


def test_the_data_are_fetched_before_the_hooks_of_the_item_and_after_those_of_required_items() -> None:
    tool = item("tool", cmd=starts("apt install curl"))
    data = fetched(require=[{"name": "tool"}], cmd=starts("ls $IMAGENET"))
    references = [named("imagenet")]
    result, _ = content_of(resolve(references, Known([tool, data]).find()))
    assert [hook.commands for hook in result.hooks] == [
        ("apt install curl",), ("curl -O https://example.com/a",), ("ls $IMAGENET",),
    ]  # fmt: skip
    assert [bool(hook.folder) for hook in result.hooks] == [False, True, False]


def folder(document: dict[str, Any], **values: str) -> str:
    """Return the folder that a pod fetches into."""
    return content(document, **values).hooks[0].folder


def test_the_folder_depends_on_the_generation_and_the_commands_with_their_values() -> None:
    assert folder(fetched()).startswith("/mnt/datasets/imagenet/1-")
    folders = [
        folder(fetched()),
        folder({**fetched(), "metadata": {"name": "imagenet", "generation": 2}}),
        folder(fetched(), url="https://example.com/b"),
        folder(fetched(fetch={**FETCHED, "commands": ["wget {{ url }}"]})),
        folder(fetched(interpreter="bash")),
    ]
    assert len(set(folders)) == len(folders)
    assert folder(fetched()) == folder(fetched(type="data")) == folder(fetched(), url="https://example.com/a")
    assert folder(fetched(pvcStorage={**CLAIM, "mountPath": "/data/"})).startswith("/data/imagenet/1-")


def test_a_pod_gets_the_claim_the_variable_and_the_hook_and_stays_restricted() -> None:
    security = {
        "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    brought = content(fetched())
    after, problems = injected(pod(securityContext=security), brought)
    assert not problems
    (container,) = after["spec"]["containers"]
    place = folder(fetched())
    assert container["env"] == [{"name": "IMAGENET", "value": f"{place}/data"}]
    assert container["volumeMounts"] == [{"name": "pvc-datasets", "mountPath": "/mnt/datasets"}]
    assert container["command"][4:12] == [
        "1", "taskStarts", "Fail", "ClusterPrerequisite/imagenet", "/bin/sh", "curl -O https://example.com/a", place, "3600",
    ]  # fmt: skip
    assert not list(violations(after, Path()))
    assert injected(after, brought) == (after, [])
    plain, _ = injected(after, content(item("a", cmd=starts("x"))))
    assert FETCH.replace("$", "$$") not in plain["spec"]["containers"][0]["command"][2]


def test_no_text_of_an_item_is_part_of_the_script() -> None:
    hostile = fetched(
        fetch={**FETCHED, "commands": ["$(reboot) `reboot` '\""]}, pvcStorage={"name": "a", "mountPath": "/$(b)"}
    )
    after, _ = injected(pod(), content(hostile))
    plain, _ = injected(pod(), content(fetched()))
    assert after["spec"]["containers"][0]["command"][2] == plain["spec"]["containers"][0]["command"][2]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([fetched(), item("b", env=[{"name": "IMAGENET", "value": "/x"}])], "EnvConflict: ClusterPrerequisite b: "),
        ([fetched(fetch={**FETCHED, "commands": ["{{ url }}" * 400] * 10}, templateVariables=[
            {"name": "url", "default": "x" * 1024}])], "TooLarge: the commands of all items have more than"),
    ],
)  # fmt: skip
def test_conflicts_of_items(documents: list[dict[str, Any]], message: str) -> None:
    references = [named(document["metadata"]["name"]) for document in documents]
    _, conflicts = content_of(resolve(references, Known(documents).find()))
    assert next(conflict.message() for conflict in conflicts).startswith(message)


def test_a_container_without_a_command_cannot_fetch() -> None:
    before = pod()
    del before["spec"]["containers"][0]["command"], before["spec"]["containers"][0]["args"]
    assert "CommandRequired: container main: hooks run around a command" in injected(before, content(fetched()))[1][0]
