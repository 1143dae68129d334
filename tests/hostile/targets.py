"""The targets of the fuzzer: each with its inputs, and the properties that all inputs must have."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import jsonpatch
import orjson
from hypothesis import strategies as st

from crdgen.evaluate import evaluate
from crdgen.lint import Severity, lint
from crdgen.reading import UnreadableManifest, read
from jobgate.installation.handbook import title
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from jobgate.podchecks.pod_security.policy import ENFORCE
from tests.differential.objects.mistakes import mistaken, near
from tests.differential.objects.mistakes import places as parts_of
from tests.differential.objects.values import JSON, right
from tests.hostile.costly import blown_up, least, places, schema_of, size_of
from tests.hostile.fuzz import Target
from tests.hostile.requests import envelope
from tests.hostile.shapes import sound_tasks
from tests.kinds.places import at, with_value
from tests.kinds.samples import sample_of, task_places
from tests.pods import test_properties as of_pods
from webhook import Objects, Operation, Phase, Registry, Request, Response, review
from webhook.admission import Malformed
from webhook.server.body import BadRequest, decode
from webhook.values import mapping

KINDS: Final = Registry(built_in())
#: A Status with its warnings, in bytes.
ANSWER: Final = 64 * 1024
#: Bytes of a patch, in base64, for one of the object.
PATCH_PER_BYTE: Final = 16


class Restricted:
    """A cluster in which all namespaces enforce the Pod Security level restricted."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return a namespace."""
        del resource, name, namespace
        return {"metadata": {"labels": {ENFORCE: "restricted"}}}


#: Fields of a pod that the level rejects. No update may add them to a stored job, even to one with other faults.
SMUGGLED: Final[tuple[dict[str, Any], ...]] = (
    {"hostPID": True},
    {"volumes": [{"name": "smuggled", "hostPath": {"path": "/"}}]},
    {"initContainers": [{"name": "smuggled", "image": "x", "securityContext": {"privileged": True}}]},
)


def asked(
    kind: JobKind, document: Any, old: Any = None, phase: Phase = Phase.VALIDATE, objects: Objects | None = None
) -> Response:
    """Return the response to a review, and check that it is of limited size and can be encoded."""
    request = Request(
        uid="1",
        api_version=kind.gvk.api_version,
        kind=kind.kind,
        operation=Operation.CREATE if old is None else Operation.UPDATE,
        namespace="default",
        document=document,
        old_document=old,
    )
    before = copy.deepcopy(document)
    answer = review(request, phase, KINDS, Settings(), objects)
    assert document == before
    written = len(orjson.dumps(answer.to_review()))
    assert written <= ANSWER + (PATCH_PER_BYTE * size_of(document) if answer.patch else 0)
    assert answer.allowed is not bool(answer.causes)
    return answer


def check_review(kind: JobKind, value: Any) -> None:
    """Any object gets a verdict. A patch only adds, can be applied, and a second mutation adds nothing."""
    document, old = value["object"], value.get("old")
    for stored in (None, old):
        asked(kind, document, stored)
        mutation = asked(kind, document, stored, Phase.MUTATE)
        assert {operation["op"] for operation in mutation.patch} <= {"add"}
        if mutation.allowed and isinstance(document, dict):
            mutated = jsonpatch.apply_patch(document, list(mutation.patch))
            assert contains(mutated, document)
            assert not asked(kind, mutated, stored, Phase.MUTATE).patch
            # Validation sets the defaults again: the verdict is the same without the mutation.
            assert asked(kind, mutated, stored).allowed is asked(kind, document, stored).allowed


def contains(mutated: Any, written: Any) -> bool:
    """Return whether an object has all values that were written, and any value instead of null."""
    if written is None:
        return True
    if isinstance(written, dict):
        return isinstance(mutated, dict) and all(
            key in mutated and contains(mutated[key], value) for key, value in written.items()
        )
    if isinstance(written, list):
        return isinstance(mutated, list) and len(mutated) >= len(written) and all(map(contains, mutated, written))
    return type(mutated) is type(written) and bool(mutated == written)


def check_ratchet(kind: JobKind, value: Any) -> None:
    """An update of a stored object is allowed if it changes no spec, or only a harmless field."""
    stored = value["stored"]
    labelled = {**stored, "metadata": {"name": "a", "labels": {"a": "b"}}, "status": {}}
    for phase in Phase:
        assert asked(kind, labelled, stored, phase).allowed
    harmless = sample_of(kind).harmless
    if harmless and isinstance(stored.get("spec"), dict):
        document = kind.schema.default(kind.schema.prune(stored))
        if isinstance(document.get("spec"), dict):
            edited = {**document, "spec": {**document["spec"], **harmless}}
            for phase in Phase:
                assert not asked(kind, edited, document, phase).causes


