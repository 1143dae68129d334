"""No value of a variable, a command or a Secret is left in an object, a patch or a message, wherever it is repeated."""

import json
from typing import Any

import pytest

from webhook import Invalid, Path, TypeInvalid
from webhook.redaction import _NAMED, _TEXTS, MASK, Redaction, is_plain
from webhook.text import shown

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
HOSTILE = 'q"uo\\te\nline\t\u202e' + "x" * 40


def pod(secret: Any, **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox:1", "env": [{"name": "TOKEN", "value": secret}]}
    return {"metadata": {"name": "pod", **more}, "spec": {"containers": [container]}}


PLACES = [
    {"env": [{"name": "A", "value": "hunter2"}]},
    {"env": {"A": "hunter2"}},
    {"env": ["hunter2"]},
    {"env": "hunter2"},
    {"env": [{"name": "A", "value": {"nested": ["hunter2"]}}]},
    {"command": ["sh", "-c", "hunter2"]},
    {"command": "hunter2"},
    {"args": [["hunter2"], {"a": "hunter2"}]},
    {"livenessProbe": {"exec": {"command": ["hunter2"]}}},
    {"livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}}},
    {"cmd": {"callbacks": [{"event": "taskStarts", "commands": ["hunter2"]}]}},
    {"stringData": {"password": "hunter2"}},
    {"data": {"a": "hunter2"}},
    {"password": "hunter2"},
    {"environment": [{"name": "A", "value": "hunter2"}]},
    {"volumes": [{"csi": {"volumeAttributes": {"a": "hunter2"}}}]},
    {"url": "https://ada:hunter2@data.example.com/a"},
    {"driver": {"envVars": {"PASSWORD": "hunter2"}}},
    {"metadata": {"annotations": {LAST_APPLIED: json.dumps({"env": [{"name": "A", "value": "hunter2"}]})}}},
    {"metadata": {"managedFields": [{"fieldsV1": {'v:"hunter2"': {}}}]}},
    {"status": {"message": "hunter2"}},
]


@pytest.mark.parametrize("part", PLACES, ids=lambda part: json.dumps(part)[:60])
def test_a_secret_place_is_masked_at_any_depth(part: dict[str, Any]) -> None:
    document = {"kind": "Crew", "spec": {"parts": [{"template": {"spec": part}}], **part}, **part}
    assert "hunter2" not in json.dumps(Redaction(document).masked(document))


@pytest.mark.parametrize("part", PLACES[:18], ids=lambda part: json.dumps(part)[:60])
def test_the_patch_of_a_secret_place_is_masked_and_never_plain(part: dict[str, Any]) -> None:
    for path, value in (("/spec", part), *((f"/spec/template/{key}", child) for key, child in part.items())):
        operations = [{"op": "add", "path": path, "value": value}]
        assert not is_plain(json.dumps(operations).encode())
        assert "hunter2" not in json.dumps(Redaction().patch(operations))


@pytest.mark.parametrize("path", ["/spec/env/0/value", "/spec/env/-", "/a/command/1", "/a/args/-", "/spec/envVars/A"])
def test_a_patch_into_a_secret_place_is_masked(path: str) -> None:
    for value in ("hunter2", {"name": "A", "value": "hunter2"}, ["hunter2"]):
        masked = Redaction().patch([{"op": "add", "path": path, "value": value}])
        assert "hunter2" not in json.dumps(masked)
        assert masked[0]["path"] == path


def test_every_name_of_a_secret_place_makes_a_patch_not_plain() -> None:
    assert [name for name in _TEXTS | _NAMED if is_plain(name.encode())] == []
    assert is_plain(b'[{"op":"add","path":"/spec/tasks/0/replicas","value":1}]')


@pytest.mark.parametrize(
    "secret", ["hunter2", "ab", HOSTILE, "y" * 5000, "…", "a…b", '"', 17, 1.5, True], ids=range(10)
)
def test_a_message_that_quotes_a_value_is_masked(secret: Any) -> None:
    redaction = Redaction(pod(secret))
    forms = {shown(secret), json.dumps(secret), str(secret)} if isinstance(secret, str) else {shown(secret)}
    for path in ("spec.containers[0].env[0].value", "metadata.name"):
        for cause in (Invalid(path, secret, "must be right"), TypeInvalid(path, pod(secret), "must be a string")):
            text = redaction.message(cause.message, cause.path.steps)
            if isinstance(secret, str):
                assert not any(form in text for form in forms if len(form) > 1)
                assert not any(secret[:size] in text for size in range(8, len(secret)))
            assert text.startswith("Invalid value: ")
            assert path != "metadata.name" or text.endswith(("must be right", "must be a string"))


@pytest.mark.parametrize("detail", ["d" * 900, "d" * 2000], ids=len)
def test_a_value_that_a_message_cuts_leaves_no_part_of_it(detail: str) -> None:
    secret = "-".join(f"{number:03}" for number in range(100))
    for start in range(0, 1400, 37):
        text = Invalid("metadata.name", "x", f"{'s' * start}{secret}{detail}").message
        masked = Redaction(pod(secret)).message(text)
        assert not any(secret[at : at + 8] in masked for at in range(len(secret) - 8))


def test_a_value_in_an_annotation_or_a_long_text_is_masked_however_it_is_escaped() -> None:
    secret = 'p"ss\\word'
    twice = json.dumps(json.dumps({"copy": secret}))
    document = pod(secret, annotations={"a": secret, "b": f"x{secret}x", "c": twice, "kept": "fine"})
    document["spec"]["note"] = "n" * 50 + secret
    masked = Redaction(document).masked(document)
    assert masked["metadata"]["annotations"] == {"a": MASK, "b": MASK, "c": MASK, "kept": "fine"}
    assert masked["spec"]["note"] == MASK


def test_a_private_key_is_masked_wherever_it_is() -> None:
    document = {"spec": {"plugins": {"ssh": ["--key=-----BEGIN RSA PRIVATE KEY-----"]}}}
    assert Redaction(document).masked(document) == {"spec": {"plugins": {"ssh": [MASK]}}}
    assert "RSA" not in Redaction().message("Invalid value: -----BEGIN RSA PRIVATE KEY-----")


def test_values_of_the_stored_object_are_masked_too() -> None:
    assert "hunter2" not in Redaction(pod("new"), pod("hunter2")).message('was "hunter2"')


def test_names_stay_readable_and_so_do_shapes() -> None:
    document = pod("worker")
    document["spec"]["containers"][0] |= {"name": "worker", "args": ["worker", "--lr", "0.1"]}
    redaction = Redaction(document)
    assert redaction.message('Duplicate value: "worker"') == 'Duplicate value: "worker"'
    masked = redaction.masked(document)["spec"]["containers"][0]
    assert (masked["name"], masked["args"]) == ("worker", [MASK] * 3)
    assert masked["env"] == [{"name": "TOKEN", "value": MASK}]


def test_a_reference_to_a_secret_is_no_secret() -> None:
    reference = {"secretKeyRef": {"name": "tokens", "key": "hub"}}
    env = [{"name": "TOKEN", "valueFrom": reference}]
    assert Redaction().masked({"env": env}) == {"env": env}


def test_messages_quote_nothing_if_there_are_too_many_values() -> None:
    document = {"command": [f"value-{number}" for number in range(501)]}
    redaction = Redaction(document)
    assert redaction.message('Invalid value: "value-7": wrong') == f"{MASK} (quotes a value that is not kept)"
    assert redaction.message("must be at least 1") == "must be at least 1"


def test_a_message_at_a_secret_place_quotes_nothing() -> None:
    steps = Path("spec.containers[0].env[0].value").steps
    assert Redaction().message('Invalid value: "of a default": must be "right"', steps) == (
        f'Invalid value: "{MASK}": must be "{MASK}"'
    )
