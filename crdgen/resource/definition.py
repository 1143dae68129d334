"""The last stage: schemas and names become a CustomResourceDefinition."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.cel import uses_old_self
from crdgen.evaluate import Evaluator
from crdgen.evaluate.defaulting import defaulter
from crdgen.generate.descriptions import descriptions
from crdgen.generate.errors import Faults, SchemaError
from crdgen.generate.order import order
from crdgen.generate.pipeline import assembled
from crdgen.generate.policy import shortened
from crdgen.lint import check_structural
from crdgen.markers.descriptions import KEEP, Descriptions
from crdgen.resource.columns import printer_columns
from crdgen.resource.conversion import stanza
from crdgen.resource.naming import annotations, check_names
from crdgen.resource.resource import CustomResource, Names, Version
from crdgen.resource.rules import check_rules
from crdgen.resource.subresources import selectable_fields, subresources
from crdgen.resource.whole import own
from crdgen.schema import VALIDATIONS, Schema
from crdgen.schema.sealed import opened

_API_VERSION: Final = "apiextensions.k8s.io/v1"


def crd(resource: CustomResource) -> dict[str, Any]:
    """Return the `apiextensions.k8s.io/v1` CustomResourceDefinition, complete and in a fixed order.

    Raises:
        SchemaError: When a model has no structural schema, a path names no field, or the API server would refuse what
            the resource says of itself; the message names the place and the fix.
    """
    check_names(resource)
    kind = resource.names.kind
    metadata: dict[str, Any] = {"name": f"{resource.names.plural}.{resource.group}"}
    texts = {"labels": dict(resource.labels), "annotations": annotations(resource)}
    spec: dict[str, Any] = {
        "group": resource.group,
        "names": _names(resource.names),
        "scope": resource.scope,
        "versions": _versions(resource),
    }
    if resource.conversion is not None:
        spec["conversion"] = stanza(resource.conversion, kind)
    definition = order(
        {
            "apiVersion": _API_VERSION,
            "kind": "CustomResourceDefinition",
            "metadata": metadata | {key: value for key, value in texts.items() if value},
            "spec": spec,
        }
    )
    plain: dict[str, Any] = opened(definition)
    return plain


def root_schema(version: Version, kind: str, policy: Descriptions = KEEP) -> Schema:
    """Return the schema of the whole object: type, metadata, spec and status.

    A spec that may be empty may also be left out, and is then an empty one, whose fields have their defaults. It is
    required where a field of it is, and where a rule is to hold of every spec.

    Args:
        version: The models.
        kind: What errors call the object.
        policy: How much of the descriptions stays, where the version does not say.

    Raises:
        SchemaError: When a model has no structural schema, or a rule cannot be compiled against it.
    """
    limit = (version.descriptions or policy).limit
    schema = _of_parts(version, kind, limit) if version.whole is None else _of_whole(version.whole, kind, limit)
    for rule in version.rules:
        schema = rule.apply(schema, kind)
    text = version.description or schema.get("description") or schema["properties"]["spec"].get("description", "")
    whole = descriptions(schema | {"description": text}, kind)
    if limit is not None and "description" in whole:
        whole["description"] = shortened(whole["description"], limit)
    if not whole.get("description"):
        whole.pop("description", None)
    check_rules(whole, kind)
    for finding in check_structural(whole):
        in_a_model = "; in a model a bound is `Field(max_length=…)`" if finding.rule == "rules-are-affordable" else ""
        raise SchemaError(f"{kind}.{finding.path}".rstrip("."), finding.problem, f"{finding.fix}{in_a_model}")
    return whole


def _of_parts(version: Version, kind: str, limit: int | None) -> Schema:
    models = {"spec": version.spec, "status": version.status}
    parts: dict[str, Schema] = {}
    faults = Faults()
    for name, model in models.items():
        if model is not None:
            with faults.gathered():
                parts[name] = assembled(model, f"{kind}.{name}", limit=limit, written=f"{kind}.status")
    faults.tell()
    schema: Schema = {"type": "object", "properties": _common() | parts}
    spec = parts["spec"]
    # A root model is not made of nothing, whatever it takes.
    of_nothing = _may_be_empty(spec) and not getattr(version.spec, "__pydantic_root_model__", False)
    if of_nothing:
        spec |= _default(spec)
    return schema if of_nothing or "default" in spec else schema | {"required": ["spec"]}


def _may_be_empty(spec: Schema) -> bool:
    """Tell whether `{}` is a spec. Rules that are looked at when an object is made want one that is written."""
    rules = [rule for rule in spec.get(VALIDATIONS, ()) if _runs_on_creation(rule)]
    itself = {keyword: value for keyword, value in spec.items() if keyword not in {"properties", VALIDATIONS}}
    return not rules and not Evaluator({"type": "object", "properties": {"spec": itself}}).validate({"spec": {}})


def _default(spec: Schema) -> Schema:
    """Return the default of a spec that may be empty, where any of its fields has one.

    The API server holds it against the rules as it is, the defaults of its fields not set, and with itself as the old
    value. So with rules of updates it must have all fields that these may read.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting/validation.go
    """
    fields = spec.get("properties", {}).values()
    defaulted = ["default" in field for field in fields]
    if "default" in spec or not any(defaulted):
        return {}
    if not spec.get(VALIDATIONS):
        return {"default": {}}
    return {"default": defaulter(spec)({})} if all(defaulted) else {}


def _runs_on_creation(rule: Mapping[str, Any]) -> bool:
    return not uses_old_self(rule["rule"]) or bool(rule.get("optionalOldSelf"))


def _of_whole(model: type[Any], kind: str, limit: int | None) -> Schema:
    schema = assembled(own(model, kind), kind, limit=limit, written=f"{kind}.status")
    schema["properties"] = _common() | schema["properties"]
    # The API server takes the status away from what is created before it validates: it can be neither required nor
    # given by a default.
    if "status" in schema["properties"]:
        schema["properties"]["status"].pop("default", None)
    required = [name for name in schema.pop("required", ()) if name != "status"]
    return schema | {"required": required} if required else schema


def _common() -> dict[str, Schema]:
    return {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}


def _names(names: Names) -> dict[str, Any]:
    optional = {"shortNames": list(names.short_names), "categories": list(names.categories)}
    return {
        "kind": names.kind,
        "listKind": names.list_kind,
        "plural": names.plural,
        "singular": names.singular,
        **{key: value for key, value in optional.items() if value},
    }


def _versions(resource: CustomResource) -> list[dict[str, Any]]:
    found = []
    faults = Faults()
    for version in resource.versions:
        with faults.gathered():
            found.append(_version(version, resource.names.kind, resource.descriptions))
    faults.tell()
    return found


def _version(version: Version, kind: str, policy: Descriptions) -> dict[str, Any]:
    schema = root_schema(version, kind, policy)
    optional = {
        "additionalPrinterColumns": printer_columns(version.columns, schema, kind),
        "deprecated": bool(version.deprecated),
        "deprecationWarning": version.deprecated if isinstance(version.deprecated, str) else "",
        "selectableFields": selectable_fields(version.selectable, schema, kind),
        "subresources": subresources(version, schema, kind),
    }
    return {
        "name": version.name,
        "schema": {"openAPIV3Schema": schema},
        "served": version.served,
        "storage": version.storage,
        **{key: value for key, value in optional.items() if value},
    }
