"""`jobgate manifests`: what is installed into a cluster, as YAML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import click

from crdgen import to_yaml
from jobgate.cli.settings import CLUSTER_DOMAIN, checked_queueing
from jobgate.kinds import installed
from jobgate.render import Installation, committed, objects
from jobgate.render.files import stale, write

_DEFAULT = Installation()


@click.command()
@click.option("--namespace", default=_DEFAULT.namespace, show_default=True, help="Where the server runs.")
@click.option(
    "--service-port",
    type=click.IntRange(1, 65535),
    default=_DEFAULT.service_port,
    show_default=True,
    help="The port that the API server calls.",
)
@click.option("--image", default=_DEFAULT.image, show_default=True, help="The server's image.")
@click.option(
    "--replicas", type=click.IntRange(1, 100), default=_DEFAULT.replicas, show_default=True, help="How many servers."
)
@click.option(
    "--secret-name",
    "secret",
    default=_DEFAULT.secret,
    show_default=True,
    help="The Secret of the certificate and its key.",
)
@click.option("--ca-bundle", type=click.File("rb"), help="PEM of who signed the certificate.")
@click.option(
    "--secrets-in",
    multiple=True,
    metavar="NAMESPACE",
    help="A namespace in which the controller may make Secrets, as the plugin ssh needs them.",
)
@click.option(
    "--queueing",
    default="",
    metavar="SYSTEM[=SCHEDULER]",
    callback=checked_queueing,
    help="What queues the pods of jobs whose operator knows no queues: kueue, coscheduling or volcano.",
)
@CLUSTER_DOMAIN
@click.option(
    "--external-name",
    default="",
    metavar="HOST",
    help="A host that runs the server outside the cluster; no Deployment is rendered then.",
)
@click.option(
    "--output-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the files that are kept in version control, with the standard names, and print nothing.",
)
@click.option("--check", is_flag=True, help="With --output-dir: write nothing, fail where a file is not up to date.")
def manifests(  # noqa: PLR0913 - one argument an option
    *,
    namespace: str,
    service_port: int,
    image: str,
    replicas: int,
    secret: str,
    ca_bundle: BinaryIO | None,
    secrets_in: tuple[str, ...],
    queueing: str,
    cluster_domain: str,
    external_name: str,
    output_dir: Path | None,
    check: bool,
) -> None:
    """Print the whole installation: CRDs, namespace, RBAC, Service, Deployment, webhook configurations."""
    if output_dir is not None:
        _files(output_dir, check=check)
        return
    if check:
        raise click.UsageError("--check compares files: name their folder with --output-dir")
    installation = replace(
        _DEFAULT,
        namespace=namespace,
        service_port=service_port,
        image=image,
        replicas=replicas,
        secret=secret,
        ca_bundle=_certificates(ca_bundle.read()) if ca_bundle else b"",
        secrets_in=secrets_in,
        queueing=queueing,
        cluster_domain=cluster_domain,
        external_name=external_name,
    )
    click.echo("---\n".join(to_yaml(one) for one in objects(installed(), installation)), nl=False)


def _certificates(pem: bytes) -> bytes:
    """Return a CA bundle, refused here where the API server would refuse it at the first call only."""
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        raise click.BadParameter("holds no PEM certificate", param_hint="--ca-bundle")
    if b"PRIVATE KEY-----" in pem:
        raise click.BadParameter("holds a private key, which must not leave its owner", param_hint="--ca-bundle")
    return pem


def _files(folder: Path, *, check: bool) -> None:
    files = committed(installed())
    if not check:
        for path in write(files, folder):
            click.echo(f"wrote {path}", err=True)
    elif outdated := stale(files, folder):
        names = "".join(f"\n  {path}" for path in outdated)
        raise click.ClickException(f"not what the code gives; run `make crds`:{names}")
