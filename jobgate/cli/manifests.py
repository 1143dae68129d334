"""`jobgate manifests`: the objects of an installation, as YAML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click
from click.core import ParameterSource
from pydantic import ValidationError

from crdgen import to_yaml
from jobgate.cli.extras import BrokenInstallation
from jobgate.cli.settings import (
    CLUSTER_DOMAIN,
    DENY,
    MORE_KINDS,
    capabilities,
    checked_queueing,
    installation_fields,
    kind_files,
    label_selector,
    queues_text,
)
from jobgate.configured.catalogue import installable
from jobgate.installation import Installation, committed, objects
from jobgate.installation.files import stale, surplus, write
from jobgate.installation.installation import RotationMode, values
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import installed
from jobgate.limits import PODS_LIMIT
from jobgate.plugins import lacking
from jobgate.serving.reload import InvalidSettings, KindFile, faults_of
from webhook import Registry

F = TypeVar("F", bound=Callable[..., Any])


def _choice(flag: str, field: str, **options: Any) -> Callable[[F], F]:
    """Return an option for a field of the installation, with the field's default and description."""
    if not options.get("multiple"):
        options = {"default": values(field), "show_default": values(field) != "", **options}
    help_text = (Installation.model_fields[field].description or "").rstrip(".")
    options.setdefault("help", f"{help_text}{'; repeatable' if options.get('multiple') else ''}.")
    return click.option(flag, field, **options)


#: Options of the files, which leave all other settings open.
_OF_FILES = {"output_dir", "check", "more_kinds", "deny"}
#: Options that set a field of another name.
_FIELDS = {"without_kind": "kinds", "without_plugin": "plugins"}


