"""The stable surface of jobgate for kinds and plugins of other packages.

Import from here and from `crdgen`: everything below may change between minor releases (VERSIONING.md). The tutorials
use nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from jobgate.jobs.binding import bind, looks_up
from jobgate.jobs.context import Context, Settings
from jobgate.jobs.defaults import fill, fill_each, limit_what_is_not_shared
from jobgate.jobs.dependencies import DependsOn
from jobgate.jobs.fields import PLUGINS_DOC, Plugins
from jobgate.jobs.job import Job
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.members import Members
from jobgate.jobs.operator import Operator
from jobgate.jobs.policies import Action, LifecycleEvent, LifecyclePolicy
from jobgate.jobs.progress import Progress, RunPhase, StartCondition, TaskProgress, all_started
from jobgate.jobs.runner import Clean, Retry, Runner
from jobgate.jobs.status import PhaseCondition, RunStatus, conditions_of, set_condition
from jobgate.jobs.task import Task
from jobgate.jobs.twins import Fault, Fill, Need, Place, says
from jobgate.limits import ENTRIES_LIMIT
from jobgate.plugins import (
    CONFIG_MAP,
    NETWORK_POLICY,
    SECRET,
    SERVICE,
    Arguments,
    Crew,
    Declared,
    Derived,
    Member,
    ObjectType,
    Part,
    Plugin,
    Pod,
    Takes,
    Variable,
)
from jobgate.podchecks.quantity import parse as parse_quantity
from jobgate.rules.dependencies import gangs_can_start
from jobgate.rules.shared import shared_rules
from jobgate.rules.updates import MayChange, Mutable
from webhook import (
    Cause,
    Default,
    Draft,
    Duplicate,
    Forbidden,
    Invalid,
    NotConvertible,
    NotFound,
    Notice,
    NotSupported,
    Object,
    Operation,
    OtherVersion,
    Path,
    Registry,
    Required,
    Rule,
    TooLong,
    TooMany,
    TypeInvalid,
    UnknownObjects,
    User,
    rule,
)
from webhook.values import value_at

if TYPE_CHECKING:
    from jobgate.installation.handbook import page
    from jobgate.offline.files import FileObjects
    from jobgate.offline.judge import ReviewOptions, Verdict, judge

__all__ = [
    "CONFIG_MAP",
    "ENTRIES_LIMIT",
    "NETWORK_POLICY",
    "PLUGINS_DOC",
    "SECRET",
    "SERVICE",
    "Action",
    "Arguments",
    "Cause",
    "Clean",
    "Context",
    "Crew",
    "CustomKind",
    "Declared",
    "Default",
    "DependsOn",
    "Derived",
    "Draft",
    "Duplicate",
    "Fault",
    "FileObjects",
    "Fill",
    "Forbidden",
    "Invalid",
    "Job",
    "JobKind",
    "LifecycleEvent",
    "LifecyclePolicy",
    "MayChange",
    "Member",
    "Members",
    "Mutable",
    "Need",
    "NotConvertible",
    "NotFound",
    "NotSupported",
    "Notice",
    "Object",
    "ObjectType",
    "Operation",
    "Operator",
    "OtherVersion",
    "Part",
    "Path",
    "PhaseCondition",
    "Place",
    "Plugin",
    "Plugins",
    "Pod",
    "Progress",
    "Registry",
    "Required",
    "Retry",
    "ReviewOptions",
    "Rule",
    "RunPhase",
    "RunStatus",
    "Runner",
    "Settings",
    "StartCondition",
    "Takes",
    "Task",
    "TaskProgress",
    "TooLong",
    "TooMany",
    "TypeInvalid",
    "UnknownObjects",
    "User",
    "Variable",
    "Verdict",
    "all_started",
    "bind",
    "conditions_of",
    "fill",
    "fill_each",
    "gangs_can_start",
    "judge",
    "limit_what_is_not_shared",
    "looks_up",
    "page",
    "parse_quantity",
    "rule",
    "says",
    "set_condition",
    "shared_rules",
    "value_at",
]

#: Imported when they are asked for: tests and documentation need them, and a kind does not wait for them.
_LATER: Final = {
    "FileObjects": "jobgate.offline.files",
    "ReviewOptions": "jobgate.offline.judge",
    "Verdict": "jobgate.offline.judge",
    "judge": "jobgate.offline.judge",
    "page": "jobgate.installation.handbook",
}


def __getattr__(name: str) -> Any:
    """Import a name of `_LATER`."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
