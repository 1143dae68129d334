"""Which files are generated from which models, as `pyproject.toml` says it.

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

_SHAPE: Final = "write one table [[tool.crdgen.files]] for each model, with `model` and a file as `crd` or `docs`"


class Unclear(ValueError):
    """The table does not say what is generated: what is wrong, what would be right; one line."""


class Entry(BaseModel):
    """One model, and the files that are made of it.

    Attributes:
        model: `MODULE:MODEL`, a model or a `CustomResource`.
        crd: the file of its CRD.
        docs: the file of its page.
        group, version, kind, plural, scope: what a model's resource is called; a `CustomResource` says so itself.
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


def listing(project: Mapping[str, Any]) -> list[Entry]:
    """Return the entries of a pyproject.toml that was read."""
    tool = project.get("tool")
    table = tool.get("crdgen") if isinstance(tool, Mapping) else None
    found = table.get("files") if isinstance(table, Mapping) else None
    if not isinstance(found, list) or not found:
        raise Unclear(f"no [[tool.crdgen.files]]: {_SHAPE}")
    return [_entry(index, one) for index, one in enumerate(found)]


def _entry(index: int, found: Any) -> Entry:
    at = f"tool.crdgen.files[{index}]"
    try:
        entry = Entry.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([at, *map(str, first["loc"])])
        raise Unclear(f"{place}: {first['msg']}: {_SHAPE}") from error
    if entry.crd is None and entry.docs is None:
        raise Unclear(f"{at}: makes no file: {_SHAPE}")
    return entry
