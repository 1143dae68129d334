"""Resource claims: devices that a pod names once, and its containers refer to.

The rules are those of `core/v1` validation of Kubernetes (`validateResourceClaimNames`), field `resources.claims`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from jobgate import names
from jobgate.kinds.common.pod.parts import Json, unset
from jobgate.kinds.common.pod.reading import objects, spec_of
from webhook.cause import Cause, Duplicate, Invalid, NotFound, Required
from webhook.path import Path
from webhook.text import short

#: As many claims as a message names.
NAMED_CLAIMS: Final = 10


def names_of(pod: Json) -> Collection[str]:
    """Return the names of the claims of a pod, in order."""
    claims = objects(spec_of(pod).get("resourceClaims"))
    return {claim["name"]: None for _, claim in claims if isinstance(claim.get("name"), str)}


def claims_are_the_pods(resources: Json, known: Collection[str], path: Path) -> Iterator[Cause]:
    """A container refers to claims of its pod, to each one once: to the whole of it, or to its requests one by one."""
    whole: set[str] = set()
    parts: set[tuple[str, str]] = set()
    parted: set[str] = set()
    for index, claim in objects(resources.get("claims")):
        name, request = claim.get("name"), claim.get("request")
        if unset(name):
            yield Required(path / index / "name")
            continue
        if not isinstance(name, str):
            continue
        if isinstance(request, str) and request:
            if name not in whole and (fault := names.dns_label(request)):
                yield Invalid(path / index / "request", request, fault)
            if name in whole or (name, request) in parts:
                yield Duplicate(path / index, f"{name}/{request}")
            parts.add((name, request))
            parted.add(name)
        else:
            if name in whole or name in parted:
                yield Duplicate(path / index, name)
            whole.add(name)
        if name not in known:
            one = ", ".join(map(short, islice(known, NAMED_CLAIMS)))
            yield NotFound(
                path / index / "name", name, f"must be one of {one}" if one else "the pod has no resourceClaims"
            )