def check_smuggled(kind: JobKind, value: Any) -> None:
    """No UPDATE gives the pods of a stored job more access to their hosts, whatever faults the job has."""
    stored = value["stored"]
    before = len(orjson.dumps(stored))
    for place in _pods(kind, stored):
        spec = at(stored, place)
        for change in SMUGGLED:
            changed = with_value(stored, place, spec | change)
            answers = [asked(kind, changed, stored, phase, Restricted()) for phase in Phase]
            assert not all(answer.allowed for answer in answers), (place, change)
    assert len(orjson.dumps(stored)) == before


def _pods(kind: JobKind, document: dict[str, Any]) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of the pod specs in a job, except for exempt runtime classes."""
    for place, task in task_places(kind, document):
        spec = mapping(task.get("template")).get("spec")
        if isinstance(spec, dict) and not spec.get("runtimeClassName"):
            yield (*place, "template", "spec")


def check_pod(value: Any) -> None:
    """Any pod gets a response. A second mutation changes nothing, and validation allows the wired pod."""
    for phase in Phase:
        answer = of_pods.ask(value, phase)
        if answer is not None:
            assert len(orjson.dumps(answer.to_review())) <= ANSWER + PATCH_PER_BYTE * size_of(value)
    answer = of_pods.ask(value)
    if answer is not None and answer.allowed and answer.patch:
        wired = jsonpatch.apply_patch(copy.deepcopy(value), list(answer.patch))
        again = of_pods.ask(wired)
        assert again is not None
        assert (list(again.patch), again.allowed) == ([], True)
        passed = of_pods.ask(wired, Phase.VALIDATE)
        assert passed is None or passed.allowed


def check_body(value: Any) -> None:
    """Any bytes are read as an AdmissionReview, or rejected with a short message."""
    message = ""
    try:
        Request.parse(decode(value.encode("utf-8", "surrogatepass")))
    except (BadRequest, Malformed) as error:
        message = str(error)
    assert len(message) < 1000
    assert message.isprintable()


def check_yaml(value: Any) -> None:
    """Any text is objects that can be sent, or unreadable at a place."""
    with suppress(UnreadableManifest):
        for manifest in read(value.encode("utf-8", "surrogatepass"), "file.yaml"):
            json.dumps(manifest.object)


def check_definition(value: Any) -> None:
    """Any CRD is linted; with an accepted CRD, every object gets a verdict."""
    assert all(str(finding) for finding in lint(value["definition"]))
    if not any(finding.severity is Severity.ERROR for finding in lint(value["definition"], strict=False)):
        result = evaluate(value["definition"], value["object"])
        again = evaluate(value["definition"], result.object)
        assert again.object == result.object
        assert not again.pruned


# Inputs


def of_kind(kind: JobKind) -> st.SearchStrategy[Any]:
    """Objects of a kind: sound ones, such with a few mistakes, such with one place blown up."""
    schema = schema_of(kind)
    names = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}
    metadata = st.fixed_dictionaries({"name": st.sampled_from(["a", "a.b", "", "A\n"])}) | JSON
    drawn = st.tuples(near({**schema, "properties": {"spec": schema["properties"]["spec"]}}), metadata).map(
        lambda both: {**both[0], "metadata": both[1], **names} if isinstance(both[0], dict) else both[0]
    )
    large = st.builds(
        lambda way, n: blown_up(kind, way, n), st.sampled_from(places(kind)), st.sampled_from([2, 30, 300])
    )
    return drawn | drawn | drawn | large


def _reviews(kind: JobKind) -> Target:
    inputs = of_kind(kind)
    both = st.fixed_dictionaries({"object": inputs | JSON}, optional={"old": inputs | JSON})
    return Target(both, lambda value: check_review(kind, value))


def _smuggles(kind: JobKind) -> Target:
    """Jobs with every list that their kind has, sound but for a few mistakes; of some, a part of a list is repeated."""
    schema = schema_of(kind)["properties"]["spec"]
    lists = {
        name: [least(child["items"])] for name, child in schema["properties"].items() if child.get("type") == "array"
    }
    sound = sound_tasks(kind, 2)

    @st.composite
    def stored(draw: st.DrawFn) -> dict[str, Any]:
        spec = {**lists, **sound["spec"]}
        for _ in range(draw(st.integers(0, 2))):
            spec = draw(mistaken(schema, spec))
        places = [place.path for place in parts_of(schema, spec) if isinstance(place.value, list) and place.value]
        repeated: bool = draw(st.booleans())
        if places and repeated:
            place: tuple[str | int, ...] = draw(st.sampled_from(places))
            items = at(spec, place)
            spec = with_value(spec, place, [*items, items[-1]])
        return {**sound, "spec": spec}

    return Target(st.fixed_dictionaries({"stored": stored()}), lambda value: check_smuggled(kind, value))


def _ratchets(kind: JobKind) -> Target:
    stored = of_kind(kind).filter(lambda document: isinstance(document, dict))
    return Target(st.fixed_dictionaries({"stored": stored}), lambda value: check_ratchet(kind, value))


#: Texts that YAML libraries read differently.
_SNIPPETS = st.sampled_from(
    [
        "\n---\n",
        "&a ",
        "*a",
        "<<: ",
        "!!binary ",
        "? ",
        ": ",
        "- ",
        "\t",
        "|",
        ">-",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "#",
        "y",
        "0o14",
        "1e3",
        "0x_1",
        "~",
        "2001-01-01",
        "1:30",
        ".inf",
        "\ufeff",
        "\x00",
        "\x85",
        "%YAML 1.1\n",
        "\\u0000",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw the text of an example with something cut out of it or put into it, in a few places."""
    text = draw(
        st.sampled_from([path.read_text(encoding="utf-8") for path in sorted(Path("examples").glob("*/*.yaml"))])
    )
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(text)))
        end = place + draw(st.sampled_from([0, 0, 1, 2, 40]))
        text = text[:place] + draw(_SNIPPETS | st.text(max_size=3)) + text[end:]
    return text


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Draw the text of a review with something cut out of it or put into it, in a few places."""
    document = draw(JSON)
    text = json.dumps(envelope(document, draw(st.none() | JSON)), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        end = place + draw(st.sampled_from([0, 0, 1, 5]))
        odd = st.sampled_from(
            ['"uid":1,', "NaN", "{", "[" * 300, "}", '"', ",", ":", "\\ud800", "9" * 400, "1e999", "\n"]
        )
        text = text[:place] + draw(odd) + text[end:]
    return text


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a small CRD, sometimes with one or two faults, and an object for it."""
    schema = draw(near(_SCHEMA))
    result = {"type": "object", "properties": {"spec": schema}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": result}}
    names = {"kind": "Toy", "plural": "toys", "singular": "toy", "listKind": "ToyList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "toys.example.com"},
        "spec": spec,
    }
    inner = draw(JSON) if not isinstance(schema, dict) else draw(JSON | _taken(schema))
    document = {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": "a"}, "spec": inner}
    return {"definition": crd, "object": document}


def _taken(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    return right(schema) if schema.get("type") in _TYPES and _plain(schema) else JSON


_TYPES: Final = ("object", "array", "string", "integer", "boolean", "number")


def _plain(schema: Any) -> bool:
    """Whether a schema has bounds that a value can be drawn within."""
    return "pattern" not in json.dumps(schema) and not any(
        finding.severity is Severity.ERROR
        for finding in lint({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}, strict=False)
    )


_LEAF: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "enum": list(_TYPES)},
        "description": {"type": "string"},
        "nullable": {"type": "boolean"},
        "enum": {"type": "array", "items": {"type": "string"}},
        "default": {"x-kubernetes-preserve-unknown-fields": True},
        "minimum": {"type": "number"},
        "maxLength": {"type": "integer", "minimum": 0, "maximum": 20},
        "pattern": {"type": "string", "enum": ["^a+$", "(a+)+$", "[", "\\p{Greek}", "(?i)x"]},
        "format": {"type": "string", "enum": ["date-time", "int32", "byte", "unknown"]},
        "x-kubernetes-preserve-unknown-fields": {"type": "boolean"},
        "x-kubernetes-int-or-string": {"type": "boolean"},
    },
}
#: The schema of schemas, so far as it is drawn from.
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["type", "properties"],
    "properties": {
        **_LEAF["properties"],
        "type": {"type": "string", "enum": ["object"]},
        "properties": {"type": "object", "additionalProperties": _LEAF},
        "required": {"type": "array", "items": {"type": "string"}},
        "x-kubernetes-validations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["rule"],
                "properties": {
                    "rule": {"type": "string", "enum": ["self.a == 1", "has(self.a)", "true", "(", "oldSelf == self"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}

TARGETS: Final[Mapping[str, Target]] = {
    **{f"review-{title(kind)}": _reviews(kind) for kind in built_in()},
    **{f"ratchet-{title(kind)}": _ratchets(kind) for kind in built_in()},
    **{f"smuggle-{title(kind)}": _smuggles(kind) for kind in built_in()},
    "pods": Target(of_pods.pods | of_pods.ours | JSON, check_pod),
    "body": Target(bodies(), check_body),
    "yaml": Target(texts(), check_yaml),
    "definitions": Target(definitions(), check_definition),
}
