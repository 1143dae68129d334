"""Settings: each is a flag, a variable `JOBGATE_…` and a key of the settings file; the first that is set is used."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click
from msgspec import Struct

from crdgen.cli.sources import UsageError, definitions
from crdgen.schema.look import mapping
from jobgate.cli.cluster import grouped, require_dns_name
from jobgate.limits import JOB_PODS, PODS_LIMIT
from jobgate.names import DOMAIN, dns_label, dns_subdomain

if TYPE_CHECKING:
    from pydantic import BaseModel

    from jobgate.jobs.context import Settings
    from jobgate.jobs.kind import CustomKind, JobKind
    from jobgate.plugins import Arguments, Plugin
    from jobgate.plugins.queueing import QueueingArguments
    from jobgate.selectors import LabelSelector
    from jobgate.serving.reload import KindFile
    from webhook import Registry

#: The value of `--kinds` that names all entries of the catalogue.
ALL_ENTRIES = "catalogue"
_ENFORCE, _WARN = "enforce", "warn"
#: The service account of DI-orchestrator in its own manifests. It writes jobs back without fields that its types lack.
_DI_ORCHESTRATOR_ACCOUNT = "system:serviceaccount:di-system:di-orchestrator"


F = TypeVar("F", bound=Callable[..., Any])


def setting(flag: str, *names: str, **options: Any) -> Callable[[F], F]:
    """Return an option with an environment variable: `--tls-cert` is also `JOBGATE_TLS_CERT`."""
    variable = "JOBGATE_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **options)


def label_selector(_: click.Context, __: click.Parameter, value: str | None) -> LabelSelector:
    """Return the label selector of an option."""
    from pydantic import ValidationError

    from jobgate.selectors import parsed
    from jobgate.serving.reload import faults_of

    try:
        return parsed(value or "{}")
    except ValueError as error:
        raise click.BadParameter(faults_of(error) if isinstance(error, ValidationError) else str(error)) from None


NAMESPACE_SELECTOR = setting(
    "--namespace-selector",
    metavar="YAML",
    callback=label_selector,
    help="Label selector of the namespaces that are served, as {matchLabels: {team: vision}}.  [default: all]",
)


class Configured(Struct, frozen=True):
    """The settings of an installation."""

    settings: Settings
    kinds: Registry[CustomKind]
    kind_files: tuple[KindFile, ...] = ()


def _configured(  # noqa: PLR0913 - a setting each
    *,
    queueing: Mapping[str, Arguments],
    cluster_domain: str,
    offered: Mapping[str, Plugin[Any]] | None,
    kinds: Registry[CustomKind] | None,
    more_kinds: Sequence[CustomKind] = (),
    operator_can: tuple[str, ...] = (),
    forgetful_writer: tuple[str, ...] = (),
    run: tuple[str, ...] = (),
    kind_settings: tuple[KindFile, ...] = (),
    job_pods: int = JOB_PODS,
    mode: str = _ENFORCE,
) -> dict[str, Configured]:
    from jobgate.jobs.context import Settings
    from jobgate.kinds import installed

    settings = _read(kind_settings)
    admission = Settings(
        operator_can=frozenset(operator_can),
        forgetful_writers=frozenset(forgetful_writer),
        kinds=settings,
        plugins=queueing,
        domain=cluster_domain,
        runs=frozenset(run),
        job_pods=job_pods,
        enforces=mode == _ENFORCE,
        **({} if offered is None else {"offered": offered}),
    )
    registry = installed() if kinds is None else kinds
    try:
        registry = registry.plus(more_kinds) if more_kinds else registry
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--kinds") from None
    return {"configured": Configured(admission, registry, kind_settings)}


def _read(files: tuple[KindFile, ...]) -> dict[str, BaseModel]:
    """Return the settings in the files of kinds."""
    if not files:
        return {}
    from jobgate.serving.reload import InvalidSettings

    try:
        return {file.plural: file.read() for file in files}
    except InvalidSettings as error:
        raise click.BadParameter(str(error), param_hint="--kind-settings") from None


def _queueing(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Mapping[str, Arguments]:
    """Parse `SYSTEM` or `SYSTEM=SCHEDULER`."""
    if value is None:
        return {}
    from jobgate.plugins import parse
    from jobgate.plugins.queueing import Queueing, QueueingArguments, System
    from webhook import Path

    system, _, scheduler = value.partition("=")
    if system not in list(System):
        *most, last = System
        raise click.BadParameter(f"{system!r} must be one of {', '.join(most)} or {last}")
    written = {"system": system, **({"scheduler": scheduler} if scheduler else {})}
    arguments, causes = parse(QueueingArguments, Queueing.name, written, Path("queueing"))
    if arguments is None:
        raise click.BadParameter("; ".join(cause.message for cause in causes))
    return {Queueing.name: arguments}


def queueing_of(settings: Settings) -> QueueingArguments | None:
    """Return the queueing settings of the installation; None if there are none."""
    from jobgate.plugins.queueing import Queueing, QueueingArguments

    queueing = settings.plugins.get(Queueing.name)
    return queueing if isinstance(queueing, QueueingArguments) else None


def checked_queueing(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Validate a value of `--queueing`, and return it unchanged."""
    _queueing(context, parameter, value or None)
    return value