@click.command()
@click.option(
    "--values",
    "file",
    type=click.File("rb"),
    help="YAML file with values of the Helm chart, which has more than there are options. Options take precedence.",
)
@_choice("--name", "name")
@_choice("--namespace", "namespace")
@_choice("--namespace-selector", "namespace_selector", default=None, metavar="YAML", callback=label_selector)
@_choice("--object-selector", "object_selector", default=None, metavar="YAML", callback=label_selector)
@_choice("--create-namespace/--no-namespace", "create_namespace")
@_choice("--service-port", "service_port", type=click.IntRange(1, 65535))
@_choice("--image", "image")
@_choice("--replicas", "replicas", type=click.IntRange(1, 100))
@_choice("--required-spread/--wished-spread", "required_spread")
@_choice("--priority-class", "priority_class")
@_choice("--failure-policy", "failure_policy", type=click.Choice(["Fail", "Ignore"]))
@_choice("--mode", "mode", type=click.Choice(["enforce", "warn"]))
@_choice("--job-pods", "job_pods", type=click.IntRange(1, PODS_LIMIT))
@_choice("--policies/--no-policies", "policies")
@_choice("--keep-reviews", "keep_reviews", type=click.IntRange(0, 10_000))
@_choice("--crd/--no-crd", "crds")
@click.option("--without-kind", multiple=True, metavar="PLURAL.GROUP", help="Kind of job to disable; repeatable.")
@MORE_KINDS
@DENY
@click.option("--without-plugin", multiple=True, metavar="NAME", help="Plugin to disable; repeatable.")
@click.option(
    "--rotation",
    type=click.Choice([str(mode) for mode in RotationMode]),
    help="How the certificate is renewed: by a Deployment (watch) or CronJob (cronjob) of jobgate, by cert-manager, or "
    "by you (none), with a Secret and --ca-bundle of your own.  [default: watch; with --ca-bundle, none]",
)
@_choice("--secret-name", "secret")
@click.option("--ca-bundle", type=click.File("rb"), help="CA bundle of the certificate, PEM; requires --rotation none.")
@_choice("--secrets-in", "secrets_in", multiple=True, metavar="NAMESPACE")
@_choice(
    "--queueing",
    "queueing",
    metavar="SYSTEM[=SCHEDULER]",
    callback=checked_queueing,
    help="System that queues pods or starts the pods of a job together: kubernetes, kueue, coscheduling or volcano.",
)
@CLUSTER_DOMAIN
@_choice("--conversion-crd", "conversion_crds", multiple=True, metavar="NAME")
@_choice("--run", "run", multiple=True, metavar="KIND")
@_choice("--ignore-operator", "ignore_operators", multiple=True, metavar="NAMESPACE/NAME")
@_choice("--replace-lost-after", "replace_lost_after", type=click.IntRange(0), metavar="SECONDS")
@click.option(
    "--queues",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML file of queues that jobs wait in which jobgate runs; it becomes a ConfigMap.",
)
@_choice("--elastic-nodes/--no-elastic-nodes", "elastic_nodes")
@_choice("--notify", "notify", metavar="URL")
@_choice("--notify-secret", "notify_secret", metavar="NAME")
@_choice("--di-server/--no-di-server", "di_server")
@_choice("--operator-can", "operator_can", multiple=True, metavar="PLURAL/WORD", callback=capabilities)
@_choice("--forgetful-writer", "forgetful_writers", multiple=True, metavar="SERVICE-ACCOUNT")
@click.option(
    "--kind-settings",
    multiple=True,
    metavar="PLURAL.GROUP=FILE",
    callback=kind_files,
    help="YAML file with settings of a kind, which is added to a ConfigMap; repeatable.",
)
@_choice("--network-policy/--no-network-policy", "network_policy")
@_choice("--api-server-port", "api_server_ports", multiple=True, type=click.IntRange(1, 65535), metavar="PORT")
@_choice("--monitoring/--no-monitoring", "monitoring")
@_choice("--external-name", "external_name", metavar="HOST")
@click.option(
    "--output-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the files of manifests/ to this directory, chart included, and print nothing. With --kinds and --deny.",
)
@click.option("--check", is_flag=True, help="With --output-dir: write nothing, and fail if a file is out of date.")
@click.pass_context
def manifests(  # noqa: PLR0913 - a setting each
    context: click.Context,
    /,
    *,
    file: BinaryIO | None,
    without_kind: tuple[str, ...],
    without_plugin: tuple[str, ...],
    rotation: str | None,
    ca_bundle: BinaryIO | None,
    kind_settings: tuple[KindFile, ...],
    queues: Path | None,
    output_dir: Path | None,
    check: bool,
    **choices: Any,
) -> None:
    """Print all objects of an installation: CRDs, namespace, RBAC, workloads, certificates, webhook configurations."""
    if check and output_dir is None:
        raise click.UsageError("--check requires --output-dir")
    chosen = {name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    if output_dir and (unused := chosen - _OF_FILES):
        flags = ", ".join(option.opts[0] for option in context.command.params if option.name in unused)
        raise click.UsageError(
            f"--output-dir writes a chart and folders for kustomize, which leave {flags} open: set them in the values "
            "of the chart or in your kustomization, or print one installation without --output-dir"
        )
    bundle = _certificates(ca_bundle.read()) if ca_bundle else b""
    # An option with multiple values has no default that `--help` could show.
    choices["api_server_ports"] = choices["api_server_ports"] or values("api_server_ports")
    known = installed()
    for broken in (*known.lacking, *lacking()):
        text = "repair or uninstall it: an installation without it would not review its objects"
        raise BrokenInstallation(f"{broken}: {text}")
    try:
        kinds = Registry(installable((*known, *choices.pop("more_kinds")), choices["deny"]))
        if output_dir is not None:
            _files(kinds, output_dir, check=check)
            return
        fields = {
            **choices,
            "ca_bundle": bundle,
            "rotation": rotation or (RotationMode.NONE if bundle else RotationMode.WATCH),
            "kinds": dict.fromkeys(without_kind, False),
            "plugins": dict.fromkeys(without_plugin, False),
            "kind_settings": _texts(kind_settings),
            "queues": queues_text(queues),
        }
        set_by_option = {_FIELDS.get(name, name) for name in chosen}
        given = {name: value for name, value in installation_fields(file).items() if name not in set_by_option}
        installation = Installation(**{**fields, **given})
        rendered = objects(kinds, installation)
    except ValidationError as error:
        raise click.UsageError(faults_of(error)) from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    click.echo("---\n".join(to_yaml(manifest) for manifest in rendered), nl=False)


def _texts(files: tuple[KindFile, ...]) -> dict[str, str]:
    """Return the contents of the settings files, validated as the server validates them at its start."""
    texts = {}
    for file in files:
        try:
            content = file.content()
            file.parse(content)
            texts[file.plural] = content.decode()
        except InvalidSettings as error:
            raise click.BadParameter(str(error), param_hint="--kind-settings") from None
    return texts


def _certificates(pem: bytes) -> bytes:
    """Validate a CA bundle: the API server would reject it only at the first call."""
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        raise click.BadParameter("contains no PEM certificate", param_hint="--ca-bundle")
    if b"PRIVATE KEY-----" in pem:
        raise click.BadParameter("contains a private key, which must be kept secret", param_hint="--ca-bundle")
    return pem


def _files(kinds: Registry[CustomKind], folder: Path, *, check: bool) -> None:
    files = committed(kinds)
    if not check:
        for path in write(files, folder):
            click.echo(f"wrote {path}", err=True)
        for path in surplus(files, folder):
            path.unlink()
            click.echo(f"removed {path}", err=True)
    elif outdated := [*stale(files, folder), *surplus(files, folder)]:
        names = "".join(f"\n  {path}" for path in outdated)
        raise click.ClickException(f"out of date; run `make crds`:{names}")
