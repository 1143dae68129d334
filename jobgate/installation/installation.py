"""The settings of an installation: the source of the options of `jobgate manifests` and of the chart's values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

from jobgate import __version__
from jobgate.jobs.context import JOB_PODS
from jobgate.jobs.gangs import PODS_LIMIT
from jobgate.names import DOMAIN
from jobgate.plugins.queueing import QUEUES_PODS, System

#: Labels of all installed objects.
LABELS = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/part-of": "jobgate"}


class RotationMode(StrEnum):
    """How the server's certificate is issued and renewed."""

    WATCH = "watch"
    CRONJOB = "cronjob"
    CERT_MANAGER = "cert-manager"
    NONE = "none"


_LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"

Label = Annotated[str, Field(pattern=_LABEL)]
Subdomain = Annotated[str, Field(pattern=_SUBDOMAIN, max_length=253)]
Port = Annotated[int, Field(ge=1, le=65535)]
Pem = Annotated[bytes, WithJsonSchema({"type": "string"})]


class Installation(BaseModel):
    """The settings of an installation. Kinds and plugins that are not named are enabled.

    Raises:
        pydantic.ValidationError: a value is invalid, or two values conflict.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    namespace: Annotated[Label, Field(description="Namespace of jobgate.")] = "jobgate-system"
    create_namespace: Annotated[
        bool, Field(description="Create the namespace, which enforces the restricted Pod Security level.")
    ] = True
    service: Annotated[
        Label, Field(description="Name of the Service; the certificate is issued for <service>.<namespace>.svc.")
    ] = "jobgate-webhook"
    service_port: Annotated[Port, Field(description="Port of the Service that API servers call.")] = 443
    target_port: Annotated[Port, Field(description="Port that the server listens on.")] = 9443
    health_port: Annotated[Port, Field(description="Port for probes and metrics, over plain HTTP.")] = 8080
    image: Annotated[str, Field(min_length=1, description="Image of all containers.")] = f"jobgate:{__version__}"
    replicas: Annotated[int, Field(ge=1, le=100, description="Number of servers.")] = 2
    required_spread: Annotated[bool, Field(description="Require servers to run on different nodes.")] = False
    priority_class: Annotated[str, Field(description="Priority class of server and rotation pods; empty for none.")] = (
        "system-cluster-critical"
    )
    failure_policy: Annotated[
        Literal["Fail", "Ignore"],
        Field(description="Whether to deny (Fail) or allow (Ignore) jobs and pods while no server is available."),
    ] = "Fail"
    mode: Annotated[Literal["enforce", "warn"], Field(description="Whether to deny invalid jobs, or only to warn.")] = (
        "enforce"
    )
    job_pods: Annotated[int, Field(ge=1, le=PODS_LIMIT, description="Most pods that a job may have in all.")] = JOB_PODS
    crds: Annotated[
        bool, Field(description="Install the CustomResourceDefinitions; disable if another chart does.")
    ] = True
    kinds: Annotated[dict[str, bool], Field(description="Enabled kinds of jobs, by <plural>.<group>.")] = {}
    plugins: Annotated[dict[str, bool], Field(description="Enabled plugins.")] = {}
    rotation: Annotated[
        RotationMode,
        Field(
            description="How the certificate is renewed: by a Deployment (watch) or CronJob (cronjob) of jobgate, by "
            "cert-manager, or by you (none), with a Secret and caBundle of your own."
        ),
    ] = RotationMode.WATCH
    secret: Annotated[Subdomain, Field(description="Name of the Secret with tls.crt and tls.key.")] = (
        "jobgate-webhook-tls"  # noqa: S105  # the name of a Secret
    )
    ca_bundle: Annotated[
        Pem, Field(description="CA bundle of the certificate, PEM; requires rotation none. Empty if it is injected.")
    ] = b""
    secrets_in: Annotated[
        tuple[Label, ...],
        Field(description="Namespaces in which the controller may create Secrets, which the plugin ssh needs."),
    ] = ()
    queueing: Annotated[
        str,
        Field(
            pattern=rf"^(({'|'.join(System)})(=[a-z0-9]([-a-z0-9]{{0,61}}[a-z0-9])?)?)?$",
            description="System that queues pods or starts the pods of a job together: kubernetes, kueue, coscheduling "
            "or volcano, as SYSTEM[=SCHEDULER].",
        ),
    ] = ""
    run: Annotated[tuple[Subdomain, ...], Field(description="Kinds whose jobs jobgate runs, as <plural>.<group>.")] = ()
    ignore_operators: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[-a-z0-9]+/[-.a-z0-9]+$")], ...],
        Field(
            description="Deployments and Leases with an operator's name and rights that do not run these jobs, as "
            "NAMESPACE/NAME."
        ),
    ] = ()
    queues: Annotated[str, Field(description="Queues of the jobs that jobgate runs: YAML text, see --queues.")] = ""
    cluster_domain: Annotated[Subdomain, Field(description="DNS domain of the cluster's Services.")] = DOMAIN
    conversion_crds: Annotated[
        tuple[Subdomain, ...],
        Field(description="CRDs whose conversion webhook is this server: the rotation also maintains their bundles."),
    ] = ()
    operator_can: Annotated[
        tuple[str, ...],
        Field(description="Capabilities of operators beyond their profiles, for example dijobs/preemptible."),
    ] = ()
    forgetful_writers: Annotated[
        tuple[Annotated[str, Field(pattern=r"^system:serviceaccount:[-a-z0-9]+:[-.a-z0-9]+$")], ...],
        Field(
            description="Service accounts whose updates erase fields that they do not know, which are then restored. "
            "With none, DI-orchestrator's: system:serviceaccount:di-system:di-orchestrator."
        ),
    ] = ()
    kind_settings: Annotated[
        dict[str, str], Field(description="Settings of kinds: YAML text by <plural>.<group>.")
    ] = {}
    network_policy: Annotated[bool, Field(description="Create NetworkPolicies for the pods of jobgate.")] = False
    api_server_ports: Annotated[
        tuple[Port, ...], Field(min_length=1, description="Ports of API servers that NetworkPolicies allow.")
    ] = (443, 6443)
    monitoring: Annotated[
        bool,
        Field(
            description="Create a ServiceMonitor, alerts and a dashboard; requires the CRDs of the Prometheus operator."
        ),
    ] = False
    external_name: Annotated[
        str, Field(description="Host outside the cluster that runs the server; if set, no workloads are created.")
    ] = ""

    @model_validator(mode="after")
    def _bundle_has_one_owner(self) -> Self:
        """A rendered bundle would overwrite an injected one at each apply."""
        if self.ca_bundle and self.rotation is not RotationMode.NONE and not self.external_name:
            raise ValueError(f"caBundle requires rotation none: with rotation {self.rotation}, the bundle is injected")
        return self

    @model_validator(mode="after")
    def _pods_have_one_queue(self) -> Self:
        """If Kueue or Volcano queue pods, our queues would queue the same jobs again."""
        system = self.queueing.partition("=")[0]
        if self.queues and system in set(QUEUES_PODS):
            raise ValueError(f"queues may not be set with queueing {system}, which queues the pods of jobs")
        return self

    def on(self, choice: str, name: str) -> bool:
        """Return whether a kind or plugin is enabled; `choice` is `kinds` or `plugins`."""
        names: dict[str, bool] = getattr(self, choice)
        return names.get(name, True)


def values(field: str) -> Any:
    """Return the default of a field."""
    return Installation.model_fields[field].get_default(call_default_factory=True)
