"""`jobgate certs`: certificates for the webhook server."""

import os
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from jobgate.cli.rotation import rotate, status, watch

if TYPE_CHECKING:
    from certs import Generation, ServerNames

# Modes of the files by name, in the order in which they are put in place: who waits for tls.crt finds the others there.
_FILE_MODES = {"ca.crt": 0o644, "tls.key": 0o600, "tls.crt": 0o644}

# Longer than any certificate should hold; a typing error beyond.
_MOST_DAYS = 3650


@click.group(name="certs")
def certs_group() -> None:
    """Issue the certificates of the webhook server, and rotate them."""


for _command in (rotate, watch, status):
    certs_group.add_command(_command)


@certs_group.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write ca.crt, tls.crt and tls.key into this folder; it is made where it is missing.",
)
@click.option("--secret", is_flag=True, help="Print a Kubernetes Secret, key included, instead of writing files.")
@click.option("--secret-name", default="jobgate-webhook-tls", show_default=True, help="Name of that Secret.")
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("--service", default="jobgate-webhook", show_default=True, help="Service that the API server calls.")
@click.option("--namespace", default="jobgate-system", show_default=True, help="Namespace of the Service.")
@click.option(
    "--cluster-domain", default="svc.cluster.local", show_default=True, help="The domain of the cluster's Services."
)
@click.option("--dns-name", "dns_names", multiple=True, metavar="NAME", help="A further DNS name; may be repeated.")
@click.option("--ip-address", "ip_addresses", multiple=True, metavar="IP", help="An IP address; may be repeated.")
@click.option(
    "--key-type",
    type=click.Choice(["p256", "p384", "rsa3072"]),
    default="p256",
    show_default=True,
    help="Kind of key, for CA and server.",
)
@click.option(
    "--days",
    type=click.IntRange(1, _MOST_DAYS),
    default=90,
    show_default=True,
    help="How long the certificates hold.",
)
def issue(  # noqa: PLR0913 - one argument an option
    *,
    folder: Path | None,
    secret: bool,
    secret_name: str,
    force: bool,
    service: str,
    namespace: str,
    cluster_domain: str,
    dns_names: tuple[str, ...],
    ip_addresses: tuple[str, ...],
    key_type: str,
    days: int,
) -> None:
    """Make a new CA and a server certificate of it.

    The CA's key is thrown away at once: it can sign nothing more, and nobody can steal it. So a renewal is a new CA,
    and whoever trusted the old one must be given the new ca.crt.
    """
    if (folder is None) is not secret:
        raise click.UsageError("give either --dir DIR, to write files, or --secret, to print a Kubernetes Secret")
    generation, names = _issue(
        service, namespace, cluster_domain, dns_names, ip_addresses, key_type=key_type, lifetime=timedelta(days=days)
    )
    files = {"ca.crt": generation.ca_certificate, "tls.crt": generation.certificate, "tls.key": generation.key}
    if folder is None:
        click.echo(_secret_yaml(secret_name, namespace, files), nl=False)
        lines = [f"Secret {namespace}/{secret_name} printed.", *_facts(generation, names), *_NEXT_WITH_SECRET]
    else:
        _write_files(folder, files, force=force)
        lines = [f"Wrote ca.crt, tls.crt and tls.key into {folder}.", *_facts(generation, names), *_next(folder)]
    # Standard output is the Secret's, so that it can be piped; what is said about it goes beside.
    click.echo("\n".join(lines), err=secret)


def _issue(
    service: str,
    namespace: str,
    cluster_domain: str,
    dns_names: tuple[str, ...],
    ip_addresses: tuple[str, ...],
    *,
    key_type: str,
    lifetime: timedelta,
) -> tuple["Generation", "ServerNames"]:
    # Here and not above: the other commands work where cryptography is not installed.
    from certs import InvalidNames, KeyType, issue_generation, service_names

    try:
        names = service_names(
            service, namespace, cluster_domain=cluster_domain, dns_names=dns_names, ip_addresses=ip_addresses
        )
    except InvalidNames as invalid:
        raise click.UsageError("\n".join(invalid.faults)) from invalid
    return issue_generation(names, datetime.now(UTC), key_type=KeyType(key_type), lifetime=lifetime), names


def _write_files(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Put all files in place, each whole and with its mode from the start; where one cannot be, the reason is told."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # lexists: a dangling link is somebody's too.
        if not force and (there := [name for name in _FILE_MODES if os.path.lexists(folder / name)]):
            raise click.ClickException(
                f"{folder} has {', '.join(there)} already: choose another --dir, or overwrite with --force"
            )
        with tempfile.TemporaryDirectory(prefix=".jobgate-", dir=folder) as scratch:
            for name, mode in _FILE_MODES.items():
                descriptor = os.open(Path(scratch, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(files[name])
            for name in _FILE_MODES:
                Path(scratch, name).replace(folder / name)
    except OSError as error:
        raise click.ClickException(f"cannot write into {folder}: {error.strerror}") from error


def _secret_yaml(name: str, namespace: str, files: Mapping[str, bytes]) -> str:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": "kubernetes.io/tls",
        "data": {file: b64encode(content).decode("ascii") for file, content in files.items()},
    }
    # One line a value, as kubectl prints it.
    return yaml.safe_dump(secret, sort_keys=False, width=1_000_000)


def _facts(generation: "Generation", names: "ServerNames") -> list[str]:
    return [
        f"Valid until {generation.validity.not_after:%Y-%m-%d %H:%M} UTC, for:",
        *(f"  {name}" for name in (*names.dns_names, *names.ip_addresses)),
    ]


_NEXT_WITH_SECRET = (
    "Next: pipe it into `kubectl apply -f -`,",
    "and give its ca.crt, decoded, to `jobgate manifests --ca-bundle FILE`.",
)


def _next(folder: Path) -> list[str]:
    return [
        f"Next: jobgate serve --tls-cert {folder / 'tls.crt'} --tls-key {folder / 'tls.key'}",
        f"and jobgate manifests --ca-bundle {folder / 'ca.crt'}, for what tells the API server of it.",
    ]
