"""`jobgate why`: report why a job waits, and what to do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobgate.cli.cluster import KUBECONFIG, OUTPUT, CannotRead, connect
from jobgate.configured.catalogue import kinds_of, named_in_catalogue, names
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed
from webhook.text import line

if TYPE_CHECKING:
    from jobgate.why.causes import Situation


@click.command()
@click.argument("job", metavar="[KIND/]NAME")
@KUBECONFIG
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of the job.")
@click.option(
    "--runner-namespace", default="jobgate-system", show_default=True, help="Namespace with the Lease of the runner."
)
@OUTPUT
@click.pass_context
def why(
    context: click.Context, *, job: str, kubeconfig: Path | None, namespace: str, runner_namespace: str, output: str
) -> None:
    """Report why a job waits: the most important cause first, then all others, each with what to do.

    KIND is a kind of jobgate or of its catalogue, named as for kubectl; without it, jobgate's kinds are searched.
    Changes nothing. What you may not read is skipped and listed. Exit status: 0 if the job runs or has ended and
    nothing holds it back, 1 if it waits or something does, 2 if it cannot be read.
    """
    from jobgate.why.causes import explain

    word, _, name = job.rpartition("/")
    if not (kinds := [*_kinds(word.lower())]):
        raise click.BadParameter(f"{word!r} must be a kind of jobgate or of its catalogue, for example dijob")
    situation = asyncio.run(_look(kubeconfig, kinds, name, namespace, runner_namespace))
    answer, unseen = explain(situation), situation.seen.not_checked()
    if output == "json":
        click.echo(json.dumps(answer.to_json(situation.seen), indent=2))
    else:
        click.echo(line(f"{answer.job} {answer.state}: {answer.causes[0] if answer.causes else answer.message}"))
        for index, cause in enumerate(answer.causes):
            also = [f"also: {line(str(cause))}"] if index else []
            click.echo("\n".join([*also, *(f"  {line(text)}" for text in (cause.detail, f"fix: {cause.fix}") if text)]))
        for reason, parts in unseen.items():
            click.echo(f"not looked at: {', '.join(parts)}: {reason}")
    context.exit(1 if answer.causes or answer.state == "waits" else 0)


async def _look(kubeconfig: Path | None, kinds: list[JobKind], name: str, namespace: str, home: str) -> Situation:
    from jobgate.doctor.look import CannotDiagnose
    from jobgate.why.look import look_at

    try:
        async with await connect(kubeconfig) as client:
            return await look_at(client, kinds, name, namespace, home)
    except (click.ClickException, CannotDiagnose) as error:
        raise CannotRead(str(error)) from error


def _kinds(word: str) -> Iterator[JobKind]:
    """Yield the kinds that a word names, as kubectl does; jobgate's own for none."""
    for kind in installed():
        short = kind.resource.names.short_names if kind.resource else ()
        named = word in {kind.kind.lower(), kind.plural, kind.qualified_plural, *short}
        if not isinstance(kind, JobKind):
            if named:
                raise click.BadParameter(f"a {kind.kind} has no pods that could wait")
            continue
        if named and kind.creates is not None:
            raise click.BadParameter(f"a {kind.kind} only creates a {kind.creates.kind}: ask why that waits")
        if named or (not word and kind.creates is None):
            yield kind
    for name in names():
        plural = name.partition(".")[0]
        if word in {name, plural, plural.removesuffix("s")}:
            yield kinds_of(named_in_catalogue(name))[0]
