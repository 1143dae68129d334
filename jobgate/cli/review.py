"""`jobgate review`: review manifests without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crdgen.cli.sources import read_tree, watched
from crdgen.reading import Manifest
from crdgen.reporting import Judged, Report, conclude, count, entries
from jobgate.cli.report import OURS, advice, name_of, paint, read_files, reading_warnings
from jobgate.cli.settings import CONTEXT, CRDS, Configured, installation_later
from jobgate.kinds import BUILT_IN, ENTRY_POINT
from jobgate.packages import may_provide

if TYPE_CHECKING:
    from jobgate.offline.judge import ReviewOptions, Verdict
    from jobgate.podchecks.pod_security.policy import Standard


def _standard(_: click.Context, __: click.Parameter, value: str | None) -> Standard | None:
    if value is None:
        return None
    from jobgate.podchecks.pod_security.policy import standard

    try:
        return standard(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="PATH…")
@click.option("--recursive", "-R", is_flag=True, help="Also read the directories below directories.")
@click.option(
    "--operation",
    type=click.Choice(["CREATE", "UPDATE"], case_sensitive=False),
    help="Operation to review.  [default: CREATE; with --old, UPDATE]",
)
@click.option("--old", metavar="FILE", help="Stored objects before the update.")
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of objects that set none.")
@click.option(
    "--pod-security",
    metavar="LEVEL[:VERSION]",
    callback=_standard,
    help="Pod Security level that namespaces enforce, for example restricted or baseline:v1.34, unless their "
    "labels in PATHs say otherwise.",
)
@click.option("--user", default="", help="Name of the user who applies the objects.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json", "yaml", "sarif", "github", "junit"]),
    default="text",
    show_default=True,
)
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@click.option("--quiet", "-q", is_flag=True, help="Print findings only.")
@click.option("--baseline", metavar="FILE", help="File with findings that are accepted.")
@click.option("--write-baseline", is_flag=True, help="Write all findings to the file of --baseline.")
@CRDS
@CONTEXT
@installation_later
@click.pass_context
def review(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    *,
    files: tuple[str, ...],
    recursive: bool,
    operation: str | None,
    old: str | None,
    namespace: str,
    pod_security: Standard | None,
    user: str,
    output: str,
    strict: bool,
    quiet: bool,
    baseline: str | None,
    write_baseline: bool,
    crds: dict[str, dict[str, Any]],
    known: tuple[str, ...],
    configure: Callable[[], Configured],
) -> None:
    """Review the objects in PATHs as the webhook would, without a cluster: errors, warnings, changes.

    PATH may be a file, a directory, a glob in quotes, or - for standard input. Objects of other kinds are counted.
    A comment `# jobgate: ignore[RULE]` accepts a finding of its line. Exit status: 0 if all objects are allowed or none
    is of a known kind, 1 if one is denied (with --strict, also for warnings), 2 if the input cannot be read.
    """
    if operation == "UPDATE" and old is None:
        raise click.UsageError("--operation UPDATE requires the stored objects: --old FILE")
    if operation == "CREATE" and old is not None:
        raise click.UsageError("--old requires --operation UPDATE")
    if write_baseline and baseline is None:
        raise click.UsageError("--write-baseline requires the file: --baseline FILE")
    stored, broken = read_files((old,) if old else ())
    looked_up, missing = read_files(known)
    if broken or missing:  # a verdict without some of these objects would mislead
        context.exit(2)
    tree = read_tree(files, recursive=recursive, advice=advice)
    report = Report("jobgate review", "object", failures=tree.failures, notes=tree.left_out)
    catalogue, adds_kinds = _additions() if tree.manifests else (frozenset[str](), False)
    may_be_ours = (_may_be_ours(manifest, catalogue, installed=adds_kinds) for manifest in tree.manifests)
    if output in {"json", "yaml"} or context.params.get("more_kinds") or any(may_be_ours):
        from jobgate.configured.catalogue import Catalogued
        from jobgate.offline.files import FileObjects
        from jobgate.offline.judge import ReviewOptions
        from webhook import Operation

        configured = configure()
        options = ReviewOptions(
            kinds=Catalogued(configured.kinds, crds),
            operation=Operation.UPDATE if old else Operation.CREATE,
            namespace=namespace,
            user=user,
            settings=configured.settings,
            stored=tuple(manifest.object for manifest in stored),
            objects=FileObjects(
                (manifest.object for manifest in tree.manifests),
                namespace,
                pod_security,
                context=[manifest.object for manifest in looked_up],
                kinds=configured.kinds,
            ),
        )
        for manifest in watched(tree.manifests, "objects reviewed"):
            _review(manifest, options, report, with_entry=output in {"json", "yaml"})
    if others := len(tree.manifests) - sum(bool(item.verdict) for item in report.items):
        report.others.append(f"{others:,} of other kinds")
    if tree.others:
        report.others.append(f"{count(tree.others, 'file')} without objects")
    status = conclude(
        report,
        output=output,
        strict=strict,
        quiet=quiet,
        brief=recursive,
        baseline=baseline,
        write_baseline=write_baseline,
        paint=paint,
    )
    if output == "yaml":
        import yaml

        click.echo(yaml.safe_dump(entries(report), sort_keys=False, allow_unicode=True), nl=False)
    context.exit(status)


def _additions() -> tuple[frozenset[str], bool]:
    """Return the files of the catalogue, and whether an installed package may add kinds."""
    files = (Path(__file__).parents[1] / "configured" / "catalogue").iterdir()
    return frozenset(file.name for file in files), may_provide(ENTRY_POINT)


def _may_be_ours(manifest: Manifest, catalogue: frozenset[str], *, installed: bool) -> bool:
    """Return whether an object may be a job or a prerequisite; answers for most objects without loading any kind."""
    group, kind = manifest.object["apiVersion"].rpartition("/")[0], manifest.object["kind"].lower()
    near = any(group == name.rpartition("/")[0] or (kind == of.lower() and group != "batch") for name, of in BUILT_IN)
    return near or installed or f"{kind}s.{group}.yaml" in catalogue or OURS in manifest.document.text[0]


def _review(manifest: Manifest, options: ReviewOptions, report: Report, *, with_entry: bool) -> None:
    """Add the verdict on an object to the report."""
    from jobgate.offline.judge import judge
    from jobgate.offline.results import notes_of, results_of

    verdict = judge(manifest.object, options)
    report.notes += [note for note in notes_of(manifest, verdict) if note not in report.notes]
    if verdict.reviewed or with_entry:
        results = results_of(manifest.object, verdict, options)
        item = Judged(manifest, "allowed" if verdict.reviewed else "", results)
        item.details = list(_changes(manifest, verdict)) if verdict.allowed else []
        item.entry = _entry(manifest, verdict) if with_entry else None
        report.items.append(item)


def _changes(manifest: Manifest, verdict: Verdict) -> Iterator[str]:
    from webhook.values import difference_lines

    if verdict.patch:
        yield "  changes when stored:"
        for sign, change in difference_lines(manifest.object, verdict.document):
            yield paint(f"    {sign} {change}", sign)


def _entry(manifest: Manifest, verdict: Verdict) -> dict[str, Any]:
    return {
        "file": manifest.file,
        "index": manifest.index,
        "apiVersion": manifest.object.get("apiVersion"),
        "kind": manifest.object.get("kind"),
        "name": name_of(manifest.object),
        "reviewed": verdict.reviewed,
        "allowed": verdict.allowed,
        "status": verdict.status,
        "warnings": [*reading_warnings(manifest), *verdict.warnings],
        "patch": verdict.patch,
        "object": verdict.document,
    }
