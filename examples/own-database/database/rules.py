"""The rules of a Database beyond its schema."""

from collections.abc import Iterator

from database.models import DatabaseSpec, Engine, Role
from jobgate.api import (
    Cause,
    Context,
    Forbidden,
    Invalid,
    MayChange,
    Mutable,
    NotFound,
    Notice,
    NotSupported,
    Object,
    Required,
    Rule,
    looks_up,
    parse_quantity,
    rule,
    value_at,
)

CLASSES = "storageclasses.v1.storage.k8s.io"
MAJORS = {Engine.POSTGRESQL: ("15", "16", "17"), Engine.MYSQL: ("8", "9")}
RESERVED = {Engine.POSTGRESQL: "postgres", Engine.MYSQL: "root"}


@rule()
def the_engine_has_the_version(database: Object[DatabaseSpec], _: Context) -> Iterator[Cause]:
    """There are images of these major versions only."""
    majors = MAJORS[database.spec.engine]
    if database.spec.version.partition(".")[0] not in majors:
        yield NotSupported("spec.version", database.spec.version, majors)


@rule("replicas")
def replicas_start_from_a_backup(database: Object[DatabaseSpec], _: Context) -> Iterator[Cause]:
    """A new replica is filled from the latest backup."""
    if database.spec.replicas > 1 and database.spec.backups is None:
        yield Required("spec.backups", f"{database.spec.replicas} replicas need backups to start from")


@rule("users")
def no_user_is_the_administrator(database: Object[DatabaseSpec], _: Context) -> Iterator[Cause]:
    """The administrator exists in every database, with a password of its own."""
    reserved = RESERVED[database.spec.engine]
    for path, user in database.each("users"):
        if user.name == reserved:
            detail = f"{reserved} is the administrator of {database.spec.engine}: choose another name"
            yield Forbidden(path / "name", detail)


@rule("users")
def someone_can_write(database: Object[DatabaseSpec], _: Context) -> Iterator[Notice]:
    """A database that nobody can write to stays empty."""
    if database.spec.users and all(user.role is Role.READ for user in database.spec.users):
        yield Notice("spec.users", "no user can write: give one the role Write or Own")


@rule("storage.class_name")
@looks_up(CLASSES)
def the_storage_class_exists(database: Object[DatabaseSpec], context: Context) -> Iterator[Cause]:
    """The volumes of an unknown StorageClass are never created. Stored databases are not checked again."""
    name = database.spec.storage.class_name
    if context.old is None and name and context.objects.get(CLASSES, name) is None:
        yield NotFound("spec.storage.className", name, "the cluster has no StorageClass of this name")


@rule(updates=True)
@looks_up(CLASSES)
def storage_only_grows(database: Object[DatabaseSpec], context: Context) -> Iterator[Cause]:
    """Volumes cannot shrink, and grow only if their StorageClass allows it."""
    storage, old = database.spec.storage, value_at(context.old, ("spec", "storage", "size"))
    before, after = parse_quantity(old), parse_quantity(storage.size)
    if after < before:
        yield Invalid("spec.storage.size", storage.size, f"may not shrink: it is {old}")
    if after > before and storage.class_name:
        found = context.objects.get(CLASSES, storage.class_name)
        if found is not None and found.get("allowVolumeExpansion") is not True:
            detail = f"the StorageClass {storage.class_name} has no allowVolumeExpansion"
            yield Invalid("spec.storage.size", storage.size, detail)


@rule(updates=True)
def versions_only_rise(database: Object[DatabaseSpec], context: Context) -> Iterator[Cause]:
    """No engine reads the files of a newer version."""
    old = value_at(context.old, ("spec", "version"))
    if old and _numbers(database.spec.version) < _numbers(old):
        yield Invalid("spec.version", database.spec.version, f"may not be lower than the stored {old}")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


MAY_CHANGE = MayChange(
    {
        "spec.version": Mutable.ALWAYS,
        "spec.replicas": Mutable.ALWAYS,
        "spec.storage.size": Mutable.ALWAYS,
        "spec.backups": Mutable.ALWAYS,
        "spec.users": Mutable.ALWAYS,
    }
)

RULES: tuple[Rule, ...] = (
    the_engine_has_the_version,
    replicas_start_from_a_backup,
    no_user_is_the_administrator,
    someone_can_write,
    the_storage_class_exists,
    storage_only_grows,
    versions_only_rise,
    MAY_CHANGE.rule(),
)
