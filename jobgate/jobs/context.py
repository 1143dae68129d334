"""The context of a review: the settings of the installation, for defaults and rules of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

import webhook
from jobgate.limits import JOB_PODS
from jobgate.names import DOMAIN
from jobgate.plugins import Plugin, installed


class Settings(webhook.Settings, frozen=True):
    """The settings of an installation.

    Attributes:
        operator_can: capabilities of the installed operators beyond their profiles, as `<plural>/<field>`, for example
            `dijobs/preemptible` for a DI-orchestrator that acts on the field.
        forgetful_writers: service accounts whose full updates erase the fields that they do not know. Erased fields are
            restored.
        plugins: plugins that the installation requests for every job, by name, with their arguments.
        offered: plugins that jobs can request, by name; by default all installed plugins.
        domain: the domain of the cluster's Services.
        runs: the kinds that jobgate itself runs, by qualified plural.
        job_pods: limit of pods in a job.
    """

    operator_can: frozenset[str] = frozenset()
    forgetful_writers: frozenset[str] = frozenset()
    plugins: Mapping[str, Any] = {}
    offered: Mapping[str, Plugin[Any]] = msgspec.field(default_factory=installed)
    domain: str = DOMAIN
    runs: frozenset[str] = frozenset()
    job_pods: int = JOB_PODS


class Context(webhook.Context[Settings], frozen=True):
    """The context of a review of a job: see `webhook.Context`."""

    settings: Settings = msgspec.field(default_factory=Settings)


def is_forgetful(context: webhook.Context[Settings]) -> bool:
    """Return whether updates by the user erase fields that its types lack."""
    return context.user.name in context.settings.forgetful_writers
