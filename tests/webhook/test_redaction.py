"""What may be secret is left in no object, patch or message; what a denial is about stays readable."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook import Cause, Forbidden, Invalid, Notice, NotSupported, Path, TypeInvalid
from webhook.redaction import MASK, MOST, Redaction
from webhook.text import MESSAGE_LIMIT, shown

SECRET = "hunter2-is-secret"
HOSTILE = 'q"uo\\te\nline\t\u202e' + "x" * 40
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"

#: Places of a secret in a pod, in an object of a known kind and in one that nobody knows.
PLACES: list[Any] = [
    {"env": [{"name": "A", "value": SECRET}]},
    {"env": [{"name": "A", "name2": SECRET, "image": SECRET, "db_name": SECRET}]},
    {"env": {"A": SECRET, "name": SECRET}},
    {"env": [SECRET]},
    {"env": SECRET},
    {"env": [{"name": "A", "value": {"nested": [SECRET]}}]},
    {"env": [{"name": f"A={SECRET}"}]},
    {"initContainers": [{"env": [{"name": "A", "value": SECRET}]}]},
    {"envFrom": [{"prefix": SECRET}]},
    {"envVars": {"name": SECRET}},
    {"environment": [{"name": "A", "value": SECRET}]},
    {"variables": [{"key": "A", "value": SECRET}]},
    {"runtimeEnv": {"pip": SECRET}},
    {"command": ["sh", "-c", SECRET]},
    {"command": SECRET},
    {"ephemeralContainers": [{"command": [SECRET]}]},
    {"args": [[SECRET], {"name": SECRET}]},
    {"args": [{SECRET: None}]},
    {"args": {"name": SECRET}},
    {"livenessProbe": {"exec": {"command": [SECRET]}}},
    {"livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}}},
    {"livenessProbe": {"httpGet": {"path": f"/a?token={SECRET}"}}},
    {"cmd": {"callbacks": [{"event": "taskStarts", "commands": [SECRET]}]}},
    {"script": SECRET},
    {"stringData": {"password": SECRET, "name": SECRET}},
    {"data": {"name": SECRET}},
    {"password": SECRET},
    {"secret": SECRET},
    {"credentials": {"name": SECRET, "type": SECRET}},
    {"databaseUserName": SECRET, "username": SECRET},
    {"apiKey": SECRET, "sshKey": SECRET, "token": SECRET},
    {"volumes": [{"csi": {"volumeAttributes": {"name": SECRET}}}]},
    {"volumes": [{"flexVolume": {"options": {"type": SECRET}}}]},
    {"url": f"https://ada:{SECRET}@data.example.com/a"},
    {"image": f"https://ada:{SECRET}@registry.example.com/a"},
    {"image": f"ada:{SECRET}@registry.example.com/a"},
    {"path": f"https://ada:{SECRET}@data.example.com"},
    {"name": f"{KEY} {SECRET}"},
    {"plugins": {"ssh": [f"--key={SECRET}"]}},
    {"metadata": {"annotations": {"name": SECRET}}},
    {"metadata": {"labels": {"x": SECRET}}},
    {"metadata": {"managedFields": [{"fieldsV1": {f"v:{SECRET}": {}}}]}},
    {"status": {"name": SECRET}},
    {"licence": SECRET, "whatever": [SECRET, {"deep": SECRET}]},
    {f"--password={SECRET}": None, f"odd {SECRET}": None},
    {"odd name": SECRET, "odd": {"odd=kind": [SECRET]}},
]

#: What users look for in a denial.
READABLE = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "team", "generation": 3},
    "spec": {
        "minAvailable": -1,
        "queue": "research",
        "suspend": False,
        "policies": [{"action": "RestartJob", "events": ["PodFailed", "*"], "timeout": "5m", "exitCode": 3}],
        "tasks": [
            {
                "name": "My Worker",
                "replicas": 2.5,
                "dependsOn": {"name": ["ps"], "iteration": None},
                "template": {
                    "spec": {
                        "restartPolicy": "Sometimes",
                        "priorityClassName": "high",
                        "imagePullSecrets": [{"name": "pull"}],
                        "containers": [
                            {
                                "name": "main",
                                "image": f"registry.example.com:5000/a/b:v1.2@sha256:{'0f' * 32}",
                                "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "hub", "optional": True}}}],
                                "envFrom": [{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "hub"}}],
                                "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}],
                                "resources": {"limits": {"cpu": "100m", "example.com/gpu": 1, "memory": "a lot"}},
                                "volumeMounts": [{"mountPath": "/data", "subPath": "a/b"}],
                            }
                        ],
                        "volumes": [{"secret": {"secretName": "hub"}}, {"configMap": {"name": "settings"}}],
                    }
                },
            }
        ],
    },
}  # fmt: skip


def pod(secret: Any, **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox:1", "env": [{"name": "TOKEN", "value": secret}]}
    return {"metadata": {"name": "pod", **more}, "spec": {"containers": [container]}}


def message(document: Any, finding: Notice) -> str:
    redaction = Redaction()
    redaction.masked(document)
    return str(redaction.finding("rule", finding)["message"])


@pytest.mark.parametrize("part", PLACES, ids=lambda part: json.dumps(part)[:60])
def test_a_secret_is_masked_at_any_depth(part: dict[str, Any]) -> None:
    document = {"kind": "Crew", "spec": {"parts": [{"template": {"spec": part}}], **part}, **part}
    assert SECRET not in json.dumps(Redaction().masked(document))


@pytest.mark.parametrize("part", PLACES, ids=lambda part: json.dumps(part)[:60])
def test_the_patch_of_a_secret_is_masked(part: dict[str, Any]) -> None:
    for path, value in (("/spec", part), *((f"/spec/template/{key}", child) for key, child in part.items())):
        operations = [{"op": "add", "path": path, "value": value}, {"op": "remove", "path": path}]
        assert SECRET not in json.dumps(Redaction().patch(operations))


@pytest.mark.parametrize("path", ["/spec/env/0/value", "/spec/env/-", "/a/command/1", "/a/args/-", "/spec/envVars/A"])
def test_a_patch_into_a_secret_place_is_masked(path: str) -> None:
    for value in (SECRET, {"name": "A", "value": SECRET}, [SECRET]):
        masked = Redaction().patch([{"op": "add", "path": path, "value": value, "from": SECRET}])
        assert SECRET not in json.dumps(masked)
        assert masked[0]["path"] == path


def test_numbers_and_flags_are_masked_where_texts_are_secret() -> None:
    document = {"env": [{"name": "PIN", "value": 1234}], "password": 1234, "args": [1234, True], "tokens": {"a": 1234}}
    assert "1234" not in json.dumps(Redaction().masked(document))


def test_what_users_look_for_stays_readable() -> None:
    assert Redaction().masked(READABLE) == READABLE
    for path, value in (("/spec/tasks/0/name", "a"), ("/spec/tasks/0", {"name": "a", "replicas": 1})):
        operation = {"op": "add", "path": path, "value": value}
        assert Redaction().patch([operation]) == [operation]


def test_the_shape_of_what_is_masked_stays() -> None:
    part = {"command": ["a", ["b"]], "env": {"A": {"b": 1}}, "note": None}
    assert Redaction().masked(part) == {"command": [MASK, [MASK]], "env": {"A": {"b": MASK}}, "note": None}


@pytest.mark.parametrize("secret", [SECRET, "ab", HOSTILE, "y" * 5000, "…", "a…b", '"', "1234"], ids=range(8))
def test_a_message_that_quotes_a_value_is_masked(secret: str) -> None:
    for path in ("spec.containers[0].env[0].value", "metadata.name", "spec"):
        for finding in (
            Invalid(path, secret, "must be right"),
            TypeInvalid(path, pod(secret), "must be right"),
            Forbidden(path, f"from {shown(secret)} to {shown([secret])}: must be right"),
            Notice(path, f"Invalid value: {shown(pod(secret))}: must be right"),
        ):
            text = message(pod(secret), finding)
            assert not any(form in text for form in (shown(secret), json.dumps(secret), secret) if len(form) > 1)
            assert not any(secret[:size] in text for size in range(4, len(secret)))
            assert text.endswith("must be right")


@pytest.mark.parametrize("detail", ["d" * 900, "d" * 2000], ids=len)
def test_a_value_that_a_message_cuts_leaves_no_part_of_it(detail: str) -> None:
    secret = "-".join(f"{number:03}" for number in range(100))
    for start in range(0, 1400, 37):
        masked = message(pod(secret), Invalid("metadata.name", "x", f"{'s' * start}{secret}{detail}"))
        assert not any(secret[at : at + 8] in masked for at in range(len(secret) - 8))


@pytest.mark.parametrize(
    "finding, expected",
    [
        (Invalid("spec.tasks[0].name", "My Worker", "must be a DNS label"), 'Invalid value: "My Worker": must be a DNS label'),
        (Invalid("spec.tasks[0].replicas", -1, "must be at least 0"), "Invalid value: -1: must be at least 0"),
        (Invalid("spec.tasks[0].command", ["a"], "must be b"), f'Invalid value: ["{MASK}"]: must be b'),
        (TypeInvalid("spec.env", [{"name": "A", "value": "x"}], "must be b"), f'Invalid value: [{{"name": "A", "value": "{MASK}"}}]: must be b'),
        (Notice("spec", 'tasks "ps" and "secret"'), f'tasks "ps" and "{MASK}"'),
        (Notice("name", 'from "a" to "b"'), 'from "a" to "b"'),
        (Notice("name", 'is {"x": "a"}'), f'is {{"{MASK}": "{MASK}"}}'),
        (Notice("spec.args", 'no "ps"'), f'no "{MASK}"'),
        (NotSupported("spec.note", "x", ["a", "b"]), f'Unsupported value: "{MASK}": supported values: "a", "b"'),
        (Notice("spec", "https://ada:x@example.com fails"), f"https://{MASK}example.com fails"),
        (Notice("spec", f"{KEY} is no name"), MASK),
        (Notice("spec", "x " * MESSAGE_LIMIT), "message not kept: it is too long, or the object has too many texts"),
    ],
)  # fmt: skip
def test_messages(finding: Notice, expected: str) -> None:
    assert message({"name": "ps"}, finding) == expected


def test_a_value_that_equals_a_name_is_only_readable_as_the_name() -> None:
    document = pod("main", annotations={"a": "main"})
    redaction = Redaction()
    masked = redaction.masked(document)
    assert json.dumps(masked).count("main") == 1
    assert "main" not in message(document, Invalid("spec.containers[0].env[0].value", "main"))
    assert message(document, Invalid("spec.containers[0].name", "main", "x")) == 'Invalid value: "main": x'


def test_the_path_of_a_finding_has_no_secret() -> None:
    finding = Cause(Path("spec").key(f"--password={SECRET}") / "a", "unknown field")
    found = Redaction().finding("rule", finding)
    assert (repr(found["field"]), found["steps"]) == (repr(f"spec.{MASK}.a"), ["spec", MASK, "a"])


def test_messages_are_not_kept_if_there_are_too_many_values() -> None:
    few, many = ({"command": [f"value-{number}" for number in range(count)]} for count in (MOST, MOST + 1))
    assert message(few, Notice("spec", "reads value-7")) == f"reads {MASK}"
    assert message(many, Notice("spec", "reads value-7")).startswith("message not kept")


WORDS = st.sampled_from(["metadata", "spec", "tasks", "containers", "env", "args", "data", "labels", "name", "x"])
#: Shorter than a secret.
UNKNOWN = st.text("abcNTYPE_.-", max_size=6).map(lambda text: f"{text}0")
#: Without letters that each word of the findings below has.
CHARACTERS = st.characters(exclude_characters="ei", exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, min_size=8, max_size=300).filter(lambda text: len(set(text)) > 4)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), TEXT)
def test_no_part_of_a_text_in_an_unknown_field_is_left(data: st.DataObject, secret: str) -> None:
    steps = [*data.draw(st.lists(WORDS | st.just(0), max_size=6)), data.draw(UNKNOWN)]
    document: Any = secret
    for step in reversed(steps):
        document = [document] if step == 0 else {step: document}
    place = data.draw(st.lists(WORDS | UNKNOWN | st.integers(0, 2), max_size=5))
    redaction = Redaction()
    kept = [redaction.masked(document)]
    kept += redaction.patch([{"op": "add", "path": "/" + "/".join(map(str, steps)), "value": secret}])
    path = Path()
    for step in place:
        path = path / step
    for finding in (
        Invalid(path, secret, "detail"),
        TypeInvalid(path, document, "detail"),
        Notice(path, f"reads {shown(secret)} of {shown(document)}"),
        Forbidden(path, f"from {shown(document)} to {shown(secret)}"),
    ):
        kept.append(redaction.finding("rule", finding))
    text = json.dumps(kept, ensure_ascii=False)
    assert secret not in text
    assert not any(secret[at : at + 8] in text for at in range(len(secret) - 7) if secret[at : at + 8].isalnum())
