"""Changes of a CRD's names, versions and conversion."""

from typing import Any

import pytest

from crdgen.diff import Break, diff
from tests.crdgen.diff.builder import definition, obj, version

S, C, A = Break.STORED, Break.CLIENTS, Break.APPLY
TEXT = {"type": "string"}
HOOK = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a/"}, "conversionReviewVersions": ["v1"]}}
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def named(**names: Any) -> dict[str, Any]:
    return definition(names={"kind": "Widget", "plural": "widgets"} | names)


def views(**more: Any) -> dict[str, Any]:
    return definition(version(**more))


def two(**more: Any) -> dict[str, Any]:
    return definition(version("v1", storage=False), version("v2"), **more)


def hidden() -> dict[str, Any]:
    return definition(version("v1", storage=False, served=False), version("v2"))


CASES: list[tuple[str, dict[str, Any], dict[str, Any], str, set[Break]]] = [
    ("another group", definition(), definition(group="other.com"), "spec.group", {S, C, A}),
    ("another scope", definition(), definition(scope="Cluster"), "spec.scope", {S, C, A}),
    (
        "another kind",
        named(singular="w", listKind="L"),
        named(kind="W", singular="w", listKind="L"),
        "spec.names.kind",
        {S, C, A},
    ),
    ("another plural", named(), named(plural="ws"), "spec.names.plural", {S, C, A}),
    ("another singular", named(), named(singular="w"), "spec.names.singular", {C}),
    ("the singular written out", named(), named(singular="widget"), "", set()),
    ("a removed short name", named(shortNames=["w"]), named(), "spec.names.shortNames", {C}),
    ("a new short name", named(), named(shortNames=["w"]), "spec.names.shortNames", set()),
    ("a removed category", named(categories=["all"]), named(), "spec.names.categories", {C}),
    ("no longer served", views(), views(served=False), "spec.versions[v1].served", {C}),
    ("served", views(served=False), views(), "spec.versions[v1].served", set()),
    ("deprecated", views(), views(deprecated=True), "spec.versions[v1].deprecated", set()),
    ("no status subresource", views(subresources={"status": {}}), views(), "subresources.status", {C}),
    ("a status subresource", views(), views(subresources={"status": {}}), "subresources.status", {C}),
    ("no scale", views(subresources={"scale": SCALE}), views(), "subresources.scale", {C}),
    ("a scale", views(), views(subresources={"scale": SCALE}), "subresources.scale", set()),
    (
        "another field to scale",
        views(subresources={"scale": SCALE}),
        views(subresources={"scale": SCALE | {"specReplicasPath": ".spec.size"}}),
        "subresources.scale",
        {C},
    ),
    ("no selector", views(selectableFields=[{"jsonPath": ".spec.x"}]), views(), "selectableFields", {C}),
    ("a column", views(), views(additionalPrinterColumns=[{"name": "X"}]), "additionalPrinterColumns", set()),
    ("a removed webhook", two(conversion=HOOK), two(), "spec.conversion.strategy", {S, C}),
    ("a webhook", two(), two(conversion=HOOK), "spec.conversion.strategy", set()),
    ("a webhook of one version", definition(conversion=HOOK), definition(), "spec.conversion.strategy", set()),
    ("everything kept", definition(preserveUnknownFields=True), definition(), "spec.preserveUnknownFields", {S, C}),
    ("a version that was stored", two(), definition(version("v1")), "spec.versions[v2]", {S, C}),
    ("a version that may have been stored", two(), definition(version("v2")), "spec.versions[v1]", {S, C}),
    ("a version that may have been stored, unserved", hidden(), definition(version("v2")), "spec.versions[v1]", {S}),
    (
        "a version that was served",
        two() | {"status": {"storedVersions": ["v2"]}},
        definition(version("v2")),
        "spec.versions[v1]",
        {C},
    ),
    (
        "a version that nobody could see",
        hidden() | {"status": {"storedVersions": ["v2"]}},
        definition(version("v2")),
        "spec.versions[v1]",
        set(),
    ),
    ("a version that is new", definition(version("v2")), two(), "spec.versions[v1]", set()),
]


