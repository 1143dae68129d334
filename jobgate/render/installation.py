"""The names and choices of one installation: the source of the command's options and of the chart's values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

from jobgate import __version__
from webhook.context import DOMAIN

#: Labels of all that we install.
LABELS = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/part-of": "jobgate"}


class Rotation(StrEnum):
    """Who issues the server's certificate and renews it."""

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
    """Where and how jobgate is installed. A kind or plugin that is not named is on.

    Raises:
        pydantic.ValidationError: a choice is none, or two exclude each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    namespace: Annotated[Label, Field(description="Where jobgate runs.")] = "jobgate-system"
    create_namespace: Annotated[bool, Field(description="Make the namespace, held to restricted Pod Security.")] = True
    service: Annotated[Label, Field(description="The Service; the certificate is for <service>.<namespace>.svc.")] = (
        "jobgate-webhook"
    )
    service_port: Annotated[Port, Field(description="The port that the API server calls.")] = 443
    target_port: Annotated[Port, Field(description="The port that the server listens on.")] = 9443
    health_port: Annotated[Port, Field(description="The plain port of probes and metrics.")] = 8080
    image: Annotated[str, Field(min_length=1, description="The image of all containers.")] = f"jobgate:{__version__}"
    replicas: Annotated[int, Field(ge=1, le=100, description="How many servers.")] = 2
    required_spread: Annotated[bool, Field(description="Leave a server unscheduled rather than two on one node.")] = (
        False
    )
    priority_class: Annotated[str, Field(description="Of the server's and the rotation's pods; empty for none.")] = (
        "system-cluster-critical"
    )
    failure_policy: Annotated[
        Literal["Fail", "Ignore"], Field(description="What becomes of jobs and their pods while no server answers.")
    ] = "Fail"
    mode: Annotated[
        Literal["enforce", "warn"], Field(description="Whether what is wrong is refused, or only told as a warning.")
    ] = "enforce"
    crds: Annotated[bool, Field(description="Install the CustomResourceDefinitions; not where another chart does.")] = (
        True
    )
    kinds: Annotated[dict[str, bool], Field(description="Which kinds of job are handled, as <plural>.<group>.")] = {}
    plugins: Annotated[dict[str, bool], Field(description="Which plugins jobs can ask for.")] = {}
    rotation: Annotated[
        Rotation,
        Field(
            description="Who renews the certificate: our own Deployment (watch) or CronJob (cronjob), cert-manager, or "
            "somebody else (none), who keeps the Secret and gives caBundle."
        ),
    ] = Rotation.WATCH
    secret: Annotated[Subdomain, Field(description="The Secret with tls.crt and tls.key.")] = "jobgate-webhook-tls"  # noqa: S105  # the name of a Secret
    ca_bundle: Annotated[
        Pem, Field(description="PEM of who signed the certificate, with rotation none; empty where it is injected.")
    ] = b""
    secrets_in: Annotated[
        tuple[Label, ...], Field(description="Namespaces in which the controller may make Secrets, as ssh needs them.")
    ] = ()
    queueing: Annotated[
        str,
        Field(
            pattern=r"^((kueue|coscheduling|volcano)(=[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?)?$",
            description="What queues the pods of jobs whose operator knows no queues: SYSTEM[=SCHEDULER].",
        ),
    ] = ""
    run: Annotated[
        tuple[Subdomain, ...], Field(description="Kinds whose jobs jobgate itself runs, as <plural>.<group>.")
    ] = ()
    gangs: Annotated[
        bool, Field(description="Start the pods of a job together: needs Kubernetes' own PodGroups, 1.36 or newer.")
    ] = False
    cluster_domain: Annotated[Subdomain, Field(description="The domain of the cluster's Services.")] = DOMAIN
    conversion_crds: Annotated[
        tuple[Subdomain, ...],
        Field(description="CRDs whose conversion webhook our Service answers: the rotation keeps their bundles too."),
    ] = ()
    operator_can: Annotated[
        tuple[str, ...], Field(description="What operators can do beyond their profile, as dijobs/preemptible.")
    ] = ()
    forgetful_writers: Annotated[
        tuple[Annotated[str, Field(pattern=r"^system:serviceaccount:[-a-z0-9]+:[-.a-z0-9]+$")], ...],
        Field(
            description="Service accounts whose full updates erase fields that they do not know: these are put back. "
            "With none, DI-orchestrator's: system:serviceaccount:di-system:di-orchestrator."
        ),
    ] = ()
    kind_settings: Annotated[
        dict[str, str], Field(description="What the installation says of one kind: YAML text by <plural>.<group>.")
    ] = {}
    network_policy: Annotated[bool, Field(description="NetworkPolicies for our pods.")] = False
    api_server_ports: Annotated[
        tuple[Port, ...], Field(min_length=1, description="Ports of the API server that our pods may reach.")
    ] = (443, 6443)
    monitoring: Annotated[
        bool, Field(description="ServiceMonitor, alerts and a dashboard; needs the Prometheus operator's CRDs.")
    ] = False
    external_name: Annotated[
        str, Field(description="A host outside the cluster that runs the server; nothing runs in it then.")
    ] = ""

    @model_validator(mode="after")
    def _bundle_has_one_owner(self) -> Self:
        """Where something injects the bundle, one that is rendered too would put it back at each apply."""
        if self.ca_bundle and self.rotation is not Rotation.NONE and not self.external_name:
            raise ValueError(
                f"caBundle is given, and with rotation {self.rotation} it is injected: give rotation none, or no bundle"
            )
        return self

    def on(self, choice: str, name: str) -> bool:
        """Tell whether a kind or plugin is on; `choice` is `kinds` or `plugins`."""
        names: dict[str, bool] = getattr(self, choice)
        return names.get(name, True)


def values(field: str) -> Any:
    """Return a field's default.

    Raises:
        KeyError: there is no such field.
    """
    return Installation.model_fields[field].get_default(call_default_factory=True)
