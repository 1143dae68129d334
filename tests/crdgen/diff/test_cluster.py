"""The diff's results for stored objects, compared with a real API server."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import definition, obj, version
from tests.crdgen.diff.test_branches import EQUAL
from tests.crdgen.diff.test_rules import FOR_NEW, OF_CHANGES, SELF

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Served:
    """A new kind, served until the end of the test."""

    def __init__(self, api: ClusterApi, *versions: dict[str, Any]) -> None:
        word = f"thing{secrets.token_hex(4)}"
        names = {"kind": word.title(), "listKind": f"{word.title()}List", "plural": word, "singular": word}
        self.api, self.crd = api, definition(*versions, names=names)
        self.crd["metadata"] = {"name": f"{word}.example.com"}
        self.kind, self.objects = word.title(), f"/apis/example.com/v1/namespaces/default/{word}"
        status, answer = api.post(CRDS, self.crd)
        assert status == 201, answer.get("message")
        wait_for(lambda: api.get(self.objects)[0] == 200, what=f"{self.kind} is served")

    @property
    def path(self) -> str:
        return f"{CRDS}/{self.crd['metadata']['name']}"

    def change(self, *versions: dict[str, Any]) -> tuple[int, Any]:
        """Change the versions of the CRD, and return the answer."""
        return self.api.patch(self.path, {"spec": {"versions": list(versions)}})

    def create(self, spec: Any, name: str = "one", *, dry: bool = True) -> tuple[int, Any]:
        thing = {"apiVersion": "example.com/v1", "kind": self.kind, "metadata": {"name": name}, "spec": spec}
        return self.api.post(self.objects, thing, {"dryRun": "All"} if dry else {})

    def label(self) -> tuple[int, Any]:
        """Change only a label of the object, and return the answer."""
        return self.api.patch(f"{self.objects}/one", {"metadata": {"labels": {"n": secrets.token_hex(4)}}})


@pytest.fixture
def served(cluster_api: ClusterApi) -> Iterator[Any]:
    kinds: list[Served] = []

    def serve(*versions: dict[str, Any]) -> Served:
        kinds.append(Served(cluster_api, *versions))
        return kinds[-1]

    yield serve
    for kind in kinds:
        cluster_api.delete(kind.path)


def version_with_rules(*rules: tuple[str, bool]) -> dict[str, Any]:
    """Return a version with rules, each with its text and its optionalOldSelf."""
    entries = [{"rule": text} | ({"optionalOldSelf": True} if optional else {}) for text, optional in rules]
    return version(spec=SELF | {"x-kubernetes-validations": entries})


def test_rules_accept_or_reject_unchanged_objects_as_reported(served: Any) -> None:
    plain = version(spec=SELF)
    kind = served(plain)
    assert kind.create({"must": 1, "list": [{"n": "a"}], "map": {"a": "b"}}, dry=False)[0] == 201
    strict = version_with_rules(("self.must > oldSelf.must", False))
    (change,) = diff(definition(plain), definition(strict))
    assert Break.STORED in change.breaks
    assert kind.change(strict)[0] == 200
    wait_for(lambda: kind.label()[0] == 422, what="an unchanged object is rejected")

    harmless = version_with_rules(*((rule, True) for rule in FOR_NEW), *((rule, False) for rule in OF_CHANGES))
    assert {change.breaks for change in diff(definition(plain), definition(harmless))} == {(Break.CLIENTS,)}
    status, answer = kind.change(harmless)
    assert status == 200, answer.get("message")
    wait_for(lambda: kind.create({"must": 1, "list": []}, "other")[0] == 422, what="new objects are rejected")
    wait_for(lambda: kind.label()[0] == 200, what="stored objects are accepted")


def test_a_version_with_stored_objects_cannot_be_removed(served: Any) -> None:
    old = version("v1", storage=False)
    kind = served(version("v1"))
    assert kind.change(old, version("v2"))[0] == 200
    status, answer = kind.change(version("v2"))
    assert status == 422
    assert "storedVersions" in answer["message"]
    (change,) = diff(definition(old, version("v2")), definition(version("v2")))
    assert Break.STORED in change.breaks


def test_the_same_check_in_another_place_has_the_same_verdicts(served: Any) -> None:
    fields = {
        f"{side}{number}": case[place] for number, case in enumerate(EQUAL) for place, side in ((1, "a"), (2, "b"))
    }
    kind = served(version(spec=obj(**fields)))
    values: list[Any] = ["", "a", "baaaaaaa", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", 0, 1, 2, ["abcdefgh"], ["b"]]
    values += [{"a": "baaaaaaaaaaa"}, {"a": "a"}, {}]
    for number, (case, *_) in enumerate(EQUAL):
        # The API server accepts, by mistake, a list instead of a string with a format.
        written = [value for value in values if not (isinstance(value, list) and "format" in case)]
        verdicts = [[kind.create({f"{side}{number}": value})[0] for value in written] for side in ("a", "b")]
        assert verdicts[0] == verdicts[1], case
        assert {201, 422} <= set(verdicts[0]), case
