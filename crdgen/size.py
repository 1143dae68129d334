"""How big a CRD is, as the annotation of client-side apply counts it."""

import json
from typing import Any


def size(crd: Any) -> int:
    """Return the bytes of compact JSON; client-side `kubectl apply` fails above 262,144."""
    return len(json.dumps(crd, separators=(",", ":"), ensure_ascii=False).encode())
