"""`jobgate certs`: certificates for the webhook server."""

import os
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from jobgate.cli.cluster import grouped
from jobgate.cli.rotation import ISSUING, rotate, server_names, status, watch

if TYPE_CHECKING:
    from certs import Generation, ServerNames

# Modes of the files, in the order in which they are written: a process that waits for tls.crt finds the others.
_FILE_MODES = {"ca.crt": 0o644, "tls.key": 0o600, "tls.crt": 0o644}


@click.group(name="certs")
def certs_group() -> None:
    """Issue and rotate the certificates of the webhook server."""


for _command in (rotate, watch, status):
    certs_group.add_command(_command)


def _names(*, service: str, namespace: str, cluster_domain: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {"namespace": namespace, "named": server_names(service, namespace, cluster_domain, names)}


@certs_group.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write ca.crt, tls.crt and tls.key to this directory, which is created if missing.",
)
@click.option("--secret", is_flag=True, help="Print a Kubernetes Secret, including the key, instead of writing files.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@grouped(_names, *ISSUING)
def issue(
    *,
    folder: Path | None,
    secret: bool,
    secret_name: str,
    force: bool,
    namespace: str,
    named: "ServerNames",
    key_type: str,
    days: int,
) -> None:
    """Issue a server certificate, signed by a new CA.

    The CA's private key is discarded, so it cannot be stolen. Each renewal therefore uses a new CA: distribute the new
    ca.crt to all clients that trusted the old one.
    """
    if (folder is None) is not secret:
        raise click.UsageError("exactly one of --dir DIR (write files) and --secret (print a Secret) is required")
    # Imported here: the other commands work without cryptography.
    from certs import KeyType, issue_generation

    generation = issue_generation(named, datetime.now(UTC), key_type=KeyType(key_type), lifetime=timedelta(days=days))
    files = {"ca.crt": generation.ca_certificate, "tls.crt": generation.certificate, "tls.key": generation.key}
    if folder is None:
        click.echo(_secret_yaml(secret_name, namespace, files), nl=False)
        lines = [f"Secret {namespace}/{secret_name} printed.", *_facts(generation, named), *_NEXT_WITH_SECRET]
    else:
        _write_files(folder, files, force=force)
        lines = [f"Wrote ca.crt, tls.crt and tls.key to {folder}.", *_facts(generation, named), *_next(folder)]
    # Standard output is reserved for the Secret, so that it can be piped.
    click.echo("\n".join(lines), err=secret)


def _write_files(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write all files, each atomically and with its mode from the start."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # lexists: a dangling link must not be overwritten either.
        if not force and (existing := [name for name in _FILE_MODES if os.path.lexists(folder / name)]):
            raise click.ClickException(
                f"{folder} already contains {', '.join(existing)}: choose another --dir, or overwrite with --force"
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
    # One line per value, as kubectl prints it.
    return yaml.safe_dump(secret, sort_keys=False, width=1_000_000)


def _facts(generation: "Generation", names: "ServerNames") -> list[str]:
    return [
        f"Valid until {generation.validity.not_after:%Y-%m-%d %H:%M} UTC, for:",
        *(f"  {name}" for name in (*names.dns_names, *names.ip_addresses)),
    ]


_NEXT_WITH_SECRET = (
    "Next: pipe the Secret into `kubectl apply -f -`,",
    "and pass its decoded ca.crt to `jobgate manifests --ca-bundle FILE`.",
)


def _next(folder: Path) -> list[str]:
    return [
        f"Next: jobgate serve --tls-cert {folder / 'tls.crt'} --tls-key {folder / 'tls.key'}",
        f"and jobgate manifests --ca-bundle {folder / 'ca.crt'}, so that API servers trust it.",
    ]
