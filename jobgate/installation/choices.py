"""Expressions that several trees use, and the metadata of namespaced objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.installation.installation import LABELS, RotationMode
from jobgate.installation.tree import (
    Expression,
    If,
    all_of,
    any_of,
    equal,
    has,
    joined,
    negated,
    setting,
    to_json,
)
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.runner import runner_of
from jobgate.jobs.wiring import requests_plugins, wired
from jobgate.ownership import HOME_LABEL, NAME_LABEL

NAME, NAMESPACE = setting("name"), setting("namespace")

#: Labels of all objects except CRDs in files, which belong to no installation.
INSTALLED: Mapping[str, str | Expression] = {**LABELS, NAME_LABEL: NAME, HOME_LABEL: NAMESPACE}

#: The namespaces that the installation serves, and the flag that tells its controllers.
SERVED = setting("namespace_selector")
SERVED_FLAG = If(SERVED, joined("--namespace-selector=", to_json(SERVED)))
#: Limits an admission policy to these namespaces.
ONLY_SERVED = {"namespaceSelector": If(SERVED, SERVED)}

#: Whether the pods of jobgate run in the cluster.
RUNS = negated(setting("external_name"))

#: What rotates the certificate.
WATCHES = equal(setting("rotation"), RotationMode.WATCH)
SCHEDULES = equal(setting("rotation"), RotationMode.CRONJOB)
ROTATES = all_of(RUNS, any_of((WATCHES, SCHEDULES)))
CERT_MANAGER = equal(setting("rotation"), RotationMode.CERT_MANAGER)


def kind_on(kind: CustomKind) -> Expression:
    """Return whether a kind is enabled."""
    return setting("kinds", kind.qualified_plural)


def denies(kind: CustomKind) -> Expression:
    """Return whether the faulty objects of a configured kind are denied."""
    return all_of(kind_on(kind), has(setting("deny"), kind.qualified_plural))


def wires(kind: CustomKind) -> Expression:
    """Return whether pods of a kind are wired: pods of some kinds, only if jobgate runs their jobs."""
    run = has(setting("run"), kind.qualified_plural)
    return kind_on(kind) if requests_plugins(kind) else all_of(kind_on(kind), run)


def may_be_wired(kinds: Iterable[CustomKind]) -> list[JobKind]:
    """Return the kinds with pods that are wired in some installation."""
    kinds = tuple(kinds)
    return wired(kinds, {kind.qualified_plural for kind in kinds if runner_of(kind) is not None})


def some_on(kinds: Iterable[CustomKind]) -> Expression:
    """Return whether any of these kinds is enabled."""
    return any_of(kind_on(kind) for kind in kinds)


def plugin_on(name: str) -> Expression:
    """Return whether a plugin is enabled."""
    return setting("plugins", name)


def named(default: str) -> Expression:
    """Return the name of an object that several installations have side by side; `default` is that of `jobgate`."""
    return joined(NAME, default.removeprefix("jobgate"))


def namespaced(
    api_version: str,
    kind: str,
    name: str | Expression,
    body: Mapping[str, Any],
    labels: Mapping[str, str | Expression] | Expression = INSTALLED,
) -> dict[str, Any]:
    """Return an object in the namespace of the installation; `body` has its other fields."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
