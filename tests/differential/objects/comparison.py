"""Evaluates objects of many schemas locally and by a real API server."""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

from controlplane.client import Answer, ClusterApi, Params
from controlplane.waiting import wait_for
from crdgen.evaluate import Evaluator
from tests.differential.objects.drawing import drawn, dumped
from tests.differential.objects.mistakes import near
from tests.differential.objects.result import Author, Result
from tests.differential.objects.schemas import Named
from tests.differential.objects.values import Schema

CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP: Final = "objects.example.com"
DRY_RUN: Final = {"dryRun": "All", "fieldValidation": "Ignore"}

#: 400 and 500 are rejections, too: of objects that the API server cannot decode or encode.
_VERDICTS: Final = {201: True, 422: False, 400: False, 500: False}

#: A larger CRD would not fit into etcd; with few CRDs the API server rarely rebuilds its OpenAPI document.
_MOST_SCHEMAS: Final = 200
_MOST_BYTES: Final = 900_000


@dataclass
class Comparison:
    """Compares objects of schemas.

    Attributes:
        clients: Each sends one object at a time.
        seed: Which objects are drawn.
        by_schema, by_model: How many objects are drawn of each schema, and of each model.
        rejected: The API server's words on schemas that it did not take; none of their objects is compared.
    """

    clients: Sequence[ClusterApi]
    seed: int
    by_schema: int
    by_model: int
    rejected: dict[str, str] = field(default_factory=dict)

    def of(self, schemas: Iterable[Named]) -> Iterator[Result]:
        """Yield the result of each object."""
        free: SimpleQueue[ClusterApi] = SimpleQueue()
        for client in self.clients:
            free.put(client)

        def post(path: str, body: dict[str, Any]) -> Answer:
            client = free.get()
            try:
                return client.post(path, body, DRY_RUN)
            finally:
                free.put(client)

        with ThreadPoolExecutor(len(self.clients)) as threads:
            for pack in packs(schemas):
                taken, crd = self._create(pack)
                kind = crd["spec"]["names"]["kind"]
                with _until_deleted(self.clients[0], crd) as path:
                    asked = [
                        (named, author, written, threads.submit(post, path, written))
                        for named in taken
                        for author, value in self._values(named)
                        for written in [whole(kind, {named.name: value})]
                    ]
                    evaluators = {named.name: _evaluator(named) for named in taken}
                    for named, author, written, answer in asked:
                        yield _judged(evaluators[named.name], named, author, written, answer.result())

    def _values(self, named: Named) -> Iterator[tuple[Author, Any]]:
        for value in named.samples:
            yield Author.HAND, value
        for value in drawn(near(named.schema), self.by_schema, self.seed):
            yield Author.SCHEMA, value
        if named.model is not None:
            for value in drawn(dumped(named.model), self.by_model, self.seed):
                yield Author.MODEL, value

    def _create(self, pack: Sequence[Named]) -> tuple[Sequence[Named], dict[str, Any]]:
        """Create a CRD with the valid schemas of the pack, and return these schemas and the CRD."""
        crd = of_fields(pack, new_kind())
        if _created(self.clients[0], crd):
            pack = [named for named in pack if self._is_taken(named)]
            crd = of_fields(pack, new_kind())
            words = _created(self.clients[0], crd)
            assert not words, words
        return pack, crd

    def _is_taken(self, named: Named) -> bool:
        words = _created(self.clients[0], of_fields([named], new_kind()), {"dryRun": "All"})
        if words:
            self.rejected[named.name] = words
        return not words


def packs(schemas: Iterable[Named]) -> Iterator[list[Named]]:
    """Yield the schemas in groups that fit into one CRD, because creating CRDs takes longer than checking objects."""
    pack: list[Named] = []
    left = _MOST_BYTES
    for named in schemas:
        size = len(json.dumps(named.schema))
        if pack and (size > left or len(pack) == _MOST_SCHEMAS):
            yield pack
            pack, left = [], _MOST_BYTES
        pack.append(named)
        left -= size
    if pack:
        yield pack


def definition(spec: Schema, kind: str) -> dict[str, Any]:
    """Return a CRD with this schema of the spec."""
    schema = {"type": "object", "properties": {"spec": dict(spec)}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    plural = kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def of_fields(pack: Sequence[Named], kind: str) -> dict[str, Any]:
    """Return a CRD with a field of the spec for each schema."""
    return definition({"type": "object", "properties": {named.name: dict(named.schema) for named in pack}}, kind)


def new_kind() -> str:
    """Return a unique name of a kind."""
    return f"Thing{secrets.token_hex(4)}"


@contextmanager
def served(api: ClusterApi, crd: dict[str, Any]) -> Iterator[str]:
    """Create the CRD while the block runs; yields the path of its objects."""
    words = _created(api, crd)
    assert not words, words
    with _until_deleted(api, crd) as path:
        yield path


def _created(api: ClusterApi, crd: dict[str, Any], params: Params | None = None) -> str:
    """Create the CRD, and return the API server's error, or an empty text."""
    status, answer = api.post(CRDS, crd, params)
    return "" if status == 201 else f"{status}: {answer.get('message')}"


@contextmanager
def _until_deleted(api: ClusterApi, crd: dict[str, Any]) -> Iterator[str]:
    path = f"/apis/{GROUP}/v1/namespaces/default/{crd['spec']['names']['plural']}"
    try:
        wait_for(partial(_is_served, api, path), what=f"{path} is served")
        yield path
    finally:
        api.delete(f"{CRDS}/{crd['metadata']['name']}")


def _is_served(api: ClusterApi, path: str) -> bool:
    return api.get(path)[0] == 200


def whole(kind: str, spec: Any) -> dict[str, Any]:
    """Return an object with this spec."""
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "one"}, "spec": spec}


def _evaluator(named: Named) -> Evaluator:
    (version,) = of_fields([named], "Thing")["spec"]["versions"]
    return Evaluator(version["schema"]["openAPIV3Schema"])


def _judged(evaluator: Evaluator, named: Named, author: Author, written: dict[str, Any], answer: Answer) -> Result:
    """Return the result of an object; only the field of this schema counts."""
    ours = evaluator.default(evaluator.prune(written))
    status, there = answer
    if status not in _VERDICTS:
        raise AssertionError(f"{named.name}: {status} for {written}: {there}")
    return Result(
        schema=named.name,
        source=named.source,
        author=author,
        value=written["spec"][named.name],
        violations=tuple(evaluator.validate(ours)),
        taken_there=_VERDICTS[status],
        here=_field(ours, named.name),
        there=_field(there, named.name) if status == 201 else {},
        message=str(there.get("message", "")),
    )


def _field(object_: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the spec with this field only, or empty if the field is missing."""
    return {key: value for key, value in object_.get("spec", {}).items() if key == name}
