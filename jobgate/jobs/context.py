"""What defaults and rules of jobs may know beside the job: the settings of an installation of jobgate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

import webhook
from jobgate.names import DOMAIN
from jobgate.plugins import Plugin, installed

#: Most pods of a job, unless the installation sets another number.
JOB_PODS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Settings(webhook.Settings):
    """The settings of an installation.

    Attributes:
        operator_can: capabilities of the installed operators beyond their profiles, as `<plural>/<field>`, for example
            `dijobs/preemptible` for a DI-orchestrator that acts on the field.
        forgetful_writers: service accounts whose full updates erase the fields that they do not know. Erased fields are
            restored.
        plugins: plugins that the installation sets for every job, by name, with their arguments.
        offered: the plugins that jobs can ask for, by name; by default all that are installed.
        domain: the domain of the cluster's Services.
        runs: the kinds whose jobs jobgate itself runs, by qualified plural.
        job_pods: most pods of a job.
    """

    operator_can: frozenset[str] = frozenset()
    forgetful_writers: frozenset[str] = frozenset()
    plugins: Mapping[str, Any] = field(default_factory=dict)
    offered: Mapping[str, Plugin[Any]] = field(default_factory=installed)
    domain: str = DOMAIN
    runs: frozenset[str] = frozenset()
    job_pods: int = JOB_PODS


class Context(webhook.Context[Settings], frozen=True):
    """The circumstances of one review of a job: see `webhook.Context`."""

    settings: Settings = msgspec.field(default_factory=Settings)


def is_forgetful(context: webhook.Context[Settings]) -> bool:
    """Return whether the user's updates erase fields that it does not know."""
    return context.user.name in context.settings.forgetful_writers
