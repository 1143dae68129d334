"""A real API server checks formats and bounds of scalars as we do."""

import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.evaluate import evaluate
from tests.crdgen.formats import LISTED, TEXTS, URLS

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "formats.example.com"
DRY_RUN = {"dryRun": "All", "fieldValidation": "Ignore"}

INTEGER, NUMBER = {"type": "integer"}, {"type": "number"}
EITHER, OPEN = {"x-kubernetes-int-or-string": True}, {"x-kubernetes-preserve-unknown-fields": True}
#: The schema of a field, and values for it.
SCALARS: list[tuple[dict[str, Any], list[Any]]] = [
    (INTEGER | {"maximum": 9.5}, [3, 9, 10]),
    (INTEGER | {"minimum": 0.5}, [0, 1]),
    (INTEGER | {"minimum": 1.0, "maximum": 9.0}, [0, 1, 9, 10]),
    (INTEGER | {"multipleOf": 2.5}, [4, 5]),
    (INTEGER | {"format": "int32", "maximum": 2**40}, [3, 2**31, 2**41]),
    (INTEGER | {"format": "int32"}, [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2.0]),
    (INTEGER | {"format": "int64"}, [2**63 - 1, 2**63, -(2**63), -(2**63) - 1]),
    (INTEGER | {"format": "uint32"}, [-1, 2**40]),
    (INTEGER | {"format": "float"}, [2**40]),
    (NUMBER | {"format": "float"}, [1, 1e300, -1e39, 3.4e38, 2.0**128 - 2.0**103, 3.402823567797337e38, 10**39]),
    (NUMBER | {"format": "float", "nullable": True}, [None, 1e300]),
    (NUMBER | {"format": "float", "maximum": 1e300}, [1.0]),
    (NUMBER | {"format": "double"}, [1e300]),
    (NUMBER | {"format": "int32"}, [2**40, 1.5]),
    (NUMBER | {"maximum": 9.5}, [9, 9.6, 10]),
    (EITHER | {"format": "int32"}, [2**31, 2**33, 2**63]),
    (EITHER | {"format": "date"}, [5, "x", "2026-01-02"]),
    (EITHER | {"maximum": 9.5}, [9, 10]),
    (OPEN | {"format": "date"}, [5, 1.5, True, {}, [], ["x"], "x", "2026-01-02"]),
    (OPEN | {"format": "strange"}, [5, {}]),
    ({"type": "boolean", "format": "date"}, [True, "x"]),
    ({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, ["1.2.3.4", "::1", "x"]),
]
#: The parts of a URL. Each has its own rule: the server estimates each part at its maximum length.
PARTS = [
    *(f"url(self).{part}()" for part in ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")),
    "string(size(url(self).getQuery()))",
]
#: Usual URLs: the parts of unusual ones may differ.
USUAL = re.compile(
    r"https?://([a-z@.]+|\[[0-9a-f:]+\])(:[0-9]+)?(/[a-z0-9/%.]*)?(\?[a-z=&]*)?|/[a-z][a-z0-9/%.]*(\?[a-z=&]*)?",
    re.ASCII,
)
#: URLs per object. With more, the estimated cost of the rules exceeds the limit of the server.
URLS_PER_OBJECT = 20


def definition(spec: dict[str, Any]) -> dict[str, Any]:
    kind = f"Thing{secrets.token_hex(4)}"
    plural = kind.lower()
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


class ServedKind:
    """A kind on the API server."""

    def __init__(self, api: ClusterApi, spec: dict[str, Any]) -> None:
        self.api, self.crd = api, definition(spec)
        names = self.crd["spec"]["names"]
        self.path, self.kind = f"/apis/{GROUP}/v1/namespaces/default/{names['plural']}", names["kind"]
        status, answer = api.post(CRDS, self.crd)
        assert status == 201, answer.get("message")
        wait_for(lambda: api.get(self.path)[0] == 200, what=f"{self.kind} is served")

    def evaluate(self, spec: Any) -> tuple[list[dict[str, Any]], list[Any]]:
        """Return the causes of the server, and our violations."""
        submitted = {"apiVersion": f"{GROUP}/v1", "kind": self.kind, "metadata": {"name": "one"}, "spec": spec}
        status, answer = self.api.post(self.path, submitted, DRY_RUN)
        assert status in {201, 422}, answer
        return (answer["details"]["causes"] if status == 422 else []), list(evaluate(self.crd, submitted).violations)


@pytest.fixture
def serve(cluster_api: ClusterApi) -> Iterator[Any]:
    kinds: list[ServedKind] = []

    def serve_(spec: dict[str, Any]) -> ServedKind:
        kinds.append(ServedKind(cluster_api, spec))
        return kinds[-1]

    yield serve_
    for kind in kinds:
        cluster_api.delete(f"{CRDS}/{kind.crd['metadata']['name']}")


def test_formats_match_the_server(serve: Any) -> None:
    fields = {name.replace("-", "_"): {"type": "array", "items": {"type": "string", "format": name}} for name in TEXTS}
    kind = serve({"type": "object", "properties": fields})
    differ = {}
    for name, texts in TEXTS.items():
        causes, violations = kind.evaluate({name.replace("-", "_"): list(texts)})
        theirs = {int(index) for cause in causes for index in re.findall(r"\[(\d+)\]$", cause["field"])}
        ours = {violation.path[2] for violation in violations}
        differ[name] = {texts[index] for index in theirs ^ ours}
    assert {name: texts for name, texts in differ.items() if texts} == LISTED


def test_numbers_and_untyped_values_match_the_server(serve: Any) -> None:
    kind = serve({"type": "object", "properties": {f"f{index}": schema for index, (schema, _) in enumerate(SCALARS)}})
    differ = []
    for index, (schema, values) in enumerate(SCALARS):
        for value in values:
            causes, violations = kind.evaluate({f"f{index}": value})
            if bool(causes) != bool(violations):
                differ.append((schema, value, causes, violations))
    assert differ == []


def test_parts_of_urls_match_the_server(serve: Any) -> None:
    rules = [{"rule": f"!isURL(self) || {index} < 0", "messageExpression": part} for index, part in enumerate(PARTS)]
    text = {"type": "string", "maxLength": 60, "x-kubernetes-validations": [*rules, {"rule": "isURL(self)"}]}
    kind = serve(
        {"type": "object", "properties": {"urls": {"type": "array", "maxItems": URLS_PER_OBJECT, "items": text}}},
    )
    usual = [url for url in URLS if USUAL.fullmatch(url)]
    for start in range(0, len(usual), URLS_PER_OBJECT):
        urls = usual[start : start + URLS_PER_OBJECT]
        causes, violations = kind.evaluate({"urls": urls})
        theirs = sorted((cause["field"], _message(cause["message"])) for cause in causes)
        ours = sorted((f"spec.urls[{error.path[2]}]", _message(f': "": {error.message}')) for error in violations)
        assert ours == theirs, urls


def _message(text: str) -> str:
    """Return the message without the value, and without Go's details about invalid IPv6 addresses."""
    return re.sub(r'(: ParseAddr\("[^"]*"\)).*', r"\1", re.sub(r'^.*?: "(?:[^"\\]|\\.)*": ', "", text, count=1))
