"""The kind $name."""

from jobgate.api import bind

from $package.models import RESOURCE
from $package.rules import DEFAULTS, RULES
from $package.runner import OPERATOR, JobRunner

__all__ = ["KIND"]

KIND = bind(RESOURCE, operator=OPERATOR, defaults=DEFAULTS, rules=RULES, runner=JobRunner())
