"""`jobgate render`: prints what the runner would create for jobs, without a cluster."""

from __future__ import annotations

from typing import Any

import click
import yaml

from jobgate.cli.report import bullets, finish, read_files, title, warn
from jobgate.cli.settings import Configured, installation, queueing_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.runner import runner_of
from jobgate.offline.files import is_item
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins.queueing import NATIVE_GROUP, grouping, versions
from jobgate.runner.rendering import rendered

#: No Kubernetes serves it yet.
_FUTURE = f"{NATIVE_GROUP}/v1"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of jobs that set none.")
@installation
@click.pass_context
def render(context: click.Context, *, files: tuple[str, ...], namespace: str, configured: Configured) -> None:
    """Print the Services, PodGroups, claims and batch Jobs that the runner would create for the jobs in FILEs, as YAML.

    With --queueing, pods are in the gangs of that system; PodGroups of `kubernetes` are those of Kubernetes 1.37.
    Variables that differ between the pods of a task, such as RANK, are set by the pod webhook, and are not shown. Nor
    are objects of plugins: see `jobgate explain --run KIND`. FILE may be a directory, whose YAML and JSON files are
    read, or - for standard input. Exit status: 0; 1 if a job would be denied; 2 if the input is invalid or contains no
    job that the runner can run.
    """
    objects: list[dict[str, Any]] = []
    queueing = queueing_of(configured.settings)
    groups = None
    if queueing is not None:
        groups = grouping(queueing, next((version for version in versions(queueing.system) if version != _FUTURE), ""))
    denied = False
    manifests, broken = read_files(files)
    warn(manifests)
    options = ReviewOptions(kinds=configured.kinds, namespace=namespace, settings=configured.settings)
    for manifest in manifests:
        kind = configured.kinds.get(str(manifest.object.get("apiVersion")), str(manifest.object.get("kind")))
        if is_item(manifest.object) or (kind is not None and runner_of(kind) is None):
            continue
        verdict = judge(manifest.object, options)
        if verdict.status is not None:
            denied = True
            click.echo("\n".join([f"{title(manifest)}: denied", *bullets(verdict.status)]), err=True)
        elif isinstance(kind, JobKind):
            objects += rendered(kind, verdict.document, namespace, configured.settings.domain, groups)
    if objects:
        click.echo(yaml.safe_dump_all(objects, sort_keys=False, allow_unicode=True), nl=False)
    what = "rendered: no object is of a kind that the runner runs"
    finish(context, what, broken=broken, done=bool(objects) or denied, denied=denied)
