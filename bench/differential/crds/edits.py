"""Edits of the plain definition: each rule broken on purpose, and what looks broken and is not."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from bench.differential.crds.definitions import FIELDS, SCHEMA, SPEC, Definition, plain

DROP = object()
_NAMES = ("spec", "names")
_VERSION = ("spec", "versions", 0)
_META = ("metadata",)
_ITEMS = (*FIELDS, "parts", "items")


@dataclass(frozen=True)
class Edit:
    """Put a value somewhere, or take what is there away."""

    path: Sequence[str | int]
    value: Any

    @property
    def name(self) -> str:
        where = ".".join(str(step) for step in self.path[-3:])
        return f"no {where}" if self.value is DROP else f"{where}: {str(self.value)[:60]}"

    def apply(self, definition: Definition) -> bool:
        """Change the definition; False where another edit took the place away."""
        current: Any = definition
        for step in self.path[:-1]:
            if isinstance(current, dict):
                current = current.setdefault(step, {}) if isinstance(step, str) else None
            elif isinstance(current, list) and isinstance(step, int) and step < len(current):
                current = current[step]
            else:
                return False
        last = self.path[-1]
        if isinstance(current, list) and isinstance(last, int):
            current[last : last + 1] = [] if self.value is DROP else [deepcopy(self.value)]
        elif isinstance(current, dict) and self.value is DROP:
            current.pop(last, None)
        elif isinstance(current, dict):
            current[last] = deepcopy(self.value)
        else:
            return False
        return True


def broken(*edits: Edit) -> Definition:
    """Return the plain definition with the edits."""
    definition = plain()
    for edit in edits:
        edit.apply(definition)
    return definition


def _at(path: Sequence[str | int], **values: Any) -> list[Edit]:
    return [Edit((*path, key), value) for key, value in values.items()]


def _each(path: Sequence[str | int], *values: Any) -> list[Edit]:
    return [Edit(path, value) for value in values]


def _field(*schemas: Any) -> list[Edit]:
    """A new field of spec with each of the schemas."""
    return _each((*FIELDS, "new"), *schemas)


def _values(*values: Any) -> Sequence[Any]:
    """Values of all types, one after the other."""
    return values


def _rule(**more: Any) -> dict[str, Any]:
    return {"rule": "self == self", **more}


def _rules(path: Sequence[str | int], *rules: dict[str, Any]) -> list[Edit]:
    return [Edit((*path, "x-kubernetes-validations"), [rule]) for rule in rules]


_DOCUMENT = [
    *_at((), apiVersion="apiextensions.k8s.io/v1beta1", kind="Deployment", extra=1, spec=DROP, metadata=DROP),
    *_each(("apiVersion",), DROP, 5, "v1"),
    *_each(("kind",), DROP, None),
    *_each(("spec",), None, [], "x", {}),
    *_each(("status",), None, {}, {"storedVersions": ["v0"]}, {"storedVersions": "v0"}, {"unknown": 1}, []),
    *_each(
        ("status", "conditions"),
        [{"type": "Established", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}],
        [{"type": "Established", "status": "True", "lastTransitionTime": "yesterday"}],
    ),
]

_METADATA = [
    *_each((*_META, "name"), "widget.lint.example.com", "", DROP, 5, "Widgets.lint.example.com"),
    *_each((*_META, "generateName"), "widgets", "widgets.lint.example.com"),
    *_each(
        (*_META, "labels"),
        {"a": "b"},
        {"a": 1},
        {"a/b/c": "x"},
        {"a": "x y"},
        {"": "x"},
        {"a": ""},
        {"é": "x"},
        [],
        None,
    ),
    *_each((*_META, "labels"), {"a" * 63: "x"}, {"a" * 64: "x"}, {"a": "x" * 63}, {"a": "x" * 64}, {"A_b.c": "-x"}),
    *_each(
        (*_META, "annotations"), {"a": "any text é"}, {"a b": "x"}, {"UP.example.com/x": "y"}, {"a": None}, {"a": True}
    ),
    *_each((*_META, "annotations"), {"a": "x" * 262_143}, {"a": "x" * 262_144}),
    *_each((*_META, "finalizers"), ["example.com/x"], ["x y"], [""], "x", ["orphan", "foregroundDeletion"]),
    *_each((*_META, "namespace"), "default"),
    *_each((*_META, "creationTimestamp"), None, "2020-01-01T00:00:00Z", "soon"),
    *_each((*_META, "generation"), 5, 5.5, "5"),
    *_each(
        (*_META, "ownerReferences"), [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}], [{"kind": "Pod"}]
    ),
    *_each((*_META, "unknown"), 1),
]

_GROUP = [
    *(
        edit
        for group in ("widgets", "", "Lint.example.com", "lint_x.example.com", "-a.b", "a..b", "a.b-", "example.k8s.io")
        for edit in _each(("spec", "group"), group)
    ),
    *_each(("spec", "group"), DROP, None, 5),
]

_KINDS = [
    *_each(("spec", "scope"), "namespaced", "", DROP, "Cluster", 1),
    *_each(_NAMES, DROP, {}, []),
    *_each(
        (*_NAMES, "kind"), "widget", "Wid_get", "", DROP, "1Widget", "W" * 63, "W" * 60, "W" * 59, "Wid-Get", "Ünit"
    ),
    *_each((*_NAMES, "plural"), "Widgets", "", DROP, "wid.gets", 5),
    *_each((*_NAMES, "singular"), "Widget", "", "thing", "a" * 64, None),
    *_each((*_NAMES, "listKind"), "Widget", "widgetList", "", "Widget List"),
    *_each((*_NAMES, "shortNames"), ["w"], ["W"], [""], [None], "w", ["w", "w"], [], None, ["w.x"]),
    *_each((*_NAMES, "categories"), ["all"], ["All things"], [5]),
    *_each((*_NAMES, "unknown"), 1),
]

_OTHER = {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}
_VERSIONS = [
    *_each(("spec", "versions"), [], DROP, None, {}, "v1"),
    *_each(
        ("spec", "versions", 1), _OTHER, _OTHER | {"name": "v1"}, _OTHER | {"storage": True}, _OTHER | {"schema": None}
    ),
    *_each(("spec", "versions", 1), {"name": "v2"}, None, _OTHER | {"name": "V2"}, _OTHER | {"unknown": 1}),
    *_each(("spec", "versions", 1), _OTHER | {"deprecated": True, "deprecationWarning": "use v1"}),
    *_each((*_VERSION, "name"), "V1", "", DROP, "1", "v1.0", "v-1", "a" * 63, "a" * 64, 1),
    *_each((*_VERSION, "served"), False, DROP, "true", None, 1),
    *_each((*_VERSION, "storage"), False, DROP, None),
    *_each((*_VERSION, "deprecated"), True, "yes"),
    *_each((*_VERSION, "deprecationWarning"), "old", "", None),
    *_each((*_VERSION, "schema"), DROP, None, {}, {"openAPIV3Schema": None}, {"openAPIV3Schema": {}}, [], {"x": {}}),
    *_each(("spec", "preserveUnknownFields"), True, False, None, "no"),
    *_each(("spec", "version"), "v1"),
    *_each(("spec", "validation"), {}),
]

_PATHS = (".spec.count", ".spec", ".status.replicas", "spec.count", "", ".", ".spec.", ".spec.nothing", ".spec..count")
_SUBRESOURCES = [
    *_each((*_VERSION, "subresources"), {}, DROP, None, [], {"other": {}}, {"status": None}, {"status": {"x": 1}}),
    *_each((*_VERSION, "subresources", "scale"), {}, None, [], {"specReplicasPath": ".spec.count"}),
    *(
        Edit((*_VERSION, "subresources", "scale"), {"specReplicasPath": path, "statusReplicasPath": ".status.replicas"})
        for path in _PATHS
    ),
    *(
        Edit((*_VERSION, "subresources", "scale"), {"specReplicasPath": ".spec.count", "statusReplicasPath": path})
        for path in _PATHS
    ),
    *(
        Edit(
            (*_VERSION, "subresources", "scale"),
            {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas", "labelSelectorPath": path},
        )
        for path in (*_PATHS, None, ".metadata.x")
    ),
]

_COLUMN = {"name": "C", "type": "string", "jsonPath": ".spec.text"}
_COLUMNS = [
    *_each((*_VERSION, "additionalPrinterColumns"), [], None, {}, [None], [{}], "x"),
    *(
        Edit((*_VERSION, "additionalPrinterColumns", 0), _COLUMN | change)
        for change in (
            {"name": ""},
            {"type": "float"},
            {"type": ""},
            {"type": "date"},
            {"type": "String"},
            {"format": "int32"},
            {"format": "uuid"},
            {"format": ""},
            {"priority": 1},
            {"priority": 2**31},
            {"priority": "1"},
            {"priority": 1.5},
            {"jsonPath": ""},
            {"jsonPath": "spec.text"},
            {"jsonPath": "."},
            {"jsonPath": ".spec.words[0]"},
            {"jsonPath": ".spec.parts[?(@.name=='x')].weight"},
            {"jsonPath": ".spec.nothing"},
            {"JSONPath": ".spec.text"},
            {"description": 5},
        )
    ),
]

_SELECTABLE = [
    *_each((*_VERSION, "selectableFields"), [], None, {}, [{}], [None], [{"jsonPath": ""}], [{"path": ".spec.text"}]),
    *(
        Edit((*_VERSION, "selectableFields"), [{"jsonPath": path}])
        for path in (
            *(".spec.text", ".spec.count", ".spec.flag", ".spec.ratio", ".spec.inner.a", ".spec.inner", ".spec.words"),
            *(
                *(".spec.nothing", "spec.text", ".metadata.name", ".metadata", ".kind", ".spec['text']"),
                *(".spec.parts[0].name",),
            ),
            *(
                *(".spec.limits.x", ".spec.size", ".spec.any", ".spec.any.x", ".status.phase", ".", ".spec."),
                *(".spec.text.x",),
            ),
            *("..spec", ".spec.text]", "'spec'", ".'spec'", ".spec.embedded.kind", ".spec.words.x", ".spec.text\n"),
        )
    ),
    Edit((*_VERSION, "selectableFields"), [{"jsonPath": ".spec.text"}, {"jsonPath": ".spec.text"}]),
    Edit((*_VERSION, "selectableFields"), [{"jsonPath": ".spec.text"}] * 9),
]

_SERVICE = {"namespace": "ns", "name": "hook"}


def _webhook(client: Any, versions: Any = ("v1",), **more: Any) -> Edit:
    webhook = {
        "clientConfig": client,
        "conversionReviewVersions": list(versions) if isinstance(versions, tuple) else versions,
    }
    return Edit(("spec", "conversion"), {"strategy": "Webhook", "webhook": webhook, **more})


_CONVERSION = [
    *_each(("spec", "conversion"), {}, None, {"strategy": "None"}, {"strategy": "none"}, {"strategy": "Webhook"}, []),
    *_each(("spec", "conversion"), {"strategy": "None", "webhook": {}}, {"strategy": "None", "webhook": None}),
    *_each(("spec", "conversion"), {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}),
    *_each(("spec", "conversion"), {"strategy": "None", "webhook": {"conversionReviewVersions": []}}),
    *_each(("spec", "conversion"), {"strategy": "None", "webhook": {"clientConfig": {}}}),
    *_each(("spec", "conversion"), {"strategy": "None", "webhookClientConfig": {}}),
    _webhook({"service": _SERVICE}),
    _webhook({"service": _SERVICE, "url": "https://x"}),
    _webhook({}),
    _webhook(None),
    _webhook({"service": None}),
    _webhook({"service": _SERVICE, "caBundle": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}),
    _webhook({"service": _SERVICE, "caBundle": "Cg=="}),
    _webhook({"service": _SERVICE, "caBundle": "no base64"}),
    _webhook({"service": _SERVICE, "caBundle": "Cg"}),
    _webhook({"service": _SERVICE, "caBundle": ""}),
    _webhook({"service": _SERVICE, "unknown": 1}),
    *(
        _webhook({"service": _SERVICE | change})
        for change in (
            *({"name": ""}, {"namespace": None}, {"port": 0}, {"port": 65535}, {"port": 65536}, {"port": "443"}),
            *(
                {"path": "/convert"},
                {"path": "convert"},
                {"path": "/"},
                {"path": "//"},
                {"path": "/a//b"},
                {"path": "/A"},
            ),
            *({"path": "/a/"}, {"path": "/a?b"}, {"path": ""}, {"path": "/a.b/c-d"}, {"path": "/a_b"}, {"path": "x"}),
        )
    ),
    *(
        _webhook({"url": url})
        for url in (
            *("https://example.com/x", "http://example.com", "https://", "", "example.com", "https://u@example.com"),
            *(
                "https://u:p@example.com/x",
                "https://example.com?x=1",
                "https://example.com#f",
                "https://example.com:8443",
            ),
            *("https://example.com:x", "https://[::1]:443/x", "https://a b", "https://example.com/a b", "https:///x"),
            *("HTTPS://example.com", "https://example.com/%zz", "https://example.com?", "https://example.com#", "://x"),
            *("https://exa\tmple.com", "https://example.com/\n", "//example.com", "https:example.com", "https://[::1"),
        )
    ),
    _webhook({"service": _SERVICE}, ()),
    _webhook({"service": _SERVICE}, None),
    _webhook({"service": _SERVICE}, ("v2",)),
    _webhook({"service": _SERVICE}, ("v2", "v1")),
    _webhook({"service": _SERVICE}, ("v1", "v1")),
    _webhook({"service": _SERVICE}, ("v1", "V2")),
    _webhook({"service": _SERVICE}, "v1"),
]

_TYPES = _field(
    *({}, None, [], {"type": ""}, {"type": "null"}, {"type": "any"}, {"type": ["string", "null"]}, {"type": None}),
    *(
        {"type": "object"},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "array", "items": {"type": "string"}},
    ),
    *(
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "array", "items": []},
        {"type": "string", "items": []},
    ),
    *({"type": "array", "items": True}, {"type": "array", "items": None}, {"type": "string", "items": 5}),
    *({"type": "string", "items": {"type": "string"}}, {"type": "string", "items": {}}),
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": False},
    {"type": "object", "additionalProperties": {}},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "object", "additionalProperties": "string"},
    {"type": "object", "additionalProperties": None},
    {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
    {"type": "object", "properties": {"a": {}}},
    {"type": "object", "properties": {"a": None}},
    {"type": "object", "properties": []},
    {"type": "object", "properties": {"a": {"properties": {"b": {"type": "string"}}}}},
    {"type": "object", "properties": {"metadata": {"type": "string"}, "kind": {"type": "integer"}}},
    {"properties": {"a": {"type": "string"}}},
    {"type": "string", "properties": {"a": {"type": "string"}}},
)

_KEYWORDS = _field(
    *(
        {"type": "string", keyword: value}
        for keyword, value in (
            *(
                ("id", "x"),
                ("id", ""),
                ("$schema", "x"),
                ("$schema", ""),
                ("$ref", "#/x"),
                ("$ref", ""),
                ("$ref", None),
            ),
            *(("definitions", {}), ("definitions", {"a": {"type": "string"}}), ("$defs", {}), ("dependencies", {})),
            *(
                ("dependencies", {"a": ["b"]}),
                ("dependencies", None),
                ("patternProperties", {}),
                ("additionalItems", False),
            ),
            *(("patternProperties", {"a": {"type": "string"}}), ("uniqueItems", True), ("uniqueItems", False)),
            *(
                ("const", "x"),
                ("examples", ["x"]),
                ("example", "x"),
                ("example", None),
                ("deprecated", True),
                ("if", {}),
            ),
            *(
                ("readOnly", True),
                ("title", "T"),
                ("description", "D"),
                ("description", 5),
                ("x-kubernetes-unions", []),
            ),
            *(("externalDocs", {"url": "x"}), ("externalDocs", {"x": 1}), ("externalDocs", "x"), ("nullable", True)),
            *(("nullable", "true"), ("nullable", None), ("maxLength", 5), ("maxLength", -1), ("maxLength", 5.0)),
            *(("maxLength", "5"), ("maxLength", 2**63), ("maxLength", 2**63 - 1), ("minimum", "1"), ("minimum", 1e300)),
            *(("minimum", 2**70), ("exclusiveMinimum", 1), ("exclusiveMinimum", True), ("multipleOf", 0), ("enum", [])),
            *(("enum", ["a", "a"]), ("enum", [1]), ("enum", [None]), ("enum", "a"), ("enum", None), ("enum", {"a": 1})),
            *(("required", ["x"]), ("required", [1]), ("required", "x"), ("required", [None]), ("format", "date-time")),
            *(
                ("format", "path"),
                ("format", ""),
                ("format", 5),
                ("format", "int32"),
                ("prefixItems", []),
                ("maximum", True),
            ),
            *(("discriminator", {}), ("x-kubernetes-patch-strategy", "merge"), ("x-kubernetes-anything", 1)),
        )
    ),
    {"type": "array", "items": {"type": "string", "const": "x"}},
    {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "const": "x"}}}},
    {"type": "object", "additionalProperties": {"type": "string", "const": "x"}},
    {"type": "object", "properties": {"a": {"type": "string", "const": "x"}}},
    {"type": "string", "anyOf": [{"const": "x"}]},
    {"type": "string", "not": {"const": "x"}},
)

_PATTERNS = _field(
    *(
        {"type": "string", "pattern": pattern}
        for pattern in (
            *(
                *("^a$", "(?=a)", "(?!a)", "(?<=a)", "(a", "a)", "[a", "a**", "a*+", "*a", "a{2,1}", "a{1001}"),
                *("a{1000}", "\\1"),
            ),
            *(
                *("(a){500}{3}", "\\Z", "\\z", "\\pL", "\\p{Greek}", "\\p{Klingon}", "[[:alpha:]]", "[[:x:]]"),
                *("(?P<a>x)", "(?i)a"),
            ),
            *(
                *("(?P<a>x)(?P<a>y)", "[z-a]", "\\", "(?>a)", "a++", "\\d+\\.\\w", "(?<a>x)", "\\Qa+b\\E", "[^\\s]"),
                *("\\u0041",),
            ),
            *(
                *("(?#c)", "{", "a{,3}", "\\x{41}", "\\k<a>", "(?a)", "", "é+", "(?:)", "[]a]", "[\\d-z]", "\\h"),
                *("(?s).", "\\R"),
            ),
        )
    )
)

_BRANCHES = [
    *(
        Edit((*FIELDS, "new"), {"type": "object", "properties": {"a": {"type": "string"}}, keyword: [branch]})
        for keyword in ("anyOf", "allOf", "oneOf")
        for branch in _values({"required": ["a"]}, {"type": "object"}, {"properties": {"b": {"minLength": 1}}})
    ),
    *_field(
        *(
            {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [branch]}
            for branch in _values(
                *({}, None, {"properties": {"a": {"minLength": 1}}}, {"properties": {"a": {"type": "string"}}}),
                *({"title": "x"}, {"description": "x"}, {"default": {}}, {"default": None}, {"nullable": True}),
                *({"nullable": False}, {"additionalProperties": True}, {"additionalProperties": False}),
                *({"additionalProperties": {"minLength": 1}}, {"x-kubernetes-preserve-unknown-fields": True}),
                *({"x-kubernetes-int-or-string": True}, {"x-kubernetes-embedded-resource": True}),
                *({"x-kubernetes-list-type": "atomic"}, {"x-kubernetes-map-type": "atomic"}),
                *({"x-kubernetes-list-map-keys": ["a"]}, {"x-kubernetes-validations": [{"rule": "true"}]}),
                *({"x-kubernetes-validations": []}, {"items": {"minLength": 1}}, {"enum": [{}]}, {"format": "x"}),
                *({"properties": {"metadata": {"required": ["a"]}}}, {"not": {"type": "string"}}, {"externalDocs": {}}),
                *({"anyOf": [{"type": "string"}]}, {"pattern": "("}, {"x-kubernetes-preserve-unknown-fields": False}),
                *({"uniqueItems": True}, {"$ref": "x"}, {"properties": {"a": {"pattern": "("}}}, {"example": 1}),
                *({"properties": {"a": {"enum": ["x"]}}, "additionalProperties": False}, {"not": {}}, {"minimum": 1}),
            )
        ),
        *({"type": "string", "anyOf": {}}, {"type": "string", "not": []}, {"type": "string", "allOf": None}),
        *({"type": "string", "not": {"enum": ["x"]}}, {"type": "string", "not": {"type": "string"}}),
    ),
    *(
        Edit((*SCHEMA, keyword), [branch])
        for keyword in ("anyOf", "allOf", "oneOf")
        for branch in _values({"required": ["spec"]}, {"properties": {"spec": {"properties": {"nothing": {}}}}})
    ),
]

_EITHER = [{"type": "integer"}, {"type": "string"}]
_EXTENSIONS = _field(
    *(
        {"x-kubernetes-int-or-string": True, **more}
        for more in (
            *({}, {"type": "string"}, {"anyOf": _EITHER}, {"anyOf": _EITHER[::-1]}, {"anyOf": [*_EITHER, {}]}),
            *({"allOf": [{"anyOf": _EITHER}]}, {"allOf": [{"anyOf": _EITHER}, {"pattern": "a"}]}),
            *({"allOf": [{"pattern": "a"}, {"anyOf": _EITHER}]}, {"oneOf": _EITHER}, {"not": {"anyOf": _EITHER}}),
            *({"x-kubernetes-preserve-unknown-fields": True}, {"x-kubernetes-embedded-resource": True}),
            *(
                {"default": 1},
                {"default": "x"},
                {"default": True},
                {"default": 1.5},
                {"enum": [1, "a"]},
                {"pattern": "^a"},
            ),
            *({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}, {"maxLength": 5, "maximum": 3}),
        )
    ),
    *(
        {"x-kubernetes-int-or-string": False},
        {"x-kubernetes-int-or-string": "true"},
        {"type": "string", "anyOf": _EITHER},
    ),
    *(
        {"x-kubernetes-preserve-unknown-fields": False},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
    ),
    *({"type": "array", "x-kubernetes-preserve-unknown-fields": True}, {"x-kubernetes-preserve-unknown-fields": None}),
    *(
        {"x-kubernetes-embedded-resource": True, **more}
        for more in (
            *(
                {},
                {"type": "object"},
                {"type": "string"},
                {"type": "object", "properties": {"spec": {"type": "object"}}},
            ),
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "additionalProperties": True},
            {"x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "properties": {"metadata": {"type": "string"}}},
            {"type": "object", "properties": {"metadata": {"type": "object", "description": "x"}}},
            {"type": "object", "properties": {"kind": {"type": "integer"}}},
            {"type": "object", "properties": {"metadata": {"type": "object", "x-kubernetes-embedded-resource": True}}},
            {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "additionalProperties": {"type": "string", "default": "x"}}
                },
            },
            {"type": "object", "properties": {"kind": {"type": "string", "default": "Pod"}}},
            {"type": "object", "properties": {"kind": {"type": "string", "default": "not a kind"}}},
            {"type": "object", "properties": {"apiVersion": {"type": "string", "default": "a/b/c"}}},
            {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "a/b"}}}
                },
            },
            {
                "type": "object",
                "properties": {"metadata": {"type": "object", "default": {"labels": {"a": "b"}, "unknown": 1}}},
            },
            {"type": "object", "properties": {"metadata": {"type": "object", "default": {"labels": {"a": "x y"}}}}},
            {"type": "object", "properties": {"metadata": {"type": "object", "default": {"labels": {"a": 5}}}}},
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {}},
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "default": {"apiVersion": "v1", "kind": "Pod"},
            },
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": 1}}},
            },
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "..", "namespace": "X"}},
            },
        )
    ),
)

_PART = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "o": {"type": "object"}}}
_LISTS = [
    *_field(
        *(
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": kind}
            for kind in ("atomic", "set", "map", "granular", "", None, 5)
        ),
        {"type": "string", "x-kubernetes-list-type": "atomic"},
        {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-list-type": "atomic"},
        {"type": "object", "x-kubernetes-map-type": "granular"},
        {"type": "object", "x-kubernetes-map-type": "atomic"},
        {"type": "object", "x-kubernetes-map-type": "set"},
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-map-type": "atomic"},
        {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-map-type": "atomic"},
        *(
            {"type": "array", "items": items, "x-kubernetes-list-type": "set"}
            for items in (
                *({"type": "object"}, {"type": "object", "x-kubernetes-map-type": "atomic"}, {"type": "integer"}),
                {"type": "array", "items": {"type": "string"}},
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                *({"type": "string", "nullable": True}, {"x-kubernetes-int-or-string": True}, {"type": "number"}),
            )
        ),
        *(
            {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
            for items, keys in (
                *((_PART, ["k"]), (_PART, []), (_PART, None), (_PART, ["k", "k"]), (_PART, ["o"]), (_PART, ["x"])),
                *((_PART | {"nullable": True}, ["k"]), (_PART | {"required": []}, ["k"]), ({"type": "string"}, ["k"])),
                (_PART | {"required": [], "properties": {"k": {"type": "string", "default": "x"}}}, ["k"]),
                (_PART | {"required": [], "properties": {"k": {"type": "string", "default": None}}}, ["k"]),
                (_PART | {"properties": {"k": {"type": "string", "nullable": True}}}, ["k"]),
                (_PART | {"properties": {"k": {"x-kubernetes-int-or-string": True}}}, ["k"]),
                (_PART | {"properties": {"k": {"x-kubernetes-preserve-unknown-fields": True}}}, ["k"]),
                (_PART | {"properties": {"k": {"type": "array", "items": {"type": "string"}}}}, ["k"]),
                (_PART, "k"),
                (_PART, [5]),
                ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, ["k"]),
            )
        ),
        {"type": "array", "items": _PART, "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "items": _PART, "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "items": [_PART], "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        {"type": "string", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
    ),
    *_at(_ITEMS, required=DROP, nullable=True, type="string", properties=DROP),
]

_OBJECT = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {"type": "integer"}}}
_DEFAULTS = [
    *_field(
        *({"type": "string", "default": value} for value in _values("x", 1, None, True, [], {}, 1.5)),
        *({"type": "integer", "default": value} for value in (1, 1.0, 1.5, "1", 2**63, -(2**63), None)),
        *({"type": "number", "default": value} for value in (1, 1.5, "1", True, 1e300)),
        *({"type": "boolean", "default": value} for value in (True, "true", 0)),
        *(
            {"type": "array", "items": {"type": "string"}, "default": value}
            for value in _values([], ["a"], [1], [None], {}, "a")
        ),
        *(
            {**_OBJECT, "default": value}
            for value in _values({}, {"a": "x"}, {"a": ""}, {"a": None}, {"c": 1}, {"b": 1.5}, [], "x")
        ),
        *({**_OBJECT, "required": ["a"], "default": value} for value in ({}, {"a": "x"}, {"b": 1})),
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "default": "x"}}, "default": {}},
        {"type": "object", "default": {"a": 1}},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"a": {"b": 1}}},
        {"x-kubernetes-preserve-unknown-fields": True, "default": [1, "a", None]},
        {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}},
        {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": "1"}},
        {"type": "object", "additionalProperties": {"type": "integer", "default": "1"}},
        {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"a": {"type": "string", "default": 1}}},
        },
        {"type": "object", "additionalProperties": True, "default": {"a": {"b": 1}}},
        {"type": "object", "additionalProperties": True, "default": {"a": 1}},
        {"type": "array", "items": {"type": "string", "default": "x"}},
        {"type": "array", "items": {"type": "string", "default": 1}},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}},
        {"type": "string", "nullable": True, "default": None},
        {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}, "default": {"a": None}},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "string", "enum": ["a"], "default": "a"},
        {"type": "string", "enum": [], "default": "a"},
        {"type": "integer", "enum": [1], "default": 1.0},
        {"type": "string", "pattern": "^a$", "default": "b"},
        {"type": "string", "pattern": "^a\\z", "default": "a"},
        {"type": "string", "pattern": "^\\pL+$", "default": "1"},
        {"type": "string", "pattern": "^[[:alpha:]]+$", "default": "abc"},
        {"type": "string", "pattern": "(?i)^A$", "default": "a"},
        {"type": "string", "maxLength": 2, "default": "äöü"},
        {"type": "string", "maxLength": 2, "default": "äö"},
        {"type": "integer", "minimum": 1, "default": 0},
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "default": 1},
        {"type": "integer", "maximum": 1, "default": 2},
        {"type": "number", "multipleOf": 0.1, "default": 0.3},
        {"type": "integer", "multipleOf": 2, "default": 3},
        {"type": "integer", "format": "int32", "default": 2**31},
        {"type": "integer", "format": "int64", "default": 2**31},
        {"type": "number", "format": "float", "default": 1e300},
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "default": ["a", "a"]},
        {"type": "array", "items": {"type": "string"}, "maxItems": 1, "default": ["a", "b"]},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "default": []},
        {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "default": {}},
        {
            "type": "array",
            "items": _PART,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "default": [{"k": "a"}, {"k": "a"}],
        },
        {"type": "string", "default": "x", "not": {"enum": ["x"]}},
        {"type": "string", "default": "x", "anyOf": [{"enum": ["a"]}, {"maxLength": 1}]},
        {"type": "string", "default": "x", "oneOf": [{"maxLength": 2}, {"maxLength": 1}]},
        {"type": "string", "default": "x", "allOf": [{"maxLength": 2}, {"minLength": 2}]},
        {"type": "string", "default": "x", "x-kubernetes-validations": [{"rule": "self == 'y'"}]},
        {"type": "string", "default": "x", "x-kubernetes-validations": [{"rule": "self == 'x'"}]},
        {"type": "integer", "default": 5, "x-kubernetes-validations": [{"rule": "self > oldSelf"}]},
    ),
    *(
        Edit((*FIELDS, "new"), {"type": "string", "format": name, "default": value})
        for name, value in (
            *(("date-time", "2020-01-01T00:00:00Z"), ("date-time", "2020-01-01T00:00:00"), ("date", "2020-02-30")),
            *(
                ("date", "2020-02-28"),
                ("duration", "30s"),
                ("duration", "PT30S"),
                ("duration", "1 day"),
                ("ipv4", "1.2.3"),
            ),
            *(
                ("ipv4", "1.2.3.4"),
                ("ipv6", "::1"),
                ("ipv6", "1.2.3.4"),
                ("cidr", "1.2.3.4/33"),
                ("cidr", "10.0.0.0/8"),
            ),
            *(("uuid", "x"), ("uuid", "123e4567-e89b-12d3-a456-426614174000"), ("email", "x"), ("email", "a@b.c")),
            *(
                ("uri", "https://x"),
                ("uri", ":::"),
                ("uri", "x"),
                ("hostname", "a_b"),
                ("hostname", "a.b"),
                ("mac", "x"),
            ),
            *(("mac", "01:23:45:67:89:ab"), ("byte", "aGk="), ("byte", "hi"), ("password", "x"), ("path", "x")),
            *(
                ("k8s-short-name", "A"),
                ("k8s-long-name", "a.b"),
                ("hexcolor", "#fff"),
                ("hexcolor", "#ffg"),
                ("isbn", "0321751043"),
            ),
            *(
                ("uuid4", "123e4567-e89b-12d3-a456-426614174000"),
                ("rgbcolor", "rgb(1,2,3)"),
                ("creditcard", "4111111111111111"),
            ),
            *(("bsonobjectid", "x"), ("ssn", "123-45-6789"), ("int32", "x"), ("datetime", "x"), ("binary", "x")),
        )
    ),
    *_each((*SPEC, "default"), {}, {"text": "x"}, {"text": "x", "unknown": 1}),
    *_each((*SCHEMA, "default"), {}, {"apiVersion": "a/v1", "kind": "A"}),
    *(
        Edit((*SCHEMA, "properties", name, "default"), value)
        for name, value in (
            ("apiVersion", "x"),
            ("kind", "X"),
            ("metadata", {}),
            ("status", {}),
            ("status", {"phase": 1}),
        )
    ),
]

_ROOT = [
    *(
        Edit((*SCHEMA, keyword), value)
        for keyword, value in (
            *(("type", "string"), ("type", DROP), ("nullable", True), ("additionalProperties", True), ("items", {})),
            *(("additionalProperties", False), ("minProperties", 1), ("maxProperties", 9), ("enum", []), ("not", {})),
            *(("x-kubernetes-preserve-unknown-fields", True), ("x-kubernetes-embedded-resource", True), ("title", "T")),
            *(("x-kubernetes-map-type", "atomic"), ("x-kubernetes-int-or-string", True), ("required", ["spec"])),
            *(
                ("allOf", []),
                ("anyOf", [{"required": ["spec"]}]),
                ("oneOf", None),
                ("description", "D"),
                ("example", {}),
            ),
            *(
                ("externalDocs", {"url": "x"}),
                ("format", "x"),
                ("minimum", 1),
                ("required", ["x"]),
                ("properties", DROP),
            ),
        )
    ),
    *(
        Edit((*SCHEMA, "properties", "metadata"), value)
        for value in (
            *(
                DROP,
                {},
                None,
                {"type": "string"},
                {"type": "object", "description": "D"},
                {"type": "object", "title": ""},
            ),
            *(
                {"type": "object", "required": []},
                {"type": "object", "required": ["name"]},
                {"type": "object", "items": []},
            ),
            {"type": "object", "properties": {}},
            {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}},
            {
                "type": "object",
                "properties": {"generateName": {"type": "string"}, "name": {"type": "string", "pattern": "a"}},
            },
            {"type": "object", "properties": {"labels": {"type": "object"}}},
            {"type": "object", "properties": {"name": {"type": "integer"}}},
            {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}},
            {"type": "object", "additionalProperties": True},
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "nullable": True},
            {"type": "object", "nullable": False, "enum": [], "allOf": [], "description": ""},
            {"type": "object", "maxProperties": 0},
            {"type": "object", "not": {}},
            {"type": "object", "example": {}},
            {"type": "object", "x-kubernetes-map-type": "atomic"},
            {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]},
        )
    ),
    *_each((*SCHEMA, "properties", "kind"), {"type": "integer"}, {}, {"type": "string", "enum": ["Widget"]}, DROP),
    *_each((*SCHEMA, "properties", "apiVersion"), {"type": "object"}, {"type": "string", "description": "D"}),
    *_each((*SCHEMA, "properties", "status"), DROP, {"type": "string"}, {"type": "object"}),
    *_each((*SCHEMA, "properties", "spec"), DROP, {"type": "string"}, {"type": "object", "nullable": True}),
]

_PARTS = (*FIELDS, "parts")
_CEL = [
    *_rules(
        SPEC,
        *({}, {"rule": ""}, {"rule": " "}, {"rule": None}, {"rule": 5}, _rule(), _rule(message=""), _rule(message=" ")),
        *(
            _rule(message="x\ny"),
            _rule(message="x\n"),
            {"rule": "self == \nself"},
            {"rule": "self ==\nself", "message": "x"},
        ),
        *(
            _rule(message="x\u2028y"),
            _rule(messageExpression=""),
            _rule(messageExpression=" "),
            _rule(messageExpression="'x'"),
        ),
        *(_rule(messageExpression="1"), _rule(messageExpression="self.text"), _rule(messageExpression="self.nothing")),
        *(_rule(reason="FieldValueInvalid"), _rule(reason="Invalid"), _rule(reason=""), _rule(reason=None)),
        *(
            _rule(fieldPath=path)
            for path in (".text", "text", ".nothing", "", " ", ".inner.a", ".limits.x", ".inner['a']")
        ),
        *(
            _rule(fieldPath=path)
            for path in (".limits['x y']", ".words[0]", ".parts", ".text.x", ".inner['a", ".\n", ".any.x")
        ),
        *(
            _rule(fieldPath=path)
            for path in (".limits['x\\'y']", ".limits['\\q']", ".inner.", ".size", ".embedded.kind")
        ),
        *(_rule(optionalOldSelf=True), _rule(optionalOldSelf=False), _rule(unknown=1)),
        *({"rule": "self == oldSelf"}, {"rule": "self.text == oldSelf.text"}, {"rule": "oldSelf.hasValue()"}),
        {"rule": "oldSelf.hasValue() ? oldSelf.value().text == self.text : true", "optionalOldSelf": True},
    ),
    *_rules(
        SPEC,
        *(
            {"rule": rule}
            for rule in (
                *(
                    *("true", "1", "'x'", "self.text == 'x'", "self.nothing", "has(self.text)", "has(self.nothing)"),
                    *("self.text",),
                ),
                *(
                    *("self.count > 1", "self.count > 1.5", "self.count == 'x'", "self.ratio > 1", "self.ratio > 1.0"),
                    *("self.any",),
                ),
                *(
                    "self.flag",
                    "!self.flag",
                    "self.text.size() > 1",
                    "size(self.words) > 1",
                    "self.words.all(w, w != '')",
                ),
                *(
                    "self.words.all(w, w > 1)",
                    "self.limits.all(k, k != '')",
                    "self.limits['x'] == 'y'",
                    "'x' in self.limits",
                ),
                *(
                    "self.parts.exists(p, p.name == 'x')",
                    "self.parts[0].weight > 1",
                    "self.parts.map(p, p.name).size() > 0",
                ),
                *(
                    "self.size == 1",
                    "self.size == 'a'",
                    "type(self.size) == int",
                    "self.inner.a == 'x'",
                    "self.inner.c == 'x'",
                ),
                *(
                    "self.text.matches('^a$')",
                    "self.text.matches('(')",
                    "isURL(self.text)",
                    "quantity('1Gi').isGreaterThan(quantity('1'))",
                ),
                *(
                    *("self.text.startsWith('x')", "self.text.foo()", "foo(self.text)", "self.text ==", "(self.text"),
                    *("self.text == 'x",),
                ),
                *(
                    "self.metadata.name == 'x'",
                    "self.embedded.kind == 'x'",
                    "self.embedded.metadata.name == 'x'",
                    "self ? true : false",
                ),
                *(
                    "ip(self.text).family() == 4",
                    "self.words.isSorted()",
                    "self.words.sum() > 1",
                    "self.words.indexOf('a') > 0",
                ),
                *(
                    "duration('1h') > duration('1m')",
                    "timestamp('2020-01-01T00:00:00Z') < timestamp('2021-01-01T00:00:00Z')",
                ),
                *(
                    "self.text.lowerAscii() == 'x'",
                    "self.text.split(',').size() > 1",
                    "self.text.find('a') == ''",
                    "self.words[0]",
                ),
                *(
                    "dyn(self.text) == 1",
                    "self.count + 1 > self.count",
                    "self.count + self.ratio > 1.0",
                    "self == self",
                    "x == 1",
                ),
                *(
                    "optional.of(1).hasValue()",
                    "self.?text.orValue('') == 'x'",
                    "self.?nothing.hasValue()",
                    "[1, 2].sum() == 3",
                ),
                *("format.dns1123Label().validate(self.text).hasValue()", "cidr('10.0.0.0/8').containsIP('10.0.0.1')"),
            )
        ),
    ),
    *_rules(_PARTS, {"rule": "self.all(p, p.name != '')"}, {"rule": "self == oldSelf"}, {"rule": "oldSelf.size() > 0"}),
    *_rules(
        _ITEMS, {"rule": "self.weight > 1"}, {"rule": "self.weight == oldSelf.weight"}, {"rule": "self.nothing == 1"}
    ),
    *_rules((*FIELDS, "words", "items"), {"rule": "self != ''"}, {"rule": "self == oldSelf"}),
    *_rules((*FIELDS, "limits", "additionalProperties"), {"rule": "self != ''"}, {"rule": "self == oldSelf"}),
    *_rules((*FIELDS, "any"), {"rule": "true"}),
    *_rules((*FIELDS, "size"), {"rule": "self == 1"}, {"rule": "self > 1"}),
    *_rules(
        (*FIELDS, "embedded"),
        {"rule": "self.kind == 'x'"},
        {"rule": "self.metadata.name == 'x'"},
        {"rule": "self.spec == 1"},
    ),
    *_rules(
        SCHEMA,
        {"rule": "self.metadata.name.size() < 9"},
        {"rule": "self.spec.text == 'x'"},
        {"rule": "self.metadata.labels == 1"},
    ),
    *_field(
        {
            "type": "array",
            "items": {"x-kubernetes-preserve-unknown-fields": True},
            "x-kubernetes-validations": [_rule()],
        },
        {"type": "object", "additionalProperties": True, "x-kubernetes-validations": [_rule()]},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [_rule()]},
        {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x != y))"}],
        },
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [{"rule": "self.all(x, x != '')"}]},
        {"type": "string", "x-kubernetes-validations": [{"rule": "self.matches('^a+$')"}]},
        {"type": "string", "x-kubernetes-validations": [{"rule": "self.contains(self)"}]},
        {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self.contains('abc')"}]},
            },
        },
        {"type": "string", "maxLength": 10, "x-kubernetes-validations": [{"rule": "self.matches('^a+$')"}] * 3},
        {
            "type": "object",
            "properties": {"a-b": {"type": "string"}, "if": {"type": "string"}, "ns": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": "self.a__dash__b == self.ns && self.__if__ == self.ns"}],
        },
        {
            "type": "object",
            "properties": {"namespace": {"type": "string"}, "x.y": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": "self.__namespace__ == self.x__dot__y"}],
        },
        {
            "type": "object",
            "properties": {"a-b": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": "self.a-b == ''"}],
        },
    ),
]

_SAME = {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
_HELD = {"type": "object", "properties": {"a": _SAME}}

_OLD_SELF = _field(
    *(
        _HELD | {"x-kubernetes-map-type": "atomic"},
        _HELD | {"x-kubernetes-map-type": "granular"},
        {"type": "object", "x-kubernetes-map-type": "atomic", "maxProperties": 9, "additionalProperties": _SAME},
        {"type": "array", "maxItems": 9, "x-kubernetes-list-type": "set", "items": _SAME},
        {"type": "array", "maxItems": 9, "items": _HELD},
        {"type": "object", "properties": {"b": {"type": "array", "maxItems": 9, "items": _HELD}}},
    ),
    {
        "type": "array",
        "maxItems": 9,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"type": "string", "maxLength": 9}, "b": _HELD},
        },
    },
    {
        "type": "array",
        "maxItems": 9,
        "items": {
            "type": "string",
            "maxLength": 9,
            "x-kubernetes-validations": [{"rule": "self != ''", "messageExpression": "oldSelf"}],
        },
    },
)

_NUMBERS = _field(
    *(
        {"type": "number", "format": "float", "default": value}
        for value in (1e300, -1e39, 3.4e38, 2.0**128 - 2.0**103, 5)
    ),
    *({"type": "number", "format": form, "default": 2**40} for form in ("double", "int32", "strange")),
    *({"type": "integer", "format": form, "default": 2**40} for form in ("int32", "int64", "uint32", "float")),
    *({"type": "integer", "format": "int32", "default": value} for value in (2**31 - 1, 2**31, -(2**31), -(2**31) - 1)),
    *(
        {"type": "integer", "default": 5, keyword: value}
        for keyword in ("maximum", "multipleOf")
        for value in (2.5, 5.0, 9.5)
    ),
    *({"type": "integer", keyword: 0.5} for keyword in ("maximum", "minimum", "multipleOf")),
    {"type": "integer", "format": "int32", "maximum": 2**40, "default": 5},
    {"type": "number", "format": "float", "maximum": 1e300, "default": 5},
    {"type": "number", "maximum": 9.5, "default": 5},
    {"x-kubernetes-int-or-string": True, "format": "int32", "default": 2**40},
)

_TEXTS = _field(
    *(
        {"type": "string", "format": name, "default": text}
        for name, text in (
            *(("uri", "http://a b"), ("uri", "http://[::1"), ("uri", "http://a:b"), ("uri", "/a b"), ("uri", "urn:a")),
            *(
                ("email", "a@[1.2.3]"),
                ("email", "A <a@b>"),
                ("hostname", "a--b"),
                ("hostname", "a-b"),
                ("mac", "00005e005301"),
            ),
            *(
                ("ssn", "123456789"),
                ("duration", "P1D"),
                ("duration", "1 fortnight"),
                ("cidr", "1.2.3.04/08"),
                ("d-ate", "x"),
            ),
        )
    )
)

_RESOURCE = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
_RESOURCES = _field(
    *(
        _RESOURCE | {"default": {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}}
        for metadata in (
            *(
                {},
                None,
                "x",
                {"name": "A b"},
                {"name": "."},
                {"name": "a/b"},
                {"generateName": ".."},
                {"namespace": "A"},
            ),
            *({"labels": {"a": "b c"}}, {"labels": {"a b": ""}}, {"labels": {"a": 1}}, {"annotations": {"a b": ""}}),
            *({"finalizers": ["a b"]}, {"finalizers": ["orphan", "foregroundDeletion"]}, {"generation": -1}),
            *({"managedFields": [{"operation": "Apply"}]}, {"unknown": 1}),
            *({"ownerReferences": [{"kind": "Pod"}]}, {"creationTimestamp": "2020-01-01t00:00:00Z"}),
        )
    )
)

_FORMATS = _rules(
    SPEC,
    *(
        {"rule": f"format.{name}().validate(self.text).hasValue()"}
        for name in ("dns1035Label", "qualifiedName", "uri", "datetime")
    ),
    {"rule": "format.dns1123SubdomainPrefix() == format.labelValue()"},
    {"rule": "format.email().validate(self.text).hasValue()"},
    {"rule": "format.dns1123Label.validate(self.text).hasValue()"},
    {"rule": "format.uuid('x').validate(self.text).hasValue()"},
)

EDITS: tuple[Edit, ...] = (
    *_DOCUMENT,
    *_METADATA,
    *_GROUP,
    *_KINDS,
    *_VERSIONS,
    *_SUBRESOURCES,
    *_COLUMNS,
    *_SELECTABLE,
    *_CONVERSION,
    *_TYPES,
    *_KEYWORDS,
    *_PATTERNS,
    *_BRANCHES,
    *_EXTENSIONS,
    *_LISTS,
    *_DEFAULTS,
    *_ROOT,
    *_CEL,
    *_OLD_SELF,
    *_NUMBERS,
    *_TEXTS,
    *_RESOURCES,
    *_FORMATS,
)
