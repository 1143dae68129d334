"""The kind $name."""

from jobgate.api import bind

from $package.models import RESOURCE
from $package.rules import DEFAULTS, RULES

__all__ = ["KIND"]

KIND = bind(RESOURCE, defaults=DEFAULTS, rules=RULES)
