"""Settings: each is a long flag, a variable `JOBGATE_…` and a key of one file (`config.py`); the first given wins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import click

from jobgate import plugins
from jobgate.cli.kind_settings import KindFile, Unfit, kind_files
from jobgate.kinds import installed
from jobgate.kinds.common.runner import runner_of
from jobgate.kinds.dijob.operator import ACCOUNT as DI_ORCHESTRATOR_ACCOUNT
from jobgate.names import dns_label, dns_subdomain
from jobgate.plugins import Arguments, leave_out, offered, parse
from jobgate.plugins.queueing import Queueing, QueueingArguments
from webhook import Path, Registry, Settings
from webhook.context import DOMAIN

_ENFORCE, _WARN = "enforce", "warn"

F = TypeVar("F", bound=Callable[..., Any])


def setting(flag: str, *names: str, **options: Any) -> Callable[[F], F]:
    """Return an option that is a setting: `--tls-cert` is also `JOBGATE_TLS_CERT`, and `tls-cert` in the file."""
    variable = "JOBGATE_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **options)


@dataclass(frozen=True, slots=True)
class Told:
    """What the installation says of itself.

    Attributes:
        settings: what a review, and whoever wires pods, asks for.
        kinds: those that are handled.
        kind_files: the files that the settings of kinds come from.
    """

    settings: Settings
    kinds: Registry
    kind_files: tuple[KindFile, ...] = ()


def installation(command: F) -> F:
    """Add the settings that say what an installation is like; the command gets them as one argument, `told`."""
    return _told(command, _WIRING, (_MODE, _KIND_SETTINGS, _FORGETFUL_WRITER, _OPERATOR_CAN, RUN))


def running(command: F) -> F:
    """Add the settings of what runs jobs; as `told` too."""
    return _told(command, _WIRING, (RUN,))


def wiring(command: F) -> F:
    """Add those among them that say what is put into pods, for who makes what goes with it; as `told` too."""
    return _told(command, _WIRING)


def _told(command: F, *groups: tuple[Callable[[Any], Any], ...]) -> F:
    @functools.wraps(command)
    def collected(  # noqa: PLR0913 - a setting each
        *args: Any,
        queueing: Mapping[str, Arguments],
        cluster_domain: str,
        without_plugin: tuple[str, ...],
        kinds: Registry,
        operator_can: tuple[str, ...] = (),
        forgetful_writer: tuple[str, ...] = (),
        run: tuple[str, ...] = (),
        kind_settings: tuple[KindFile, ...] = (),
        mode: str = _ENFORCE,
        **rest: Any,
    ) -> Any:
        leave_out(without_plugin)
        try:
            settings = {file.plural: file.read() for file in kind_settings}
        except Unfit as error:
            raise click.BadParameter(str(error), param_hint="--kind-settings") from None
        said = Settings(
            operator_can=frozenset(operator_can),
            forgetful_writers=frozenset(forgetful_writer),
            kinds=settings,
            plugins=queueing,
            domain=cluster_domain,
            runs=frozenset(run),
            enforces=mode == _ENFORCE,
        )
        return command(*args, told=Told(said, Registry(kinds, plugins.installed()), kind_settings), **rest)

    for option in (one for group in groups for one in group):
        collected = option(collected)
    return cast("F", collected)


def _queueing(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Mapping[str, Arguments]:
    """Read `SYSTEM` or `SYSTEM=SCHEDULER`.

    Raises:
        click.BadParameter: it is neither.
    """
    if value is None:
        return {}
    system, _, scheduler = value.partition("=")
    written = {"system": system, **({"scheduler": scheduler} if scheduler else {})}
    arguments, causes = parse(QueueingArguments, Queueing.name, written, Path("queueing"))
    if arguments is None:
        raise click.BadParameter("; ".join(cause.message for cause in causes))
    return {Queueing.name: arguments}


def checked_queueing(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Take what `--queueing` takes, as it is written.

    Raises:
        click.BadParameter: it is nothing of the kind.
    """
    _queueing(context, parameter, value or None)
    return value


