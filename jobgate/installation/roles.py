"""Permissions of the server, and of users.

The server reads its certificate, jobs, prerequisites, and what rules look up. Users get permissions for jobs by
aggregation into the cluster roles `view`, `edit` and `admin`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.installation.choices import INSTALLED, NAMESPACE, RUNS, kind_on, named, some_on
from jobgate.installation.console import KEEPS
from jobgate.installation.rbac import API, READ, account, bound, rule
from jobgate.installation.tree import If, setting
from jobgate.installation.workload import ACCOUNT
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.prerequisites import USE, WATCHED
from jobgate.jobs.scale import SCALE, scalable
from jobgate.jobs.wiring import followed, jobs_of
from jobgate.prerequisites.models import DEFINED
from jobgate.prerequisites.reference import GROUP

_ITEMS, _CLUSTER_ITEMS = (resource.names.plural for resource in DEFINED)
_WRITE = ("create", "delete", "deletecollection", "patch", "update")


def roles(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the aggregated ClusterRoles that let users read and edit the jobs of these kinds."""
    kinds = tuple(kinds)
    return [
        _role("jobgate-jobs-view", ("view",), _of_jobs(kinds, READ)),
        _role("jobgate-jobs-edit", ("edit", "admin"), _of_jobs(kinds, _WRITE)),
        # Users who edit a namespace can run anything in it, so they can also write and use its prerequisites.
        _role("jobgate-prerequisites-view", ("view",), [rule(GROUP, _ITEMS, _CLUSTER_ITEMS, verbs=READ)]),
        _role("jobgate-prerequisites-edit", ("edit", "admin"), [rule(GROUP, _ITEMS, verbs=(*_WRITE, USE))]),
        # Cluster items need a binding, for all namespaces or for one.
        _role("jobgate-clusterprerequisites-use", (), [rule(GROUP, _CLUSTER_ITEMS, verbs=(*READ, USE))]),
        _role("jobgate-clusterprerequisites-edit", (), [rule(GROUP, _CLUSTER_ITEMS, verbs=(*READ, *_WRITE))]),
    ]


def watched(kinds: Iterable[CustomKind]) -> dict[tuple[str, str], list[CustomKind]]:
    """Return the resources that the server reads, as (group, plural), with the kinds that need them."""
    kinds = tuple(kinds)
    watching: dict[tuple[str, str], list[CustomKind]] = {}
    read = [*followed(kinds), *scalable(kinds)]
    for kind in kinds:
        for resource in {*kind.watches, *([jobs_of(kind)] if kind in read else [])} - {*WATCHED}:
            plural, _, group = resource.split(".", 2)  # RBAC rules have no versions
            watching.setdefault((group, plural), []).append(kind)
    return dict(sorted(watching.items()))


def rights(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the account of the server with its permissions."""
    resources = watched(kinds)
    rules: list[Any] = [If(some_on(of), rule(*resource, verbs=READ)) for resource, of in resources.items()]
    # Any pod may name prerequisites; the permission to use them is then checked.
    rules.append(rule(GROUP, _ITEMS, _CLUSTER_ITEMS, verbs=READ))
    rules.append(rule("authorization.k8s.io", "subjectaccessreviews", verbs=("create",)))
    rules.append(If(KEEPS, rule("authentication.k8s.io", "tokenreviews", verbs=("create",))))
    return [
        account(ACCOUNT),
        If(RUNS, bound(ACCOUNT, [rule("", "secrets", verbs=READ, names=(setting("secret"),))], NAMESPACE)),
        *bound(ACCOUNT, rules),
    ]


def _of_jobs(kinds: Iterable[CustomKind], verbs: tuple[str, ...]) -> list[Any]:
    """Return the rules for jobs, and for their scale, which can only be read and changed."""
    kinds = tuple(kind for kind in kinds if kind.resource)
    scale = tuple(verb for verb in verbs if verb in {"get", "patch", "update"})
    return [
        *(If(kind_on(kind), rule(kind.group, kind.plural, verbs=verbs)) for kind in kinds),
        *(If(kind_on(kind), rule(kind.group, f"{kind.plural}/{SCALE}", verbs=scale)) for kind in scalable(kinds)),
    ]


def _role(name: str, into: Iterable[str], rules: list[Any]) -> dict[str, Any]:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in into}
    return {
        "apiVersion": API,
        "kind": "ClusterRole",
        "metadata": {"name": named(name), "labels": {**INSTALLED, **labels}},
        "rules": rules,
    }
