"""The names and choices of one installation."""

from __future__ import annotations

from dataclasses import dataclass

from jobgate import __version__
from webhook.context import DOMAIN

#: Labels of all that we install.
LABELS = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/part-of": "jobgate"}

#: Namespaces that no entry ever watches: the cluster must be able to mend itself without us.
SYSTEM_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease")

#: A namespace with this label set to `disabled` is left alone.
OPT_OUT_LABEL = "jobgate.dev/admission"


@dataclass(frozen=True, kw_only=True)
class Installation:
    """Where and how jobgate is installed.

    Attributes:
        namespace: where the server runs.
        service: the name of its Service; the certificate is for `<service>.<namespace>.svc`.
        service_port: the port that the API server calls.
        target_port: the port that the server listens on.
        health_port: the plain port of probes and metrics.
        image: of the server's container.
        replicas: how many servers.
        secret: the Secret with `tls.crt` and `tls.key`.
        ca_bundle: PEM of who signed the certificate; empty where something else injects it.
        secrets_in: the namespaces in which the controller may make Secrets.
        queueing: what queues the pods of jobs whose operator knows no queues, as `jobgate serve --queueing` takes it.
        cluster_domain: the domain of the cluster's Services, where it is another than Kubernetes' own.
        external_name: a host outside the cluster that runs the server; then there is no Deployment.
    """

    namespace: str = "jobgate-system"
    service: str = "jobgate-webhook"
    service_port: int = 443
    target_port: int = 9443
    health_port: int = 8080
    image: str = f"jobgate:{__version__}"
    replicas: int = 2
    secret: str = "jobgate-webhook-tls"  # noqa: S105  # the name of a Secret
    ca_bundle: bytes = b""
    secrets_in: tuple[str, ...] = ()
    queueing: str = ""
    cluster_domain: str = DOMAIN
    external_name: str = ""

    @property
    def told(self) -> list[str]:
        """The flags that the server and the controller have in common: both must wire pods alike."""
        domain = [] if self.cluster_domain == DOMAIN else [f"--cluster-domain={self.cluster_domain}"]
        return domain + ([f"--queueing={self.queueing}"] if self.queueing else [])
