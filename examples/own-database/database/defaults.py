"""The defaults of a Database, which mutation adds."""

from database.models import Backups, DatabaseSpec, User
from jobgate.api import Context, Draft, fill, fill_each


def constants(database: Draft, _: Context) -> None:
    """The defaults of the models, for an API server without the defaults of the CRD."""
    if (spec := database.at("spec")) is not None:
        fill(spec, DatabaseSpec)
    if (backups := database.at("spec", "backups")) is not None:
        fill(backups, Backups)
    fill_each(database, "spec", "users", model=User)


def passwords_are_in_secrets(database: Draft, context: Context) -> None:
    """The password of a user is in a Secret of its own."""
    for user in database.each("spec", "users"):
        if context.name and "name" in user:
            user.setdefault("secret", f"{context.name}-{user['name']}".replace("_", "-"))


DEFAULTS = (constants, passwords_are_in_secrets)