@pytest.mark.parametrize(
    ("old", "new", "path", "breaks"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_one_change_of_a_crd(old: Any, new: Any, path: str, breaks: set[Break]) -> None:
    changes = [change for change in diff(old, new) if not change.path.endswith(".storage")]
    assert {change.path: set(change.breaks) for change in changes} == ({path: breaks} if path else {})


@pytest.mark.parametrize(
    ("replicas", "breaks"),
    [
        ({"type": "integer", "format": "int32", "minimum": 0}, set()),
        ({"type": "integer", "maximum": 9, "minimum": 0}, set()),
        ({"type": "integer", "format": "int32"}, {S, C}),
        ({"type": "integer", "minimum": 0}, {S, C}),
        ({"type": "number", "format": "int32", "minimum": 0}, {S, C}),
    ],
)
def test_a_new_scale_is_compared_with_the_schema_of_its_field(replicas: dict[str, Any], breaks: set[Break]) -> None:
    spec = obj(replicas=replicas)
    old, new = definition(version(spec=spec)), definition(version(spec=spec, subresources={"scale": SCALE}))
    assert {affected for change in diff(old, new) for affected in change.breaks} == breaks


def test_the_removal_of_a_version_with_stored_objects_breaks() -> None:
    old = two() | {"status": {"storedVersions": ["v1", "v2"]}}
    (change,) = diff(old, definition(version("v2")))
    assert change.breaks == (S, C)
    assert "objects are stored in it" in change.what
    assert "storedVersions" in change.fix


@pytest.mark.parametrize("status", [{}, {"status": {"storedVersions": []}}, {"status": {"storedVersions": ["v2"]}}])
def test_each_removal_of_a_version_mentions_stored_versions(status: Any) -> None:
    for old in (two() | status, hidden() | status):
        (change,) = diff(old, definition(version("v2")))
        assert "`status.storedVersions`" in change.what
        assert (
            (S in change.breaks)
            == ("may be stored" in change.what)
            == ("kubectl get crd widgets.example.com -o yaml" in change.fix)
        )


def test_another_storage_version_breaks_nothing() -> None:
    old = definition(version("v1"), version("v2", storage=False))
    changes = {change.path: change for change in diff(old, two())}
    assert not any(change.breaks for change in changes.values())
    assert "those written before stay as they are" in changes["spec.versions[v2].storage"].what
    assert "`status.storedVersions` names this one until" in changes["spec.versions[v1].storage"].what


SMALL, LARGE = obj(a=TEXT), obj(a=TEXT, b=TEXT)


def test_a_removed_version_is_compared_with_the_storage_version() -> None:
    old = definition(version("v1", LARGE, storage=False), version("v2", SMALL))
    (gone, lost) = diff(old, definition(version("v2", SMALL)))
    assert gone.path == "spec.versions[v1]"
    assert (lost.place, lost.breaks) == ("v1 → v2 spec.b", (S,))


@pytest.mark.parametrize(("conversion", "breaks"), [({}, (S,)), ({"conversion": HOOK}, ())], ids=["None", "Webhook"])
def test_a_new_version_must_have_all_stored_fields_unless_a_webhook_converts(conversion: Any, breaks: Any) -> None:
    old = definition(version("v1", LARGE), **conversion)
    new = definition(version("v1", LARGE), version("v2", SMALL, storage=False), **conversion)
    changes = {change.place: change.breaks for change in diff(old, new)}
    assert changes == {"spec.versions[v2]": (), "v1 → v2 spec.b": breaks}


def test_a_new_storage_version_is_compared_with_the_old_one() -> None:
    old = definition(version("v1", LARGE), version("v2", SMALL, storage=False))
    new = definition(version("v1", LARGE, storage=False), version("v2", SMALL))
    changes = {change.place: change.breaks for change in diff(old, new)}
    assert changes == {"spec.versions[v1].storage": (), "spec.versions[v2].storage": (), "v1 → v2 spec.b": (S,)}
