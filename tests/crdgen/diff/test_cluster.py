"""What the diff says of stored objects, as a real API server sees it."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import definition, version
from tests.crdgen.diff.test_rules import FOR_NEW, OF_CHANGES, SELF

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Served:
    """A kind of its own, served until the end of the test."""

    def __init__(self, api: ClusterApi, *versions: dict[str, Any]) -> None:
        word = f"thing{secrets.token_hex(4)}"
        names = {"kind": word.title(), "listKind": f"{word.title()}List", "plural": word, "singular": word}
        self.api, self.crd = api, definition(*versions, names=names)
        self.crd["metadata"] = {"name": f"{word}.example.com"}
        self.kind, self.objects = word.title(), f"/apis/example.com/v1/namespaces/default/{word}"
        status, answer = api.post(CRDS, self.crd)
        assert status == 201, answer
        wait_for(lambda: api.get(self.objects)[0] == 200, what=f"{self.kind} is served")

    @property
    def path(self) -> str:
        return f"{CRDS}/{self.crd['metadata']['name']}"

    def changed(self, *versions: dict[str, Any]) -> tuple[int, Any]:
        """What is answered to the CRD with these versions."""
        return self.api.patch(self.path, {"spec": {"versions": list(versions)}})

    def written(self, spec: Any, name: str = "one", *, dry: bool = True) -> tuple[int, Any]:
        thing = {"apiVersion": "example.com/v1", "kind": self.kind, "metadata": {"name": name}, "spec": spec}
        return self.api.post(self.objects, thing, {"dryRun": "All"} if dry else {})

    def labelled(self) -> tuple[int, Any]:
        """What is answered to who changes nothing but a label."""
        return self.api.patch(f"{self.objects}/one", {"metadata": {"labels": {"n": secrets.token_hex(4)}}})


@pytest.fixture
def served(cluster_api: ClusterApi) -> Iterator[Any]:
    made: list[Served] = []

    def serve(*versions: dict[str, Any]) -> Served:
        made.append(Served(cluster_api, *versions))
        return made[-1]

    yield serve
    for one in made:
        cluster_api.delete(one.path)


def ruled(*rules: tuple[str, bool]) -> dict[str, Any]:
    """A version with these rules: the text of each, and whether it has optionalOldSelf."""
    listed = [{"rule": text} | ({"optionalOldSelf": True} if optional else {}) for text, optional in rules]
    return version(spec=SELF | {"x-kubernetes-validations": listed})


def test_rules_pass_or_reject_what_does_not_change_as_is_said(served: Any) -> None:
    plain = version(spec=SELF)
    kind = served(plain)
    assert kind.written({"must": 1, "list": [{"n": "a"}], "map": {"a": "b"}}, dry=False)[0] == 201
    strict = ruled(("self.must > oldSelf.must", False))
    (change,) = diff(definition(plain), definition(strict))
    assert Break.STORED in change.breaks
    assert kind.changed(strict)[0] == 200
    wait_for(lambda: kind.labelled()[0] == 422, what="what does not change is rejected")

    harmless = ruled(*((rule, True) for rule in FOR_NEW), *((rule, False) for rule in OF_CHANGES))
    assert {change.breaks for change in diff(definition(plain), definition(harmless))} == {(Break.CLIENTS,)}
    status, answer = kind.changed(harmless)
    assert status == 200, answer.get("message")
    wait_for(lambda: kind.written({"must": 1, "list": []}, "other")[0] == 422, what="new objects are rejected")
    wait_for(lambda: kind.labelled()[0] == 200, what="what is stored passes")


def test_a_version_in_which_objects_may_be_stored_is_not_removed(served: Any) -> None:
    old = version("v1", storage=False)
    kind = served(version("v1"))
    assert kind.changed(old, version("v2"))[0] == 200
    status, answer = kind.changed(version("v2"))
    assert status == 422
    assert "storedVersions" in answer["message"]
    (change,) = diff(definition(old, version("v2")), definition(version("v2")))
    assert Break.STORED in change.breaks
