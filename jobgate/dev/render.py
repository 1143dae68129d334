"""Prints what `jobgate dev` registers. A process of its own, so that it has the code of packages as it is now."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from jobgate.installation import Installation
from jobgate.installation.configurations import configuration
from jobgate.installation.definitions import definition
from jobgate.installation.tree import resolve
from jobgate.kinds import installed, of_packages
from jobgate.plugins import lacking
from webhook import Phase


def render(fields: dict[str, Any], chosen: Sequence[str], url: str) -> dict[str, Any]:
    """Return `configurations` and `crds` of an installation with a URL, and the names of `kinds` and of all others.

    Raises:
        ValueError: a package is broken, or a kind is unknown.
    """
    kinds = installed()
    if broken := [*kinds.lacking, *lacking()]:
        raise ValueError("\n".join(broken))
    known = {kind.qualified_plural: kind for kind in kinds}
    chosen = chosen or [entry.value.qualified_plural for entry in of_packages() if entry.value is not None]
    if not chosen or set(chosen) - set(known):
        problem = f"{min(set(chosen) - set(known))} is not installed" if chosen else "no package with a kind is"
        raise ValueError(f"{problem}: install it, or choose by --kind from {', '.join(known)}")
    installation = Installation(**fields, kinds={name: name in chosen for name in known})
    configurations = resolve([configuration(phase, kinds) for phase in Phase], installation)
    for each in configurations:
        each["webhooks"] = [entry for entry in each["webhooks"] if "prerequisites." not in entry["name"]]
    crds = [definition(known[name], installation) for name in chosen]
    conversions = [crd["spec"]["conversion"]["webhook"] for crd in crds if "conversion" in crd["spec"]]
    for called in (*conversions, *(entry for each in configurations for entry in each["webhooks"])):
        called["clientConfig"]["url"] = url + called["clientConfig"].pop("service")["path"]
    others = [name for name in known if name not in chosen]
    return {"configurations": configurations, "crds": crds, "kinds": list(chosen), "others": others}


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(render(**json.load(sys.stdin))))
    except Exception as error:  # noqa: BLE001 - models of a package may raise anything
        sys.exit(str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}")