def among(names: Iterable[str], known: Iterable[str]) -> None:
    """Take names that are all known: a slip must not leave on what somebody wants off.

    Raises:
        click.BadParameter: one is not.
    """
    known = list(known)
    if unknown := sorted(set(names) - set(known)):
        raise click.BadParameter(f"{unknown[0]!r} must be one of {', '.join(known)}")


def _plugins(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    leave_out(())
    among(values, offered())
    return values


def _kinds(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> Registry:
    """Return the kinds but those that are named.

    Raises:
        click.BadParameter: one is none.
    """
    kinds = installed()
    among(values, [kind.qualified_plural for kind in kinds])
    return Registry(kind for kind in kinds if kind.qualified_plural not in values)


def _domain(_: click.Context, __: click.Parameter, value: str) -> str:
    if fault := dns_subdomain(value):
        raise click.BadParameter(fault)
    return value


def _service_accounts(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Take the user names of service accounts only.

    Raises:
        click.BadParameter: somebody else is named: a person who removes a field means it, and would get it back.
    """
    for value in values:
        system, account, namespace, name = [*value.split(":"), "", "", ""][:4]
        exact = value.count(":") == 3 and (system, account) == ("system", "serviceaccount")
        if not exact or dns_label(namespace) or dns_subdomain(name):
            raise click.BadParameter(
                f"{value!r} must be one service account, as system:serviceaccount:<namespace>:<name>: what a forgetful "
                "writer removes is put back, and a person, or a whole group, may mean it"
            )
    return values


def _runnable(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Take kinds that the runner can run.

    Raises:
        click.BadParameter: one is none.
    """
    among(values, [kind.qualified_plural for kind in installed() if runner_of(kind) is not None])
    return values


#: The kinds whose jobs the runner runs.
RUN = setting(
    "--run",
    multiple=True,
    metavar="KIND",
    callback=_runnable,
    help="A kind whose jobs `jobgate run` runs, as torchjobs.train.distributed.io; may be repeated.",
)
#: Where the pods of jobs are queued whose operator knows no queues.
QUEUEING = setting(
    "--queueing",
    metavar="SYSTEM[=SCHEDULER]",
    callback=_queueing,
    help="What queues the pods of jobs whose operator knows no queues and gangs: kueue, coscheduling or volcano; and "
    "the scheduler of their pods, where it has another name than usual.",
)
CLUSTER_DOMAIN = setting(
    "--cluster-domain",
    default=DOMAIN,
    show_default=True,
    callback=_domain,
    help="The domain of the cluster's Services.",
)
_OPERATOR_CAN = setting(
    "--operator-can",
    multiple=True,
    metavar="PLURAL/WORD",
    help="What an operator of this installation can do beyond its profile, as dijobs/preemptible.",
)
_FORGETFUL_WRITER = setting(
    "--forgetful-writer",
    multiple=True,
    metavar="SERVICE-ACCOUNT",
    default=(DI_ORCHESTRATOR_ACCOUNT,),
    show_default=True,
    callback=_service_accounts,
    help="A client whose full updates erase fields that it does not know: they are put back. "
    "As system:serviceaccount:<namespace>:<name>; those that are named take the place of the default.",
)
_KIND_SETTINGS = setting(
    "--kind-settings",
    multiple=True,
    metavar="PLURAL.GROUP=FILE",
    callback=kind_files,
    help="A YAML file of what this installation says of one kind.",
)
_MODE = setting(
    "--mode",
    type=click.Choice([_ENFORCE, _WARN]),
    default=_ENFORCE,
    show_default=True,
    help="Whether what is wrong with a job is refused, or only told as a warning.",
)
WITHOUT_KIND = setting(
    "--without-kind",
    "kinds",
    multiple=True,
    metavar="PLURAL.GROUP",
    callback=_kinds,
    help="A kind of job that is not handled here.",
)
WITHOUT_PLUGIN = setting(
    "--without-plugin",
    multiple=True,
    metavar="NAME",
    callback=_plugins,
    help="A plugin that is not offered here: jobs that ask for it are refused.",
)

_WIRING = (WITHOUT_PLUGIN, WITHOUT_KIND, CLUSTER_DOMAIN, QUEUEING)
