"""The last stage: combine schemas and names into a CustomResourceDefinition, and lint it."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import asdict
from pydantic.alias_generators import to_camel

from crdgen.generate.errors import SchemaError, SchemaErrors
from crdgen.generate.tidy import order
from crdgen.lint import Severity, lint
from crdgen.lint.checking import field_path
from crdgen.lint.fieldpath import PathError, column
from crdgen.markers.marker import Descriptions
from crdgen.resource.resource import Column, Conversion, CustomResource, Names, Scale, Service, Version
from crdgen.resource.schema import version_schema
from crdgen.schema import INT_OR_STRING, SCALARS, Schema
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
    crd_ = definition(resource)
    findings = [
        finding for finding in lint(crd_) if finding.severity is Severity.ERROR or finding.rule in _CERTAIN_MISTAKES
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


def _nonempty(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping without empty values."""
    return {key: value for key, value in entry.items() if value}


def _json(part: Names | Column | Service) -> dict[str, Any]:
    """Return a part of a resource as JSON."""
    entries = {
        to_camel(name): list(value) if isinstance(value, tuple) else value for name, value in asdict(part).items()
    }
    return _nonempty(entries)


def _versions(resource: CustomResource) -> list[dict[str, Any]]:
    versions = []
    errors = SchemaErrors()
    for version in resource.versions:
        with errors.collecting():
            versions.append(_version(version, resource.names.kind, resource.descriptions))
    errors.raise_all()
    return versions


def _version(version: Version, kind: str, policy: Descriptions) -> dict[str, Any]:
    schema = version_schema(version, kind, policy)
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
