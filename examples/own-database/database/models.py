"""The shape of a Database: `db.example.com/v1`, and the older `v1alpha1`."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from crdgen import Column, CustomResource, Doc, Int32, MapList, MaxItems, Model, Names, Quantity, Version


class Engine(StrEnum):
    """The program that serves the database."""

    POSTGRESQL = "PostgreSQL"
    MYSQL = "MySQL"


class Role(StrEnum):
    """What a user may do."""

    READ = "Read"
    WRITE = "Write"
    OWN = "Own"


class Storage(Model):
    """The volume of each replica."""

    size: Annotated[Quantity, Doc("Size of the volume. It can only grow.")]
    class_name: Annotated[str | None, Doc("Name of the StorageClass. Without it, the default one is used.")] = None


class Backups(Model):
    """When backups are taken, and how long they are kept."""

    schedule: Annotated[str, Field(pattern=r"^\S+( \S+){4}$"), Doc("When, as in cron, such as `0 3 * * *`.")]
    keep_days: Annotated[int, Int32(minimum=1, maximum=365), Doc("Days until a backup is deleted.")] = 7


class User(Model):
    """A user of the database."""

    name: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,62}$"), Doc("Unique in the database.")]
    role: Role = Role.READ
    secret: Annotated[str | None, Doc("Name of the Secret with the password. Default: `<database>-<user>`.")] = None


class DatabaseSpec(Model):
    """A database with its replicas, backups and users."""

    engine: Engine
    version: Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,3})?$"), Doc("Version of the engine, such as 16.3.")]
    replicas: Annotated[int, Int32(minimum=1, maximum=9), Doc("Number of servers. One of them takes writes.")] = 1
    storage: Storage
    backups: Annotated[Backups | None, Doc("Without it, there are no backups.")] = None
    users: Annotated[list[User] | None, MapList("name"), MaxItems(100), Doc("Users beside the administrator.")] = None


class DatabaseStatus(Model):
    """What the operator reports."""

    phase: Annotated[str | None, Doc("Creating, Ready or Failed.")] = None


class OlderSpec(Model):
    """A database, as in v1alpha1."""

    engine: Annotated[str, Field(pattern=r"^(postgres|mysql):\d{1,3}(\.\d{1,3})?$"), Doc("Such as `postgres:16.3`.")]
    storage_gi_b: Annotated[int, Int32(minimum=1), Field(alias="storageGiB"), Doc("Size of the volume in GiB.")]
    storage_class: Annotated[str | None, Doc("Name of the StorageClass.")] = None
    users: Annotated[list[str] | None, MaxItems(100), Doc("Users, who may read and write.")] = None


RESOURCE = CustomResource(
    group="db.example.com",
    names=Names(kind="Database", short_names=("db",)),
    versions=(
        Version(
            "v1",
            spec=DatabaseSpec,
            status=DatabaseStatus,
            description="A database that the operator dba creates.",
            columns=(Column("Engine", ".spec.engine"), Column("Phase", ".status.phase")),
        ),
        Version("v1alpha1", spec=OlderSpec, status=DatabaseStatus, storage=False, description="Use v1."),
    ),
)
