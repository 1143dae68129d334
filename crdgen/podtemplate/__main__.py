"""Writes the definitions of pod templates and volumes, of all minors, from the package kubernetes-validate.

python -m crdgen.podtemplate          write the file
python -m crdgen.podtemplate --check  fail where the file is not what the definitions give
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from crdgen.podtemplate import FILE, MINORS
from crdgen.podtemplate.convert import definitions

WANTED = ("io.k8s.api.core.v1.PodTemplateSpec", "io.k8s.api.core.v1.Volume")


def text() -> str:
    """Return what the generated file must hold: JSON, one line for each time that a definition changed."""
    table: dict[str, dict[str, Any]] = {}
    for minor in MINORS:
        found = definitions(published(minor), WANTED)
        for name in {*table, *found}:
            versions = table.setdefault(name, {})
            schema = found.get(name)  # None where it is no more
            if not versions or versions[next(reversed(versions))] != schema:
                versions[minor] = schema
    return "{\n" + ",\n".join(_entry(name, table[name]) for name in sorted(table)) + "\n}\n"


def published(minor: str) -> dict[str, Any]:
    """Return Kubernetes' own definitions of a minor, by their full names."""
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{minor}.0-local"
    found: dict[str, Any] = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return found


def main(arguments: list[str]) -> int:
    """Write or check the file; the exit code is 1 where a check fails."""
    path = Path(__file__).with_name(FILE)
    if "--check" not in arguments:
        path.write_text(text(), encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(f"{path} is out of date; `python -m crdgen.podtemplate` writes it\n")
    return 1


def _entry(name: str, versions: dict[str, Any]) -> str:
    lines = (f"  {json.dumps(minor)}: {json.dumps(schema, sort_keys=True)}" for minor, schema in versions.items())
    return f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
