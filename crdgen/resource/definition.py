"""The last stage: schemas and names become a CustomResourceDefinition, which is linted before it is given away."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from crdgen.cel import uses_old_self
from crdgen.evaluate import Evaluator
from crdgen.evaluate.pruning import defaulter
from crdgen.generate.errors import SchemaError, SchemaErrors
from crdgen.generate.pipeline import assembled
from crdgen.generate.tidy import descriptions, order, shortened
from crdgen.lint import LintSeverity, lint
from crdgen.lint.checking import field_path
from crdgen.lint.fieldpath import PathError, column
from crdgen.markers.marker import Descriptions
from crdgen.resource.resource import Column, Conversion, CustomResource, Names, Scale, Service, Version
from crdgen.schema import INT_OR_STRING, SCALARS, VALIDATIONS, Schema
from crdgen.schema.limits import API_APPROVED

_API_VERSION: Final = "apiextensions.k8s.io/v1"
# What the API server takes, and no author means.
_NEVER_MEANT: Final = frozenset(
    {
        *("bounds-leave-something", "ca-bundle-is-pem", "columns-print-something"),
        *("scale-paths-are-declared", "service-can-be-there", "some-version-is-served"),
    }
)


def crd(resource: CustomResource) -> dict[str, Any]:
    """Return the `apiextensions.k8s.io/v1` CustomResourceDefinition, complete and in a fixed order.

    Raises:
        SchemaError: When a model has no structural schema, or the linter finds in the definition what the API server
            would reject, or what no author means; the message names the place and the fix.
    """
    made = definition(resource)
    found = [one for one in lint(made) if one.severity is LintSeverity.ERROR or one.rule in _NEVER_MEANT]
    # The name is made of group and plural: what is wrong with it is wrong with them, but for its length.
    found = [one for one in found if one.path != "metadata.name"] or found
    errors = SchemaErrors()
    for finding in found:
        with errors.collecting():
            in_schema = ".schema.openAPIV3Schema" in finding.path
            at = f".{field_path(finding.path)}".rstrip(".") if in_schema else f" {finding.path}"
            raise SchemaError(resource.names.kind + at, finding.problem, finding.fix)
    errors.raise_all()
    return made


def definition(resource: CustomResource) -> dict[str, Any]:
    """Return the definition before it is linted."""
    approved = {API_APPROVED: resource.api_approved} if resource.api_approved else {}
    texts = {"labels": dict(resource.labels), "annotations": dict(resource.annotations) | approved}
    spec: dict[str, Any] = {
        "group": resource.group,
        "names": _json(resource.names),
        "scope": resource.scope,
        "versions": _versions(resource),
    }
    if resource.conversion is not None:
        spec["conversion"] = _conversion(resource.conversion)
    return order(
        {
            "apiVersion": _API_VERSION,
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{resource.names.plural}.{resource.group}"} | _written(texts),
            "spec": spec,
        }
    )


def _written(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that say something."""
    return {key: value for key, value in entry.items() if value}


def _json(part: Names | Column | Service) -> dict[str, Any]:
    """Return what a part of a resource says, as JSON."""
    entries = {to_camel(name): list(value) if isinstance(value, tuple) else value for name, value in vars(part).items()}
    return _written(entries)


def _schema(version: Version, kind: str, policy: Descriptions) -> Schema:
    """Return the schema of the whole object: type, metadata, spec and status.

    A spec that may be empty may also be left out, and is then an empty one, whose fields have their defaults. It is
    required where a field of it is, and where a rule is to hold of every spec. `policy` says how much of the
    descriptions stays, where the version does not.
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
    return whole


def _of_parts(version: Version, kind: str, limit: int | None) -> Schema:
    models = {"spec": version.spec, "status": version.status}
    parts: dict[str, Schema] = {}
    errors = SchemaErrors()
    for name, model in models.items():
        if model is not None:
            with errors.collecting():
                parts[name] = assembled(model, f"{kind}.{name}", limit=limit, written=f"{kind}.status")
    errors.raise_all()
    schema: Schema = {"type": "object", "properties": _common() | parts}
    spec = parts["spec"]
    # A root model is not made of nothing, whatever it takes.
    of_nothing = _may_be_empty(spec) and not getattr(version.spec, "__pydantic_root_model__", False)
    if of_nothing:
        spec |= _default(spec)
    return schema if of_nothing or "default" in spec else schema | {"required": ["spec"]}


def _may_be_empty(spec: Schema) -> bool:
    """Return whether `{}` is a spec. Rules that are looked at when an object is made want one that is written."""
    rules = [one for one in spec.get(VALIDATIONS, ()) if one.get("optionalOldSelf") or not uses_old_self(one["rule"])]
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


def _of_whole(model: type[Any], kind: str, limit: int | None) -> Schema:
    schema = assembled(model, kind, limit=limit, written=f"{kind}.status", ignored=_common().keys())
    schema["properties"] = _common() | schema["properties"]
    # The API server takes the status away from what is created before it validates: it can be neither required nor
    # given by a default.
    if "status" in schema["properties"]:
        schema["properties"]["status"].pop("default", None)
    required = [name for name in schema.pop("required", ()) if name != "status"]
    return schema | {"required": required} if required else schema


def _common() -> dict[str, Schema]:
    return {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}


def _versions(resource: CustomResource) -> list[dict[str, Any]]:
    found = []
    errors = SchemaErrors()
    for version in resource.versions:
        with errors.collecting():
            found.append(_version(version, resource.names.kind, resource.descriptions))
    errors.raise_all()
    return found


def _version(version: Version, kind: str, policy: Descriptions) -> dict[str, Any]:
    schema = _schema(version, kind, policy)
    status: dict[str, Any] = {} if version.status is None else {"status": {}}
    optional = {
        "additionalPrinterColumns": [
            _written(_json(one) | {"type": one.type or _column_type(one.json_path, schema)}) for one in version.columns
        ],
        "deprecated": version.deprecated is not False,
        "selectableFields": [{"jsonPath": path} for path in version.selectable],
        "subresources": status | ({} if version.scale is None else {"scale": _scale(version.scale)}),
    }
    warning = {"deprecationWarning": version.deprecated} if isinstance(version.deprecated, str) else {}
    return {
        "name": version.name,
        "schema": {"openAPIV3Schema": schema},
        "served": version.served,
        "storage": version.storage,
        **_written(optional),
        **warning,
    }


def _column_type(path: str, schema: Schema) -> str:
    """Return the type of the field that a column shows; nothing where it is no scalar, or the schema does not say."""
    try:
        node = column(path, schema) or {}
    except PathError:  # which the linter reports
        return "string"
    kind = "string" if node.get(INT_OR_STRING) else node.get("type", "")
    if kind == "string" and node.get("format") in {"date", "date-time"}:
        return "date"
    return kind if kind in SCALARS else ""


def _scale(scale: Scale) -> dict[str, str]:
    paths = {"specReplicasPath": scale.replicas, "statusReplicasPath": scale.status_replicas}
    return paths | _written({"labelSelectorPath": scale.selector})


def _conversion(conversion: Conversion) -> dict[str, Any]:
    bundle = conversion.ca_bundle
    text = base64.b64encode(bundle.encode() if isinstance(bundle, str) else bundle).decode()
    client = _written({"url": conversion.url, "caBundle": text})
    if conversion.service is not None:
        client["service"] = _json(conversion.service) | {"port": conversion.service.port}
    webhook = {"clientConfig": client, "conversionReviewVersions": list(conversion.review_versions)}
    return {"strategy": "Webhook", "webhook": webhook}
