"""One object, judged twice."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from crdgen.evaluate import evaluate
from tests.controlplane.client import ClusterApi
from tests.controlplane.waiting import wait_for
from tests.crdgen.objects.schemas import Named
from tests.crdgen.objects.values import drawn

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "objects.example.com"
DRY_RUN = {"dryRun": "All", "fieldValidation": "Ignore"}


@dataclass(frozen=True)
class Result:
    """What both made of an object; the server's verdict is None where it answered neither yes nor no."""

    schema: str
    spec: Any
    taken_here: bool
    taken_there: bool | None
    here: Any
    there: Any
    words: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether verdicts, or objects that both take, are not the same."""
        return self.taken_there is not None and (
            self.taken_here != self.taken_there or (self.taken_here and not same(self.here, self.there))
        )

    @property
    def explained(self) -> str:
        """Why the two differ, where that is known and meant."""
        return next((why for why, holds in KNOWN if self.differs and holds(self)), "")

    def sentence(self) -> str:
        """Return what a person looks into."""
        verdict = {True: "taken", False: "refused", None: "?"}
        return (
            f"{self.schema}: here {verdict[self.taken_here]}, there {verdict[self.taken_there]}: {self.spec!r}"
            f"\n  here {self.here!r}\n  there {self.there!r}\n  {'; '.join(self.words)}"
        )


def _is_list_for_text(result: Result) -> bool:
    return result.taken_there is True and any("must be a string" in word for word in result.words)


#: Differences that are meant.
KNOWN = [
    ("a list in the place of a text with a format is refused here; no typed client could read it", _is_list_for_text)
]


def same(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: JSON does not tell 1.0 from 1, but true from 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def definition(plural: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a CRD with this schema of the spec."""
    kind = plural.capitalize()
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def compare(api: ClusterApi, schemas: Iterable[Named], seed: int, objects: int) -> Iterator[Result]:
    """Yield what becomes of so many objects of each schema; schemas that the server refuses are left out."""
    for number, named in enumerate(schemas):
        plural = f"s{seed % 1000}x{number}"
        crd = definition(plural, named.schema)
        status, answer = api.post(CRDS, crd)
        if status != 201:
            if not named.name.startswith("made-up"):
                raise AssertionError(f"{named.name}: {answer.get('message')}")
            continue
        path = f"/apis/{GROUP}/v1/namespaces/default/{plural}"
        wait_for(partial(_is_served, api, path), what=f"{plural} is served")
        source = random.Random(f"{seed}-{named.name}")
        for _ in range(objects):
            yield judge(api, crd, path, named, drawn(source, named.schema))
        api.delete(f"{CRDS}/{plural}.{GROUP}")


def _is_served(api: ClusterApi, path: str) -> bool:
    return api.get(path)[0] == 200


def judge(api: ClusterApi, crd: dict[str, Any], path: str, named: Named, spec: Any) -> Result:
    """Return what both make of one object."""
    kind = crd["spec"]["names"]["kind"]
    written = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "one"}, "spec": spec}
    ours = evaluate(crd, written)
    status, answer = api.post(path, written, DRY_RUN)
    words = [f"{violation.path}: {violation.message}" for violation in ours.violations]
    return Result(
        named.name,
        spec,
        not ours.violations,
        {201: True, 422: False, 400: False, 500: False}.get(status),
        ours.object.get("spec"),
        answer.get("spec") if status == 201 else None,
        (*words, f"server {status}: {str(answer.get('message', ''))[:400]}"),
    )
