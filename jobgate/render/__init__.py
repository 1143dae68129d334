"""What is installed into a cluster, rendered from the registry of kinds.

- `installation`: the names and choices of one installation
- `definitions`: the CustomResourceDefinitions
- `configurations`: the webhook configurations, an entry for each kind
- `workload`: namespace, account, Service, Deployment
- `controller`: the companion controller, its Deployment and its rights
- `roles`: who may read and edit jobs
- `files`: the layout of `manifests/`, written and checked
"""

from jobgate.render.files import committed
from jobgate.render.installation import Installation
from jobgate.render.objects import objects

__all__ = ["Installation", "committed", "objects"]
