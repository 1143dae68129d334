"""A whole control plane: with controllers, a scheduler, and nodes with simulated pods."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from controlplane.assets import WholeAssets
from controlplane.client import ClusterApi
from controlplane.credentials import write_private
from controlplane.folder import LockedFolder
from controlplane.nodes import CAPACITY, is_open, node
from controlplane.plane import ControlPlane, ControlPlaneError
from controlplane.programs import (
    kube_controller_manager_program,
    kube_scheduler_program,
    kwok_program,
    scheduler_configuration,
)

_NODES = "/api/v1/nodes"


class WholeControlPlane(ControlPlane):
    """A `ControlPlane` that also runs kube-controller-manager, kube-scheduler and kwok. Use it in a `with`.

    Deployments and Jobs create pods, which are scheduled and run (simulated: no container starts). Services get
    EndpointSlices, dependents are garbage-collected, deleted namespaces go away, and pods have ServiceAccounts.
    Annotations of a pod say how it ends (`simulation.py`).
    """

    assets: WholeAssets

    # The controllers create the ServiceAccount `default`, and pods get its token.
    _apiserver_flags: ClassVar[Sequence[str]] = ()

    def __init__(
        self,
        assets: WholeAssets,
        apiserver_flags: Sequence[str] = (),
        nodes: int = 2,
        scheduler_flags: Sequence[str] = (),
        manager_flags: Sequence[str] = (),
    ) -> None:
        """`nodes` is the number of nodes at the start, with the default capacity."""
        super().__init__(assets, apiserver_flags)
        self._nodes = nodes
        self._scheduler_flags = scheduler_flags
        self._manager_flags = manager_flags

    def add_nodes(
        self, *names: str, capacity: Mapping[str, str] = CAPACITY, labels: Mapping[str, str] | None = None
    ) -> None:
        """Add nodes, and return when they accept pods."""
        with self.api() as api:
            for name in names:
                status, answer = api.post(_NODES, node(name, capacity, labels))
                if status != 201:
                    raise ControlPlaneError(f"node {name}: {answer.get('message', answer)}")
        self._await(lambda api: all(is_open(api.get(f"{_NODES}/{name}")[1]) for name in names), "the nodes take pods")

    def _bring_up(self, locked: LockedFolder) -> None:
        super()._bring_up(locked)
        manager, scheduler = (
            self.kubeconfig_for(f"system:{name}") for name in ("kube-controller-manager", "kube-scheduler")
        )
        configuration = write_private(self.folder / "scheduler.json", scheduler_configuration(scheduler))
        self._keep(
            kube_controller_manager_program(
                self.assets.kube_controller_manager, self.folder, manager, self._manager_flags
            ),
            kube_scheduler_program(self.assets.kube_scheduler, configuration, self._scheduler_flags),
            # With the administrator's rights: no test needs the rights of kubelets.
            kwok_program(self.assets.kwok, self.folder, self.kubeconfig),
        )
        self.add_nodes(*(f"node-{number}" for number in range(self._nodes)))
        self._await(lambda api: has_account(api, "default"), "pods have an account")


def has_account(api: ClusterApi, namespace: str) -> bool:
    """Whether the namespace is ready for pods: the controllers have created its ServiceAccount `default`."""
    return api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")[0] == 200
