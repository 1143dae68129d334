"""Golden files of whole CRDs; `python -m tests.crdgen.golden` writes them, for review."""

from pathlib import Path

from crdgen import crd, to_yaml
from tests.differential.zoo import PLAIN, resource

FOLDER = Path(__file__).parent
HEADER = "Written by `python -m tests.crdgen.golden`."


def texts() -> dict[str, str]:
    """Return the expected texts of golden files by name."""
    return {f"{model.__name__.lower()}.yaml": to_yaml(crd(resource(model)), HEADER) for model in PLAIN}
