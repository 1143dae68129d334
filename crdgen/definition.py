"""The last stage: schemas and names become a CustomResourceDefinition."""

from typing import Any, Final

from crdgen.columns import printer_columns
from crdgen.errors import SchemaError
from crdgen.lint import check_structural
from crdgen.resource import CustomResource, Names, Version
from crdgen.schema import Schema, structural_schema
from crdgen.schema.descriptions import descriptions
from crdgen.schema.order import order

_API_VERSION: Final = "apiextensions.k8s.io/v1"


def crd(resource: CustomResource) -> dict[str, Any]:
    """Return the `apiextensions.k8s.io/v1` CustomResourceDefinition, complete and in a fixed order.

    Raises:
        SchemaError: When a model has no structural schema, a column names no field, or not exactly one version is
            stored; the message names the place and the fix.
    """
    stored = [version.name for version in resource.versions if version.storage]
    if len(stored) != 1:
        raise SchemaError(
            resource.names.kind,
            f"{len(stored)} versions are stored ({', '.join(stored) or 'none'})",
            "set `storage=True` on exactly one version",
        )
    return order(
        {
            "apiVersion": _API_VERSION,
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{resource.names.plural}.{resource.group}"},
            "spec": {
                "group": resource.group,
                "names": _names(resource.names),
                "scope": resource.scope,
                "versions": [_version(version, resource.names.kind) for version in resource.versions],
            },
        }
    )


def root_schema(version: Version, kind: str) -> Schema:
    """Return the schema of the whole object: type, metadata, spec and status.

    `spec` is required exactly where the empty one would be refused.
    """
    models = {"spec": version.spec, "status": version.status}
    parts = {name: structural_schema(model, f"{kind}.{name}") for name, model in models.items() if model is not None}
    texts = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    schema: Schema = {"type": "object", "properties": texts | parts}
    if "required" in parts["spec"]:
        schema["required"] = ["spec"]
    text = version.description or parts["spec"].get("description", "")
    whole = order(descriptions(schema | {"description": text}, kind))
    for finding in check_structural(whole):
        at = f"{kind}.{finding.path}" if finding.path else kind
        raise SchemaError(at, finding.problem, "say it by a type or a marker of crdgen, or as a rule of your own")
    return whole


def _names(names: Names) -> dict[str, Any]:
    optional = {"shortNames": list(names.short_names), "categories": list(names.categories)}
    return {
        "kind": names.kind,
        "listKind": f"{names.kind}List",
        "plural": names.plural,
        "singular": names.singular,
        **{key: value for key, value in optional.items() if value},
    }


def _version(version: Version, kind: str) -> dict[str, Any]:
    schema = root_schema(version, kind)
    result: dict[str, Any] = {
        "name": version.name,
        "schema": {"openAPIV3Schema": schema},
        "served": version.served,
        "storage": version.storage,
    }
    if version.columns:
        result["additionalPrinterColumns"] = printer_columns(version.columns, schema, kind)
    if version.status is not None:
        result["subresources"] = {"status": {}}
    return result
