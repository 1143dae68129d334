"""Writes the schemas of pod templates and volumes from the definitions that the package kubernetes-validate ships.

python -m crdgen.podtemplate          write the file
python -m crdgen.podtemplate --check  fail where the file is not what the definitions give
"""

import json
import sys
from importlib.resources import files
from pathlib import Path

from crdgen.podtemplate import FILE, KUBERNETES
from crdgen.podtemplate.convert import structural

_NAMES = {"PodTemplateSpec": "io.k8s.api.core.v1.PodTemplateSpec", "Volume": "io.k8s.api.core.v1.Volume"}


def text() -> str:
    """Return what the generated file must hold: JSON, one line a definition's property, sorted."""
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{KUBERNETES}.0-local"
    definitions = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    schemas = {name: structural(definitions, definition) for name, definition in _NAMES.items()}
    return json.dumps(schemas, indent=1, sort_keys=True) + "\n"


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
