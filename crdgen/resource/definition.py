"""The last stage: combine schemas and names into a CustomResourceDefinition, and lint it."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from crdgen.cel import uses_old_self
from crdgen.evaluate import Evaluator
from crdgen.evaluate.pruning import defaulter
from crdgen.generate.errors import SchemaError, SchemaErrors
from crdgen.generate.pipeline import assemble
from crdgen.generate.tidy import descriptions, order, shorten
from crdgen.markers.marker import Descriptions
from crdgen.resource.resource import Column, Conversion, CustomResource, Names, Scale, Service, Version
from crdgen.schema import INT_OR_STRING, SCALARS, VALIDATIONS, Schema
from crdgen.schema.limits import API_APPROVED

_API_VERSION: Final = "apiextensions.k8s.io/v1"
# Warnings that are certainly mistakes of the author.
_CERTAIN_MISTAKES: Final = frozenset(
    {
        *("bounds-leave-something", "ca-bundle-is-pem", "columns-print-something"),
        *("scale-paths-are-declared", "service-name-is-valid", "some-version-is-served"),
    }
)


def crd(resource: CustomResource) -> dict[str, Any]:
    """Return the complete `apiextensions.k8s.io/v1` CustomResourceDefinition, in a fixed order.

    Raises:
        SchemaError: A model has no structural schema, or the linter reports errors or certain mistakes in the
            definition; the message names the path and the fix.
    """
    # The linter takes long to import, and schemas alone do not need it.
    from crdgen.lint import LintSeverity, lint  # noqa: PLC0415
    from crdgen.lint.checking import field_path  # noqa: PLC0415

    crd_ = definition(resource)
    findings = [
        finding for finding in lint(crd_) if finding.severity is LintSeverity.ERROR or finding.rule in _CERTAIN_MISTAKES
    ]
    # The name consists of group and plural, which have their own findings, except for its length.
    findings = [finding for finding in findings if finding.path != "metadata.name"] or findings
    errors = SchemaErrors()
    for finding in findings:
        with errors.collecting():
            in_schema = ".schema.openAPIV3Schema" in finding.path
            path = f".{field_path(finding.path)}".rstrip(".") if in_schema else f" {finding.path}"
            raise SchemaError(resource.names.kind + path, finding.problem, finding.fix)
    errors.raise_all()
    return crd_


def definition(resource: CustomResource) -> dict[str, Any]:
    """Return the definition without linting it."""
    approval = {API_APPROVED: resource.api_approved} if resource.api_approved else {}
    metadata = {"labels": dict(resource.labels), "annotations": dict(resource.annotations) | approval}
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
            "metadata": {"name": f"{resource.names.plural}.{resource.group}"} | _nonempty(metadata),
            "spec": spec,
        }
    )


def schema_of(resource: CustomResource, version: str = "") -> Schema:
    """Return the schema of a version, by default the stored one, as in the definition."""
    (found,) = (each for each in resource.versions if (each.name == version if version else each.storage))
    return order(_schema(found, resource.names.kind, resource.descriptions))


def _nonempty(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping without empty values."""
    return {key: value for key, value in entry.items() if value}


def _json(part: Names | Column | Service) -> dict[str, Any]:
    """Return a part of a resource as JSON."""
    entries = {to_camel(name): list(value) if isinstance(value, tuple) else value for name, value in vars(part).items()}
    return _nonempty(entries)


def _schema(version: Version, kind: str, policy: Descriptions) -> Schema:
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


def _versions(resource: CustomResource) -> list[dict[str, Any]]:
    versions = []
    errors = SchemaErrors()
    for version in resource.versions:
        with errors.collecting():
            versions.append(_version(version, resource.names.kind, resource.descriptions))
    errors.raise_all()
    return versions


def _version(version: Version, kind: str, policy: Descriptions) -> dict[str, Any]:
    schema = _schema(version, kind, policy)
    status: dict[str, Any] = {} if version.status is None else {"status": {}}
    optional = {
        "additionalPrinterColumns": [
            _nonempty(_json(item) | {"type": item.type or _column_type(item.json_path, schema)})
            for item in version.columns
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
        **_nonempty(optional),
        **warning,
    }


def _column_type(path: str, schema: Schema) -> str:
    """Return the type of a column's field; empty if it is not a scalar, or unknown."""
    from crdgen.lint.fieldpath import PathError, column  # noqa: PLC0415 - with the linter

    try:
        node = column(path, schema) or {}
    except PathError:  # the linter reports it
        return "string"
    kind = "string" if node.get(INT_OR_STRING) else node.get("type", "")
    if kind == "string" and node.get("format") in {"date", "date-time"}:
        return "date"
    return kind if kind in SCALARS else ""


def _scale(scale: Scale) -> dict[str, str]:
    paths = {"specReplicasPath": scale.replicas, "statusReplicasPath": scale.status_replicas}
    return paths | _nonempty({"labelSelectorPath": scale.selector})


def _conversion(conversion: Conversion) -> dict[str, Any]:
    bundle = conversion.ca_bundle
    text = base64.b64encode(bundle.encode() if isinstance(bundle, str) else bundle).decode()
    client = _nonempty({"url": conversion.url, "caBundle": text})
    if conversion.service is not None:
        client["service"] = _json(conversion.service) | {"port": conversion.service.port}
    webhook = {"clientConfig": client, "conversionReviewVersions": list(conversion.review_versions)}
    return {"strategy": "Webhook", "webhook": webhook}
