"""The generated files that `pyproject.toml` lists, and their models.

[[tool.crdgen.files]]
model = "shop.models:OrderSpec"
group = "shop.example.com"
version = "v1"
crd = "crds/orders.yaml"
docs = "docs/order.md"
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

_SHAPE: Final = "add a table [[tool.crdgen.files]] for each model, with `model`, and `crd` or `docs` or both"


class ListingError(ValueError):
    """A table that cannot be used. The message is one line: what is wrong, what would be right."""


class GeneratedFiles(BaseModel):
    """A model and the files generated from it.

    Attributes:
        model: `MODULE:MODEL`, a model or a `CustomResource`.
        crd: file of its CRD.
        docs: file of its page.
        group, version, kind, plural, scope: names of the resource; a `CustomResource` has its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    crd: str | None = None
    docs: str | None = None
    group: str | None = None
    version: str | None = None
    kind: str | None = None
    plural: str | None = None
    scope: Literal["Namespaced", "Cluster"] | None = None


def listing(project: Mapping[str, Any]) -> list[GeneratedFiles]:
    """Return the entries of a parsed pyproject.toml."""
    tool = project.get("tool")
    table = tool.get("crdgen") if isinstance(tool, Mapping) else None
    found = table.get("files") if isinstance(table, Mapping) else None
    if not isinstance(found, list) or not found:
        raise ListingError(f"no [[tool.crdgen.files]]: {_SHAPE}")
    return [_entry(index, one) for index, one in enumerate(found)]


def _entry(index: int, found: Any) -> GeneratedFiles:
    at = f"tool.crdgen.files[{index}]"
    try:
        entry = GeneratedFiles.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([at, *map(str, first["loc"])])
        raise ListingError(f"{place}: {first['msg']}: {_SHAPE}") from error
    if entry.crd is None and entry.docs is None:
        raise ListingError(f"{at}: lists no file: {_SHAPE}")
    return entry
