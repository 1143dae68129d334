"""The objects that are installed into a cluster, for the kinds of a registry.

- `installation`: the settings of an installation
- `tree`, `choices`: objects with open settings; `objects` resolves them in order, `template` writes them for Helm
- `definitions`: the CustomResourceDefinitions
- `configurations`: the webhook configurations
- `workload`, `controller`, `runner`, `certificates`: server, companion controller, runner, certificate rotation
- `roles`, `rbac`, `console`, `policies`: permissions and admission policies
- `pods`, `network`: parts that all pods have in common
- `monitoring`, `dashboard.json`, `alerts.yaml`: monitoring
- `kustomize`, `chart`, `files`: the files of `manifests/`
- `handbook`: the reference page of a kind
"""

from jobgate.installation.files import committed
from jobgate.installation.installation import Installation
from jobgate.installation.objects import objects

__all__ = ["Installation", "committed", "objects"]
