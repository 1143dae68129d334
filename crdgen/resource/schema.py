"""The schema of a version of a custom resource."""

from typing import Any

from crdgen.cel import uses_old_self
from crdgen.evaluate import Evaluator
from crdgen.evaluate.pruning import defaulter
from crdgen.generate.errors import SchemaErrors
from crdgen.generate.pipeline import assemble
from crdgen.generate.tidy import descriptions, order, shorten
from crdgen.markers.marker import Descriptions
from crdgen.resource.resource import CustomResource, Version
from crdgen.schema import VALIDATIONS, Schema


def schema_of(resource: CustomResource, version: str = "") -> Schema:
    """Return the schema of a version, by default the stored one, as in the definition."""
    (chosen,) = (each for each in resource.versions if (each.name == version if version else each.storage))
    return order(version_schema(chosen, resource.names.kind, resource.descriptions))


def version_schema(version: Version, kind: str, policy: Descriptions) -> Schema:
    """Return the schema of the whole object: type, metadata, spec and status.

    A spec that may be empty is optional: its default is an empty spec with the defaults of its fields. It is required
    if one of its fields is, or if a rule applies to every spec. `policy` is the default for descriptions.
    """
    limit = (version.descriptions or policy).limit
    schema = _from_parts(version, kind, limit) if version.whole is None else _from_whole(version.whole, kind, limit)
    for rule in version.rules:
        schema = rule.apply(schema, kind)
    text = version.description or schema.get("description") or schema["properties"]["spec"].get("description", "")
    result = descriptions(schema | {"description": text}, kind)
    if limit is not None and "description" in result:
        result["description"] = shorten(result["description"], limit)
    if not result.get("description"):
        result.pop("description", None)
    return result


def _from_parts(version: Version, kind: str, limit: int | None) -> Schema:
    models = {"spec": version.spec, "status": version.status}
    parts: dict[str, Schema] = {}
    errors = SchemaErrors()
    for name, model in models.items():
        if model is not None:
            with errors.collecting():
                parts[name] = assemble(model, f"{kind}.{name}", limit=limit, written=f"{kind}.status")
    errors.raise_all()
    schema: Schema = {"type": "object", "properties": _common() | parts}
    spec = parts["spec"]
    # A root model has no empty default, even if it accepts one.
    is_optional = _may_be_empty(spec) and not getattr(version.spec, "__pydantic_root_model__", False)
    if is_optional:
        spec |= _default(spec)
    return schema if is_optional or "default" in spec else schema | {"required": ["spec"]}


def _may_be_empty(spec: Schema) -> bool:
    """Return whether `{}` is a valid spec. Rules that are checked at creation require an explicit spec."""
    rules = [
        rule for rule in spec.get(VALIDATIONS, ()) if rule.get("optionalOldSelf") or not uses_old_self(rule["rule"])
    ]
    own = {keyword: value for keyword, value in spec.items() if keyword not in {"properties", VALIDATIONS}}
    return not rules and not Evaluator({"type": "object", "properties": {"spec": own}}).validate({"spec": {}})


def _default(spec: Schema) -> Schema:
    """Return the default of a spec that may be empty, if any of its fields has a default.

    The API server checks the rules on this default without setting the defaults of fields, and with itself as the old
    value. So if there are transition rules, it must have all fields that they may read.

    Source: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting/validation.go
    """
    fields = spec.get("properties", {}).values()
    defaulted = ["default" in field for field in fields]
    if "default" in spec or not any(defaulted):
        return {}
    if not spec.get(VALIDATIONS):
        return {"default": {}}
    return {"default": defaulter(spec)({})} if all(defaulted) else {}


def _from_whole(model: type[Any], kind: str, limit: int | None) -> Schema:
    schema = assemble(model, kind, limit=limit, written=f"{kind}.status", ignored=_common().keys())
    schema["properties"] = _common() | schema["properties"]
    # The API server removes the status of new objects before it validates them: it can neither be required nor have a
    # default.
    if "status" in schema["properties"]:
        schema["properties"]["status"].pop("default", None)
    required = [name for name in schema.pop("required", ()) if name != "status"]
    return schema | {"required": required} if required else schema


def _common() -> dict[str, Schema]:
    return {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
