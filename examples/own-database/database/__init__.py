"""Database: a kind whose objects are no jobs."""

from database.defaults import DEFAULTS
from database.models import RESOURCE
from database.rules import RULES
from database.versions import VERSIONS
from jobgate.api import bind

__all__ = ["DATABASE"]

DATABASE = bind(RESOURCE, defaults=DEFAULTS, rules=RULES, versions=VERSIONS)
