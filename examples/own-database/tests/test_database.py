"""The rules of a Database: a case that passes, a case that fails, and the message to the user; and its conversion."""

from typing import Any

import pytest
from database import DATABASE

from jobgate.api import FileObjects, Operation, Registry, ReviewOptions, Verdict, judge

KINDS = Registry([DATABASE])
STORAGE: dict[str, Any] = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
CLASSES: list[dict[str, Any]] = [
    STORAGE | {"metadata": {"name": "fast"}},
    STORAGE | {"metadata": {"name": "large"}, "allowVolumeExpansion": True},
]
BACKUPS = {"schedule": "0 3 * * *", "keepDays": 3}


def database(size: str = "20Gi", class_name: str = "", **spec: Any) -> dict[str, Any]:
    """Return a Database."""
    storage = {"size": size} | ({"className": class_name} if class_name else {})
    return {
        "apiVersion": "db.example.com/v1",
        "kind": "Database",
        "metadata": {"name": "orders"},
        "spec": {"engine": "PostgreSQL", "version": "16.3", "storage": storage, **spec},
    }


def review(document: dict[str, Any], stored: dict[str, Any] | None = None) -> Verdict:
    """Review a Database in a cluster with these StorageClasses; an update, if one is stored."""
    operation = Operation.CREATE if stored is None else Operation.UPDATE
    objects = FileObjects(context=CLASSES, kinds=KINDS)
    stored_objects = () if stored is None else (stored,)
    return judge(document, ReviewOptions(KINDS, operation, stored=stored_objects, objects=objects))


@pytest.mark.parametrize(
    ("document", "findings"),
    [
        (database(), []),
        (database(version="9.6"), ['spec.version: Unsupported value: "9.6": supported values: "15", "16", "17"']),
        (database(replicas=3, backups=BACKUPS), []),
        (database(replicas=3), ["spec.backups: Required value: 3 replicas need backups to start from"]),
        (database(class_name="fast"), []),
        (
            database(class_name="fsat"),
            ['spec.storage.className: Not found: "fsat": the cluster has no StorageClass of this name'],
        ),
        (database(users=[{"name": "shop", "role": "Write"}]), []),
        (database(users=[{"name": "shop"}]), ["spec.users: no user can write: give one the role Write or Own"]),
        (
            database(users=[{"name": "postgres", "role": "Own"}]),
            ["spec.users[0].name: Forbidden: postgres is the administrator of PostgreSQL: choose another name"],
        ),
    ],
)
def test_a_new_database(document: dict[str, Any], findings: list[str]) -> None:
    """Faults and warnings."""
    assert [str(finding) for _, finding in review(document).findings] == findings


@pytest.mark.parametrize(
    ("stored", "document", "findings"),
    [
        (database(), database(version="17.0", replicas=2, backups=BACKUPS), []),
        (
            database(),
            database(version="15.9"),
            ['spec.version: Invalid value: "15.9": may not be lower than the stored 16.3'],
        ),
        (
            database(),
            database(engine="MySQL", version="16.3"),
            [
                'spec.version: Unsupported value: "16.3": supported values: "8", "9"',
                'spec.engine: Forbidden: may not change after the Database is created: from "PostgreSQL" to "MySQL"',
            ],
        ),
        (database("1Gi"), database("1024Mi"), []),
        (database(), database("10Gi"), ['spec.storage.size: Invalid value: "10Gi": may not shrink: it is 20Gi']),
        (database(class_name="large"), database("30Gi", "large"), []),
        (
            database(class_name="fast"),
            database("30Gi", "fast"),
            ['spec.storage.size: Invalid value: "30Gi": the StorageClass fast has no allowVolumeExpansion'],
        ),
    ],
)
def test_a_changed_database(stored: dict[str, Any], document: dict[str, Any], findings: list[str]) -> None:
    """Faults of updates."""
    assert [str(finding) for _, finding in review(document, stored).findings] == findings


def test_defaults() -> None:
    """They are added once."""
    stored = review(database(users=[{"name": "the_shop", "role": "Own"}])).document
    assert stored["spec"]["replicas"] == 1
    assert stored["spec"]["users"] == [{"name": "the_shop", "role": "Own", "secret": "orders-the-shop"}]
    assert review(dict(stored)).patch == []


@pytest.mark.parametrize(
    "document",
    [
        database(),
        database("1500Mi", "fast", replicas=2, backups=BACKUPS),
        database(users=[{"name": "shop", "role": "Write"}]),
        database(users=[{"name": "shop", "role": "Own"}, {"name": "reports", "role": "Read"}]),
    ],
)
def test_a_round_trip_changes_nothing(document: dict[str, Any]) -> None:
    """v1alpha1 keeps what it cannot express."""
    older = DATABASE.convert(document, "v1alpha1")
    assert DATABASE.convert(older, "v1") == document


def test_a_client_of_the_older_version_changes_its_part() -> None:
    """It adds a user and room, and the rest stays."""
    older = DATABASE.convert(database("1500Mi", backups=BACKUPS, users=[{"name": "shop", "role": "Own"}]), "v1alpha1")
    assert older["spec"] == {"engine": "postgres:16.3", "storageGiB": 2, "users": ["shop"]}
    older["spec"] |= {"storageGiB": 4, "users": ["shop", "reports"]}
    users = [{"name": "shop", "role": "Own"}, {"name": "reports", "role": "Write"}]
    assert DATABASE.convert(older, "v1") == database("4Gi", backups=BACKUPS, users=users)
