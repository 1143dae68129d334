"""Each rule with a valid definition, an invalid definition, and the problem."""

from base64 import b64encode
from typing import Any

import pytest

from crdgen.lint import Finding, Severity, check_structural, lint
from crdgen.lint.checking import RULES
from tests.differential.crds.definitions import FIELDS, SCHEMA, SPEC, Definition, plain
from tests.differential.crds.edits import DROP, Edit, broken

_VERSION = ("spec", "versions", 0)
_NEW = (*FIELDS, "new")
_EITHER = [{"type": "integer"}, {"type": "string"}]
_TEXT = {"type": "string"}
_ITEM = {"type": "object", "required": ["k"], "properties": {"k": _TEXT}}
_MAP = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
_SCALE = {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"}
_SERVICE = {"service": {"namespace": "ns", "name": "hook"}}
_PEM = b64encode(b"-----BEGIN CERTIFICATE-----\nMIIBaTCC\n-----END CERTIFICATE-----\n").decode()
_OTHER = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}
_PODS = {"type": "object", "properties": {"containers": {"type": "array", "items": {"type": "object"}}}}


def _webhook(client: dict[str, Any], *versions: str) -> dict[str, Any]:
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": list(versions)}}


def _rule(**more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self != ''", **more}]}


def _object(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": _TEXT}, **more}


#: Rule, path of the edit, a valid value, an invalid value, and a part of the problem.
CASES: list[tuple[str, tuple[str | int, ...], Any, Any, str]] = [
    ("value-has-the-right-type", _NEW, _TEXT | {"maxLength": 5}, _TEXT | {"maxLength": 5.0}, "must be an integer"),
    ("field-is-known", _NEW, _TEXT | {"enum": ["x"]}, _TEXT | {"const": "x"}, "const is unknown"),
    (
        "field-within-items-is-known",
        _NEW,
        {"type": "array", "items": _TEXT | {"enum": ["x"]}},
        {"type": "array", "items": _TEXT | {"const": "x"}},
        "silently dropped",
    ),
    ("document-is-a-definition", ("kind",), "CustomResourceDefinition", "Deployment", "kind must be"),
    ("document-says-what-it-is", ("kind",), "CustomResourceDefinition", DROP, "there is no kind"),
    ("document-fits-a-request", (*SPEC, "description"), "x", "x" * 3_200_000, "requests are limited to"),
    ("document-fits-client-side-apply", (*SPEC, "description"), "x", "x" * 270_000, "without --server-side"),
    (
        "name-is-plural-and-group",
        ("metadata", "name"),
        "widgets.lint.example.com",
        "widgets",
        "must be spec.names.plural",
    ),
    ("metadata-is-valid", ("metadata", "labels"), {"a": "b"}, {"a": "b c"}, "an annotation holds any text"),
    ("group-is-a-domain", ("spec", "group"), "lint.example.com", "lint", "a DNS subdomain with a dot"),
    ("group-of-the-community-is-approved", ("spec", "group"), "lint.example.com", "lint.k8s.io", "names no approval"),
    ("scope-is-known", ("spec", "scope"), "Cluster", "namespaced", "scope must be"),
    ("names-are-labels", ("spec", "names", "kind"), "W" * 59, "W" * 60, "listKind"),
    ("list-has-a-kind-of-its-own", ("spec", "names", "listKind"), "Widgets", "Widget", "are the same"),
    ("one-version-is-stored", (*_VERSION, "storage"), True, False, "exactly one version"),
    ("version-names-are-labels", (*_VERSION, "name"), "v1", "V1", "must be a label"),
    ("fields-are-pruned", ("spec", "preserveUnknownFields"), False, True, "must not be true"),
    ("some-version-is-served", (*_VERSION, "served"), True, False, "no version is served"),
    ("stored-versions-stay", ("status",), {"storedVersions": ["v1"]}, {"storedVersions": ["v0"]}, "stored as v0"),
    (
        "versions-hold-the-same-fields",
        ("spec", "versions", 1),
        _OTHER | {"served": False},
        _OTHER,
        "v1 and v2 differ in",
    ),
    (
        "versions-hold-the-same-fields",
        ("spec", "versions", 1),
        _OTHER | {"served": False},
        _OTHER | {"schema": {"openAPIV3Schema": _object(properties={"spec": {"type": "array", "items": _TEXT}})}},
        "spec is object in v1, and array in v2: what is written in one cannot be read in the other",
    ),
    ("strategy-is-known", ("spec", "conversion"), {"strategy": "None"}, {}, "None or Webhook"),
    (
        "review-versions-are-supported",
        ("spec", "conversion"),
        _webhook(_SERVICE, "v2", "v1"),
        _webhook(_SERVICE, "v2"),
        "must be in the list",
    ),
    (
        "webhook-has-one-address",
        ("spec", "conversion"),
        _webhook(_SERVICE, "v1"),
        _webhook(_SERVICE | {"url": "https://x"}, "v1"),
        "exactly one",
    ),
    (
        "webhook-has-one-address",
        ("spec", "conversion"),
        _webhook({"url": "https://x/y"}, "v1"),
        _webhook({"url": "http://x/y"}, "v1"),
        "must begin with https",
    ),
    (
        "webhook-has-one-address",
        ("spec", "conversion"),
        _webhook(_SERVICE, "v1"),
        _webhook({"service": {"name": "hook"}}, "v1"),
        "has no namespace",
    ),
    (
        "ca-bundle-is-pem",
        ("spec", "conversion"),
        _webhook(_SERVICE | {"caBundle": _PEM}, "v1"),
        _webhook(_SERVICE | {"caBundle": "Cg=="}, "v1"),
        "not a PEM certificate",
    ),
    ("version-has-a-schema", (*_VERSION, "schema"), {"openAPIV3Schema": {"type": "object"}}, {}, "there is no schema"),
    ("deprecation-warning-is-printable", (*_VERSION, "deprecationWarning"), None, "old", "not deprecated"),
    ("root-keeps-status-apart", (*SCHEMA, "minProperties"), DROP, 1, "if the version has a status subresource"),
    ("status-is-declared", (*SCHEMA, "properties", "status"), {"type": "object"}, DROP, "does not declare status"),
    (
        "scale-paths-are-of-spec-and-status",
        (*_VERSION, "subresources", "scale"),
        _SCALE,
        _SCALE | {"statusReplicasPath": ".spec.count"},
        "must begin with .status.",
    ),
    (
        "columns-are-complete",
        (*_VERSION, "additionalPrinterColumns", 0, "type"),
        "date",
        "float",
        "no column type 'float'",
    ),
    (
        "selectable-fields-are-scalars",
        (*_VERSION, "selectableFields"),
        [{"jsonPath": ".spec.text"}],
        [{"jsonPath": ".spec.words"}],
        "must be a boolean, integer, string",
    ),
    (
        "scale-is-bounded-by-the-schema",
        (*_VERSION, "subresources", "scale"),
        _SCALE,
        _SCALE | {"specReplicasPath": ".spec.inner.b"},
        "bypasses a webhook",
    ),
    (
        "scale-paths-are-declared",
        (*_VERSION, "subresources", "scale"),
        _SCALE,
        _SCALE | {"specReplicasPath": ".spec.nothing"},
        "which is not declared",
    ),
    (
        "service-name-is-valid",
        ("spec", "conversion"),
        _webhook(_SERVICE, "v1"),
        _webhook({"service": {"namespace": "ns", "name": "Hook"}}, "v1"),
        "must be a label",
    ),
    (
        "columns-print-something",
        (*_VERSION, "additionalPrinterColumns", 0),
        {"name": "A", "type": "string", "jsonPath": ".spec.count"},
        {"name": "A", "type": "date", "jsonPath": ".spec.count"},
        "never prints",
    ),
    (
        "columns-print-something",
        (*_VERSION, "additionalPrinterColumns", 0, "jsonPath"),
        ".spec.any.x",
        ".spec.nothing",
        "the column stays empty",
    ),
    ("type-is-known", _NEW, _TEXT, {"type": "any"}, "type must be one of"),
    ("list-has-items", _NEW, {"type": "array", "items": _TEXT}, {"type": "array"}, "needs the schema of its items"),
    ("type-is-set", _NEW, {"x-kubernetes-preserve-unknown-fields": True}, {"minimum": 1}, "type must be one of"),
    (
        "branches-only-restrict",
        _NEW,
        _object(anyOf=[{"required": ["a"]}]),
        _object(anyOf=[{"type": "object"}]),
        "type must not be within a branch",
    ),
    ("root-is-an-object", (*SCHEMA, "nullable"), False, True, "cannot be null"),
    (
        "items-are-one-schema",
        _NEW,
        {"type": "array", "items": _TEXT},
        {"type": "array", "items": [_TEXT]},
        "one schema",
    ),
    (
        "fields-or-map",
        _NEW,
        {"type": "object", "additionalProperties": _TEXT},
        _object(additionalProperties=_TEXT),
        "exclude each other",
    ),
    ("resource-is-no-map", (*SCHEMA, "additionalProperties"), DROP, True, "must not have additionalProperties"),
    (
        "branches-of-the-root-are-declared",
        SCHEMA,
        _object(anyOf=[{"properties": {"a": {"minLength": 1}}}]),
        _object(anyOf=[{"properties": {"b": {"minLength": 1}}}]),
        "properties[b] is restricted",
    ),
    (
        "int-or-string-stands-alone",
        _NEW,
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True},
        "exclude each other",
    ),
    (
        "preserving-is-never-off",
        _NEW,
        {"x-kubernetes-preserve-unknown-fields": True},
        _TEXT | {"x-kubernetes-preserve-unknown-fields": False},
        "true or left out",
    ),
    (
        "embedded-resource-is-whole",
        _NEW,
        _object(**{"x-kubernetes-embedded-resource": True}),
        {"type": "object", "x-kubernetes-embedded-resource": True},
        "needs fields",
    ),
    ("type-meta-is-text", (*SCHEMA, "properties", "kind"), _TEXT, {"type": "integer"}, "type of kind must be string"),
    (
        "root-metadata-is-bare",
        (*SCHEMA, "properties", "metadata"),
        _object(properties={"name": _TEXT}),
        _object(properties={"labels": {"type": "object"}}),
        "properties[labels]",
    ),
    (
        "branches-are-declared",
        _NEW,
        _object(anyOf=[{"properties": {"a": {"minLength": 1}}}]),
        _object(anyOf=[{"properties": {"b": {"minLength": 1}}}]),
        "and pruned",
    ),
    (
        "int-or-string-has-no-type",
        _NEW,
        {"x-kubernetes-int-or-string": True},
        _TEXT | {"x-kubernetes-int-or-string": True},
        "excludes a type",
    ),
    (
        "either-type-needs-int-or-string",
        _NEW,
        {"x-kubernetes-int-or-string": True, "anyOf": _EITHER},
        _TEXT | {"anyOf": _EITHER},
        "does not widen",
    ),
    ("keyword-is-supported", _NEW, _TEXT, _TEXT | {"$ref": "#/x"}, "$ref is not supported"),
    ("pattern-is-of-go", _NEW, _TEXT | {"pattern": "^\\pL"}, _TEXT | {"pattern": "(?=x)"}, "it has look-ahead"),
    ("format-is-checked", _NEW, _TEXT | {"format": "date-time"}, _TEXT | {"format": "path"}, "format path is ignored"),
    (
        "duration-is-of-go",
        _NEW,
        _TEXT | {"format": "duration", "default": "30s"},
        _TEXT | {"format": "duration"},
        "reads PT0.5S as 5 seconds",
    ),
    (
        "duration-is-of-go",
        _NEW,
        _TEXT | {"format": "duration", "example": "720h"},
        _TEXT | {"format": "duration", "default": "P90D"},
        "P90D is ISO 8601, but format duration has Go's syntax",
    ),
    ("keyword-fits-the-type", _NEW, _TEXT | {"maxLength": 1}, _TEXT | {"maximum": 1}, "maximum has no effect"),
    (
        "bounds-leave-something",
        _NEW,
        _TEXT | {"maxLength": 1},
        _TEXT | {"minLength": 2, "maxLength": 1},
        "no value satisfies",
    ),
    ("enum-can-be-met", _NEW, _TEXT | {"enum": ["a"]}, _TEXT | {"enum": [1]}, "1 is no value of type string"),
    (
        "required-field-is-declared",
        _NEW,
        _object(required=["a"]),
        _object(required=["b"]),
        "b is required but not declared",
    ),
    (
        "merge-type-is-known",
        _NEW,
        _object(**{"x-kubernetes-map-type": "atomic"}),
        _TEXT | {"x-kubernetes-map-type": "atomic"},
        "for objects",
    ),
    (
        "map-keys-belong-to-map-lists",
        _NEW,
        _MAP | {"items": _ITEM},
        _MAP | {"items": _ITEM, "x-kubernetes-list-type": "set"},
        "of type map",
    ),
    (
        "merge-type-is-known",
        _NEW,
        _MAP | {"items": _ITEM},
        _TEXT | {"x-kubernetes-list-type": "atomic"},
        "a list type is for lists",
    ),
    (
        "items-can-be-told-apart",
        _NEW,
        {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": _ITEM, "x-kubernetes-list-type": "set"},
        "scalars, or atomic objects",
    ),
    (
        "items-can-be-told-apart",
        _NEW,
        _MAP | {"items": _ITEM},
        _MAP | {"items": _ITEM | {"nullable": True}},
        "not nullable",
    ),
    ("items-can-be-told-apart", _NEW, _MAP | {"items": _ITEM}, _MAP | {"items": _TEXT}, "are objects"),
    (
        "map-keys-identify-items",
        _NEW,
        _MAP | {"items": _ITEM},
        _MAP | {"items": _ITEM, "x-kubernetes-list-map-keys": ["x"]},
        "no field of the items",
    ),
    (
        "map-keys-identify-items",
        _NEW,
        _MAP | {"items": {"type": "object", "properties": {"k": _TEXT | {"default": "x"}}}},
        _MAP | {"items": {"type": "object", "properties": {"k": _TEXT}}},
        "must be required or have a default",
    ),
    ("rule-is-complete", _NEW, _rule(), _rule(rule=" "), "the rule is empty"),
    ("rule-is-complete", _NEW, _rule(message="no"), _rule(message="no\nno"), "line breaks"),
    ("rule-is-complete", _NEW, _rule(reason="FieldValueInvalid"), _rule(reason="Invalid"), "no reason Invalid"),
    (
        "field-path-leads-somewhere",
        _NEW,
        _object(**{"x-kubernetes-validations": [{"rule": "true", "fieldPath": ".a"}]}),
        _object(**{"x-kubernetes-validations": [{"rule": "true", "fieldPath": ".b"}]}),
        "leads to b, which is not declared",
    ),
    (
        "rule-sees-a-type",
        _NEW,
        {"x-kubernetes-int-or-string": True, "x-kubernetes-validations": [{"rule": "true"}]},
        {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [{"rule": "true"}]},
        "without a type",
    ),
    (
        "old-self-can-be-found",
        _NEW,
        {"type": "array", "maxItems": 1, "items": _rule()},
        {"type": "array", "maxItems": 1, "items": _rule(rule="self == oldSelf")},
        "oldSelf is unknown here",
    ),
    ("optional-old-self-is-used", _NEW, _rule(), _rule(optionalOldSelf=True), "does not read oldSelf"),
    ("rule-compiles", _NEW, _rule(rule="self == 'x'"), _rule(rule="self =="), "'self =='"),
    (
        "rules-are-cheap",
        _NEW,
        _TEXT | {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
        _TEXT | {"x-kubernetes-validations": [{"rule": "self.matches('^[a-z]+[0-9]+$')"}]},
        "is estimated to cost about",
    ),
    (
        "rule-is-checked",
        _NEW,
        _TEXT | {"x-kubernetes-validations": [{"rule": "self != 'a'"}]},
        _TEXT | {"x-kubernetes-validations": [{"rule": f"{'(' * 40}self{')' * 40} != 'a'"}]},
        "was not checked: is too deep",
    ),
    (
        "rule-sees-declared-fields",
        _NEW,
        _object(**{"x-kubernetes-validations": [{"rule": "true"}]}),
        {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "x-kubernetes-validations": [{"rule": "true"}],
        },
        "invisible to rules",
    ),
    ("default-is-allowed-here", (*SCHEMA, "properties", "kind", "default"), DROP, "Widget", "must be no default"),
    ("default-is-pruned", _NEW, _object(default={"a": "x"}), _object(default={"b": "x"}), "are not declared"),
    ("default-is-valid", _NEW, _TEXT | {"default": "x"}, _TEXT | {"default": 1}, "the default breaks the schema"),
    (
        "default-of-a-resource-is-whole",
        (*FIELDS, "embedded", "default"),
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1"},
        "no whole resource",
    ),
    (
        "default-leaves-the-object-valid",
        _NEW,
        {"x-kubernetes-int-or-string": True, "default": 1},
        {"x-kubernetes-int-or-string": True, "default": True},
        "an integer or a string",
    ),
    (
        "default-leaves-the-object-valid",
        _NEW,
        {"type": "object", "additionalProperties": _object(properties={"a": _TEXT | {"default": "x"}})},
        {"type": "object", "additionalProperties": _object(properties={"a": _TEXT | {"default": 1}})},
        "the default breaks the schema",
    ),
    (
        "default-can-be-set",
        _NEW,
        _object(properties={"a": _TEXT | {"default": "x"}}, default={}),
        _object(properties={"a": _TEXT | {"default": "x"}}),
        "the default of a is not set if spec.new is left out",
    ),
    (
        "default-has-an-effect",
        (*SCHEMA, "default"),
        DROP,
        {"apiVersion": "a/v1", "kind": "A"},
        "has no effect",
    ),
    (
        "default-has-an-effect",
        _NEW,
        {"type": "array", "items": _TEXT},
        {"type": "array", "items": _TEXT | {"default": "x"}},
        "only replaces null",
    ),
    ("object-has-fields", _NEW, _object(), {"type": "object"}, "so all its fields are pruned"),
    (
        "object-has-fields",
        _NEW,
        _object(properties={"metadata": _object(), "spec": _object()}),
        _object(properties={"metadata": {"type": "object"}, "spec": _object()}),
        "labels and annotations of spec.new.metadata are pruned",
    ),
    (
        "map-of-anything-keeps-it",
        _NEW,
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "additionalProperties": True},
        "lose their fields",
    ),
    (
        "derived-names-are-valid",
        _NEW,
        _object(properties={"spec": _object()}),
        _object(properties={"spec": _PODS}),
        "names of 253 characters",
    ),
]


def _of_rule(definition: Definition, rule: str) -> list[Finding]:
    return [finding for finding in lint(definition) if finding.rule == rule]


@pytest.mark.parametrize("rule, path, valid, invalid, problem", CASES, ids=[case[0] for case in CASES])
def test_the_rule_accepts_valid_and_reports_invalid_values(
    rule: str, path: tuple[str | int, ...], valid: Any, invalid: Any, problem: str
) -> None:
    assert _of_rule(broken(Edit(path, valid)), rule) == []
    findings = _of_rule(broken(Edit(path, invalid)), rule)
    assert [finding for finding in findings if problem in finding.problem], findings
    (severity,) = {known.severity for known in RULES if known.name == rule}
    for finding in findings:
        assert finding.severity is severity
        assert finding.fix


def test_every_rule_has_a_case() -> None:
    elsewhere = {"document-is-nested-reasonably"}
    assert {case[0] for case in CASES} | elsewhere == {rule.name for rule in RULES}


def test_the_plain_definition_has_no_findings() -> None:
    assert lint(plain()) == []


def test_bounds_that_exclude_a_type_from_untyped_values_are_not_reported() -> None:
    no_list = {"x-kubernetes-preserve-unknown-fields": True, "minItems": 1, "maxItems": 0}
    in_a_branch = {
        "x-kubernetes-preserve-unknown-fields": True,
        "anyOf": [{"minItems": 1, "maxItems": 0}, {"minimum": 1}],
    }
    for schema in (no_list, in_a_branch):
        assert _of_rule(broken(Edit(_NEW, schema)), "bounds-leave-something") == []


def test_an_unknown_field_is_a_warning_without_strict_decoding() -> None:
    definition = broken(Edit(_NEW, _TEXT | {"const": "x"}))
    assert [finding.severity for finding in lint(definition)] == [Severity.ERROR]
    assert [finding.severity for finding in lint(definition, strict=False)] == [Severity.WARNING]


def test_paths_are_written_like_on_the_api_server() -> None:
    (finding,) = lint(broken(Edit(_NEW, _TEXT | {"default": 1})))
    assert finding.path == "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[new].default"


def test_paths_in_a_schema_are_field_paths() -> None:
    inner = {"type": "array", "items": {"type": "object", "additionalProperties": _TEXT | {"default": 1}}}
    (finding,) = check_structural(
        {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": inner}}}}
    )
    assert finding.path == "spec.a[].*"
