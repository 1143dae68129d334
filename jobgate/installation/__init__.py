"""What is installed into a cluster, rendered from the registry of kinds.

- `installation`: the names and choices of one installation, with what is allowed
- `tree`, `choices`: what is rendered, with these choices still open; `objects` closes them, `template` writes Helm's
- `objects`: all of it, in order
- `definitions`: the CustomResourceDefinitions
- `configurations`: the webhook configurations, an entry for each kind
- `workload`: namespace, Service, Deployment of the server
- `controller`: the companion controller, its Deployment and its rights
- `certificates`: who renews the certificate
- `roles`, `rbac`: who may do what
- `hardening`, `network`: what all pods have in common, and who reaches them
- `monitoring`, `alerts`, `dashboard`: what is watched of it
- `kustomize`, `chart`, `files`: the layout of `manifests/`, written and checked
"""

from jobgate.installation.files import committed
from jobgate.installation.installation import Installation
from jobgate.installation.objects import objects

__all__ = ["Installation", "committed", "objects"]