def among(names: Iterable[str], known: Iterable[str], lacking: Iterable[str] = ()) -> tuple[str, ...]:
    """Require that all names are known: a misspelt name must not leave enabled what should be disabled.

    If kinds or plugins are `lacking`, an unknown name may be theirs: it is left out, so that the others work.
    """
    names, known = list(names), list(known)
    if (unknown := sorted(set(names) - set(known))) and not tuple(lacking):
        raise click.BadParameter(f"{unknown[0]!r} must be one of {', '.join(known) or '(none)'}")
    for name in unknown:
        click.echo(f"warning: {name} is ignored: it may be that of a package that cannot be loaded", err=True)
    return tuple(name for name in names if name in known)


def _plugins(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> Mapping[str, Plugin[Any]] | None:
    """Return all plugins except the named ones; None for all."""
    if not values:
        return None
    from jobgate.plugins import installed, lacking, offered

    values = among(values, offered(), lacking())
    return {name: plugin for name, plugin in installed().items() if name not in values}


def _kinds(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> Registry[CustomKind] | None:
    """Return all kinds except the named ones; None for all."""
    if not values:
        return None
    from jobgate.kinds import installed
    from webhook import Registry

    kinds = installed()
    values = among(values, [kind.qualified_plural for kind in kinds], kinds.lacking)
    return Registry((kind for kind in kinds if kind.qualified_plural not in values), lacking=kinds.lacking)


def more_kinds(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[JobKind]:
    """Return the kinds of files and of the catalogue."""
    if not values:
        return []
    from crdgen.reading.entries import InvalidEntries
    from jobgate.configured.catalogue import kinds_of, named_in_catalogue, names
    from jobgate.configured.file import read_entries

    read: list[Any] = []
    for value in values:
        chosen = names() if value == ALL_ENTRIES else [value] if named_in_catalogue(value) else []
        read += [entry for name in chosen for entry in named_in_catalogue(name)]
        try:
            read += [] if chosen else read_entries(FilePath(value).read_bytes(), value)
        except InvalidEntries as error:
            raise click.BadParameter(f"\n{error}") from None
        except FileNotFoundError:
            known = ", ".join(names())
            raise click.BadParameter(f"{value!r} is neither a file nor in the catalogue: {known}") from None
        except OSError as error:
            raise click.BadParameter(f"{value}: {error.strerror}") from None
    return kinds_of(read)


def _service_accounts(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Require user names of service accounts.

    Raises:
        click.BadParameter: a value names another user. A person may remove a field on purpose, and would get it back.
    """
    for value in values:
        namespace, name = value.removeprefix("system:serviceaccount:").partition(":")[::2]
        if not value.startswith("system:serviceaccount:") or dns_label(namespace) or dns_subdomain(name):
            raise click.BadParameter(
                f"{value!r} must be a service account of the form system:serviceaccount:<namespace>:<name>: fields "
                "that a forgetful writer removes are restored, but users and groups may remove them on purpose"
            )
    return values


def _runnable(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Require kinds that the runner can run."""
    if not values:
        return values
    from jobgate.jobs.runner import runner_of
    from jobgate.kinds import installed

    kinds = installed()
    return among(values, [kind.qualified_plural for kind in kinds if runner_of(kind) is not None], kinds.lacking)


def capabilities(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Require capabilities that a rule asks for.

    Raises:
        click.BadParameter: a value is unknown. A kind whose profile is not ours may have any.
    """
    if not values:
        return values
    from pydantic.alias_generators import to_camel

    from jobgate.jobs.kind import job_kinds
    from jobgate.jobs.operator import Operator
    from jobgate.kinds import installed
    from jobgate.rules.ignored import FIELDS

    kinds = installed()
    jobs = job_kinds(kinds)
    for value in values:
        plural = value.partition("/")[0]
        operators = [kind.operator for kind in jobs if kind.plural == plural]
        if not operators and kinds.lacking:
            continue
        if not operators:
            raise click.BadParameter(
                f"{value!r} must begin with one of {', '.join(f'{kind.plural}/' for kind in jobs)}"
            )
        ours = [operator.capabilities for operator in operators if isinstance(operator, Operator)]
        if len(ours) == len(operators):
            among([value], sorted(f"{plural}/{word}" for word in frozenset(map(to_camel, FIELDS)).union(*ours)))
    return values


def kind_files(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[KindFile, ...]:
    """Parse values of the form `PLURAL.GROUP=FILE`."""
    if not values:
        return ()
    from jobgate.kinds import installed
    from jobgate.serving.reload import KindFile

    kinds = installed()
    models = {kind.qualified_plural: kind.settings for kind in kinds if kind.settings is not None}
    files: dict[str, KindFile] = {}
    for value in values:
        plural, path = value.partition("=")[::2]
        if not path:
            raise click.BadParameter(f"{value!r} must be PLURAL.GROUP=FILE")
        if plural in files:
            raise click.BadParameter(f"{plural} is repeated: a kind has only one file")
        if not among([plural], models, kinds.lacking):
            continue
        files[plural] = KindFile(plural, models[plural], FilePath(path))
    return tuple(files.values())


def queues_text(path: FilePath | None) -> str:
    """Return the content of a queues file, which is valid; empty without a file."""
    from jobgate.runner.queues.file import InvalidQueues, read_queues

    if path is None:
        return ""
    try:
        content = path.read_text(encoding="utf-8")
        read_queues(content)
    except (InvalidQueues, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--queues") from None
    return content


def _crds(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the CRDs in files and below directories, by name."""
    try:
        manifests = [manifest for file in values for manifest in definitions(file)]
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
    if manifests:
        from crdgen.lint import rejections

        for manifest in manifests:
            for fault in rejections(manifest.object):
                place = f"{manifest.file}:{manifest.line}"
                raise click.BadParameter(f"{place}: the API server rejects the CRD: {fault.path}: {fault.problem}")
    return {str(mapping(manifest.object.get("metadata")).get("name")): manifest.object for manifest in manifests}


def installation_fields(values: BinaryIO | None) -> dict[str, Any]:
    """Return the fields of an installation that a file with values of the chart sets.

    Raises:
        click.BadParameter: the file is no YAML, or a value is invalid.
    """
    from pydantic import ValidationError

    from crdgen.reading import UnreadableManifest, read_value
    from jobgate.installation import Installation
    from jobgate.serving.reload import faults_of

    if values is None:
        return {}
    try:
        given = read_value(values.read(), "values") or {}
        Installation.model_validate(given)
    except UnreadableManifest as error:
        raise click.BadParameter(str(error), param_hint="--values") from None
    except ValidationError as error:
        raise click.BadParameter(faults_of(error), param_hint="--values") from None
    # As they are written: a value that is merged with a default must be merged once.
    names = {field.alias: name for name, field in Installation.model_fields.items()}
    return {names.get(key, key): value for key, value in given.items()}


def in_cluster(kinds: Registry[CustomKind], deny: Collection[str] = ()) -> Registry[CustomKind]:
    """Return the kinds for a cluster; see `installable`."""
    from jobgate.configured.catalogue import installable
    from webhook import Registry

    try:
        return Registry(installable(kinds, deny), lacking=kinds.lacking)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def log_lacking(kinds: Registry[CustomKind]) -> list[str]:
    """Log and return a sentence for each kind and plugin of a package that cannot be loaded."""
    import logging

    from jobgate.plugins import lacking

    faults = [*kinds.lacking, *lacking()]
    for fault in faults:
        logging.getLogger("jobgate").error("package unusable", extra={"fields": {"reason": fault}})
    return faults


CRDS = click.option(
    "--crd",
    "crds",
    multiple=True,
    metavar="FILE",
    callback=_crds,
    help="CRD of a kind of --kinds or of the catalogue, which gives its schema; repeatable. FILE may be a directory.",
)
CONTEXT = click.option(
    "--context",
    "known",
    multiple=True,
    metavar="FILE",
    help="Objects of the cluster that rules look up: all of each resource and namespace that it has; repeatable. FILE "
    "may be a directory, or - for standard input. Objects in PATHs are looked up, too.",
)
RUN = setting(
    "--run",
    multiple=True,
    metavar="KIND",
    callback=_runnable,
    help="Kind of jobs that jobgate runs itself, for example torchjobs.train.distributed.io; repeatable. Give the "
    "webhook, the controller and the runner the same kinds.",
)

#: Options of all processes that run in a cluster.
HEALTH_PORT = setting(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port for /healthz, /readyz and /metrics, over plain HTTP.",
)
BIND = setting("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="Address to listen on.")  # noqa: S104
CREDENTIALS = setting(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=FilePath),
    help="Kubeconfig file to use instead of the pod's service account.",
)
QUEUEING = setting(
    "--queueing",
    metavar="SYSTEM[=SCHEDULER]",
    callback=_queueing,
    help="System that queues pods, or starts the pods of a job together, if the operator does not: kubernetes (for "
    "jobs that jobgate runs), kueue, coscheduling or volcano. SCHEDULER is the schedulerName of their pods, if not the "
    "default of the system.",
)
CLUSTER_DOMAIN = setting(
    "--cluster-domain",
    default=DOMAIN,
    show_default=True,
    callback=require_dns_name,
    help="The domain of the cluster's Services.",
)
_OPERATOR_CAN = setting(
    "--operator-can",
    multiple=True,
    metavar="PLURAL/WORD",
    callback=capabilities,
    help="Field that an operator supports beyond its profile, for example dijobs/preemptible; repeatable.",
)
_FORGETFUL_WRITER = setting(
    "--forgetful-writer",
    multiple=True,
    metavar="SERVICE-ACCOUNT",
    default=(_DI_ORCHESTRATOR_ACCOUNT,),
    show_default=True,
    callback=_service_accounts,
    help="Service account, as system:serviceaccount:<namespace>:<name>, whose updates drop unknown fields. The webhook "
    "restores them. Repeatable. Accounts that you name replace the default.",
)
_KIND_SETTINGS = setting(
    "--kind-settings",
    multiple=True,
    metavar="PLURAL.GROUP=FILE",
    callback=kind_files,
    help="YAML file with settings of a kind; repeatable.",
)
_JOB_PODS = setting(
    "--job-pods",
    type=click.IntRange(1, PODS_LIMIT),
    default=JOB_PODS,
    show_default=True,
    help="Most pods that a job may have in all.",
)
_MODE = setting(
    "--mode",
    type=click.Choice([_ENFORCE, _WARN]),
    default=_ENFORCE,
    show_default=True,
    help="Whether to deny invalid jobs, or only to warn.",
)
MORE_KINDS = setting(
    "--kinds",
    "more_kinds",
    multiple=True,
    metavar="FILE|PLURAL.GROUP",
    callback=more_kinds,
    help="YAML file that describes a kind of job that others define, or its name in the catalogue, for example "
    "rayjobs.ray.io; `catalogue` for all of it; repeatable.",
)
DENY = setting(
    "--deny",
    multiple=True,
    metavar="PLURAL.GROUP",
    help="Kind of --kinds whose faulty objects are denied; of others, faults are only warnings. Repeatable.",
)
WITHOUT_KIND = setting(
    "--without-kind",
    "kinds",
    multiple=True,
    metavar="PLURAL.GROUP",
    callback=_kinds,
    help="Kind of job to disable; repeatable.",
)
WITHOUT_PLUGIN = setting(
    "--without-plugin",
    "offered",
    multiple=True,
    metavar="NAME",
    callback=_plugins,
    help="Plugin to disable: jobs that use it are denied; repeatable.",
)

_WIRING = (QUEUEING, CLUSTER_DOMAIN, WITHOUT_KIND, WITHOUT_PLUGIN)

#: Add the settings of the runner and the controller, which the command receives as `configured`.
running = grouped(_configured, RUN, MORE_KINDS, *_WIRING)
_INSTALLATION = (RUN, _OPERATOR_CAN, _FORGETFUL_WRITER, _KIND_SETTINGS, _JOB_PODS, _MODE, MORE_KINDS, *_WIRING)
#: Add the settings of an installation, as `configured`.
installation = grouped(_configured, *_INSTALLATION)


@functools.wraps(_configured)
def _later(**values: Any) -> dict[str, Callable[[], Configured]]:
    return {"configure": lambda: _configured(**values)["configured"]}


#: Add the settings of an installation, as `configure`, which loads the kinds only when it is called.
installation_later = grouped(_later, *_INSTALLATION)
