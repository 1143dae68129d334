"""The settings of an installation: the source of the options of `jobgate manifests` and of the chart's values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from crdgen.dns import LABEL_1123, LABEL_LENGTH, SUBDOMAIN_1123, SUBDOMAIN_LENGTH
from jobgate import __version__
from jobgate.jobs.runner import REPLACE_LOST_AFTER
from jobgate.limits import JOB_PODS, LIMITS, PODS_LIMIT, Limit
from jobgate.names import DOMAIN, HTTP_ADDRESS
from jobgate.plugins.queueing import QUEUES_PODS, System
from jobgate.selectors import LabelSelector, Selector

#: Labels of all installed objects.
LABELS = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/part-of": "jobgate"}


class RotationMode(StrEnum):
    """How the server's certificate is issued and renewed."""

    WATCH = "watch"
    CRONJOB = "cronjob"
    CERT_MANAGER = "cert-manager"
    NONE = "none"


#: User and group: `nonroot` of distroless images.
USER = 65532

#: Security contexts that comply with the restricted Pod Security level.
POD_SECURITY: dict[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}

Component = Literal["webhook", "controller", "runner", "certificates"]

#: Resources by component. The CPU is not limited: a throttled server makes everyone wait. An empty memory limit follows
#: the bounds of the server.
RESOURCES: dict[Component, dict[str, dict[str, str | int | float]]] = {
    "webhook": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": ""}},
    "controller": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
    "runner": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
    "certificates": {"requests": {"cpu": "20m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
}

Label = Annotated[str, Field(pattern=f"^{LABEL_1123}$", max_length=LABEL_LENGTH)]
Subdomain = Annotated[str, Field(pattern=f"^{SUBDOMAIN_1123}$", max_length=SUBDOMAIN_LENGTH)]
Port = Annotated[int, Field(ge=1, le=65535)]
Pem = Annotated[bytes, WithJsonSchema({"type": "string"})]


class Installation(BaseModel):
    """The settings of an installation. Kinds and plugins that are not named are enabled.

    Raises:
        pydantic.ValidationError: a value is invalid, or two values conflict.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    name: Label = Field(
        "jobgate", description="Name of the installation, with which the names of its cluster-wide objects begin."
    )
    namespace: Label = Field("jobgate-system", description="Namespace of jobgate.")
    namespace_selector: Selector = Field(
        LabelSelector(),
        description="Label selector of the served namespaces, which system namespaces never are.",
    )
    object_selector: Selector = Field(
        LabelSelector(), description="Label selector of the jobs that are reviewed. Their pods are served in any case."
    )
    create_namespace: bool = Field(
        True, description="Create the namespace, which enforces the restricted Pod Security level."
    )
    service: Label = Field(
        "jobgate-webhook", description="Name of the Service; the certificate is issued for <service>.<namespace>.svc."
    )
    service_port: Port = Field(443, description="Port of the Service that API servers call.")
    target_port: Port = Field(9443, description="Port that the server listens on.")
    health_port: Port = Field(8080, description="Port for probes and metrics, over plain HTTP.")
    image: str = Field(f"jobgate:{__version__}", min_length=1, description="Image of all containers.")
    replicas: int = Field(2, ge=1, le=100, description="Number of servers.")
    limits: dict[Limit, Annotated[int, Field(ge=1)]] = Field(
        dict(LIMITS),
        description="Limits of each server that its memory depends on, see serve --limit; others: extraArgs.",
    )
    required_spread: bool = Field(False, description="Require servers to run on different nodes.")
    priority_class: str = Field(
        "system-cluster-critical", description="Priority class of server and rotation pods; empty for none."
    )
    resources: dict[Component, dict[str, dict[str, str | int | float]]] = Field(
        RESOURCES,
        description="Resources of the containers, by component. An empty memory limit of the server follows limits "
        "and keepReviews, and is 512 MiB by default.",
    )
    node_selector: dict[str, str] = Field({}, description="Labels of the nodes for all pods.")
    tolerations: tuple[dict[str, Any], ...] = Field((), description="Tolerations of all pods.")
    affinity: dict[str, Any] = Field({}, description="Affinity of all pods.")
    topology_spread: tuple[dict[str, Any], ...] = Field(
        (), description="Topology spread constraints of all pods, in addition to those of each component."
    )
    image_pull_policy: Literal["", "Always", "IfNotPresent", "Never"] = Field(
        "", description="When the image is pulled; empty for the default of Kubernetes."
    )
    image_pull_secrets: tuple[Subdomain, ...] = Field((), description="Names of the Secrets for the image's registry.")
    pod_labels: dict[str, str] = Field({}, description="Labels of all pods, in addition to those of jobgate.")
    pod_annotations: dict[str, str] = Field({}, description="Annotations of all pods.")
    pod_security_context: dict[str, Any] = Field(
        POD_SECURITY, description="Security context of all pods; null removes a field, as OpenShift needs for users."
    )
    security_context: dict[str, Any] = Field(CONTAINER_SECURITY, description="Security context of all containers.")
    extra_args: dict[Component, tuple[str, ...]] = Field(
        dict.fromkeys(RESOURCES, ()),
        description="Further arguments of the containers, by component: see --help of jobgate serve, control, run, "
        "certs watch and certs rotate.",
    )
    extra_env: dict[Component, tuple[dict[str, Any], ...]] = Field(
        dict.fromkeys(RESOURCES, ()), description="Environment variables of the containers, by component."
    )
    disruption_budgets: bool = Field(True, description="Create PodDisruptionBudgets.")
    timeout_seconds: int = Field(5, ge=1, le=30, description="Seconds that API servers wait for the server.")
    failure_policies: dict[str, Literal["Fail", "Ignore"]] = Field(
        {}, description="Failure policies of single kinds, by <plural>.<group>; for others, see failurePolicy."
    )
    failure_policy: Literal["Fail", "Ignore"] = Field(
        "Fail", description="Whether to deny (Fail) or allow (Ignore) jobs and pods while no server is available."
    )
    mode: Literal["enforce", "warn"] = Field("enforce", description="Whether to deny invalid jobs, or only to warn.")
    job_pods: int = Field(JOB_PODS, ge=1, le=PODS_LIMIT, description="Most pods that a job may have in all.")
    policies: bool = Field(
        False,
        description="Set defaults by MutatingAdmissionPolicy, and where the failure policy is Ignore, check rules by "
        "ValidatingAdmissionPolicy, as far as CEL can say them; requires Kubernetes 1.36.",
    )
    keep_reviews: int = Field(
        0, ge=0, le=10_000, description="Number of last reviews that each server keeps for jobgate console; 0 for none."
    )
    crds: bool = Field(True, description="Install the CustomResourceDefinitions; disable if another chart does.")
    kinds: dict[str, bool] = Field({}, description="Enabled kinds of jobs, by <plural>.<group>.")
    deny: tuple[Subdomain, ...] = Field(
        (),
        description="Configured kinds whose faulty objects are denied, as <plural>.<group>; of others, faults are only "
        "warnings.",
    )
    plugins: dict[str, bool] = Field({}, description="Enabled plugins.")
    rotation: RotationMode = Field(
        RotationMode.WATCH,
        description="How the certificate is renewed: by a Deployment (watch) or CronJob (cronjob) of jobgate, by "
        "cert-manager, or by you (none), with a Secret and caBundle of your own.",
    )
    secret: Subdomain = Field("jobgate-webhook-tls", description="Name of the Secret with tls.crt and tls.key.")
    ca_bundle: Pem = Field(
        b"", description="CA bundle of the certificate, PEM; requires rotation none. Empty if it is injected."
    )
    secrets_in: tuple[Label, ...] = Field(
        (), description="Namespaces in which the controller may create Secrets, which the plugin ssh needs."
    )
    queueing: str = Field(
        "",
        pattern=f"^(({'|'.join(System)})(={LABEL_1123})?)?$",
        description="System that queues pods or starts the pods of a job together: kubernetes, kueue, coscheduling "
        "or volcano, as SYSTEM[=SCHEDULER].",
    )
    run: tuple[Subdomain, ...] = Field((), description="Kinds whose jobs jobgate runs, as <plural>.<group>.")
    ignore_operators: tuple[Annotated[str, Field(pattern=r"^[-a-z0-9]+/[-.a-z0-9]+$")], ...] = Field(
        (),
        description="Deployments and Leases with an operator's name and rights that do not run these jobs, as "
        "NAMESPACE/NAME.",
    )
    replace_lost_after: int = Field(
        REPLACE_LOST_AFTER,
        ge=0,
        description="Seconds after its grace period when a deleted pod is replaced whose node does not answer; 0 for "
        "never. Pods with a volume that their replacement can write to are replaced only when deleted by force.",
    )
    queues: str = Field("", description="Queues of the jobs that jobgate runs: YAML text, see --queues.")
    elastic_nodes: bool = Field(
        False, description="Whether elastic jobs follow the room of nodes, see --elastic-nodes; needs queues."
    )
    notify: str = Field("", pattern=rf"{HTTP_ADDRESS}|^$", description="Address that the end of jobs is reported to.")
    notify_secret: str = Field(
        "", pattern=f"^({SUBDOMAIN_1123})?$", description="Secret whose key `secret` signs these reports, if any."
    )
    di_server: bool = Field(
        False, description="Run the server by which DIJobs ask for replicas; needs the Secret jobgate-di-server-tls."
    )
    cluster_domain: Subdomain = Field(DOMAIN, description="DNS domain of the cluster's Services.")
    conversion_crds: tuple[Subdomain, ...] = Field(
        (), description="CRDs whose conversion webhook is this server: the rotation also maintains their bundles."
    )
    operator_can: tuple[str, ...] = Field(
        (), description="Capabilities of operators beyond their profiles, for example dijobs/preemptible."
    )
    forgetful_writers: tuple[Annotated[str, Field(pattern=r"^system:serviceaccount:[-a-z0-9]+:[-.a-z0-9]+$")], ...] = (
        Field(
            (),
            description="Service accounts whose updates erase fields that they do not know, which are then restored. "
            "With none, DI-orchestrator's: system:serviceaccount:di-system:di-orchestrator.",
        )
    )
    kind_settings: dict[str, str] = Field({}, description="Settings of kinds: YAML text by <plural>.<group>.")
    network_policy: bool = Field(False, description="Create NetworkPolicies for the pods of jobgate.")
    api_server_ports: tuple[Port, ...] = Field(
        (443, 6443), min_length=1, description="Ports of API servers that NetworkPolicies allow."
    )
    monitoring: bool = Field(
        False,
        description="Create a ServiceMonitor, alerts and a dashboard; requires the CRDs of the Prometheus operator.",
    )
    monitor_labels: dict[str, str] = Field(
        {}, description="Further labels of ServiceMonitor and alerts, by which a Prometheus selects them."
    )
    external_name: str = Field(
        "", description="Host outside the cluster that runs the server; if set, no workloads are created."
    )

    @field_validator("limits", "resources", "pod_security_context", "security_context", mode="before")
    @classmethod
    def _merged(cls, given: Any, info: ValidationInfo) -> Any:
        """Merge a value with the default, as Helm merges values: null removes a field."""
        return merged(values(info.field_name or ""), given)

    @model_validator(mode="after")
    def _bundle_has_one_owner(self) -> Self:
        """A rendered bundle would overwrite an injected one at each apply."""
        if self.ca_bundle and self.rotation is not RotationMode.NONE and not self.external_name:
            raise ValueError(f"caBundle requires rotation none: with rotation {self.rotation}, the bundle is injected")
        return self

    @model_validator(mode="after")
    def _stands_alone(self) -> Self:
        """Names of objects in the namespace of an installation do not have its name."""
        if self.name != values("name") and self.namespace == values("namespace"):
            raise ValueError(f"installation {self.name} needs a namespace of its own, for example {self.name}-system")
        if self.object_selector and self.run:
            raise ValueError(
                "objectSelector may not be set with run: labels of jobs may change while they run; use "
                "namespaceSelector"
            )
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


def merged(default: Any, given: Any) -> Any:
    """Return a default with the fields of a given value, as Helm merges values: null removes a field."""
    if not isinstance(default, Mapping) or not isinstance(given, Mapping):
        return given
    both = {key: merged(default.get(key), given[key]) if key in given else default[key] for key in {**default, **given}}
    return {key: value for key, value in both.items() if value is not None}


def values(field: str) -> Any:
    """Return the default of a field."""
    return Installation.model_fields[field].get_default(call_default_factory=True)
