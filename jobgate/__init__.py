"""The product: kinds of jobs, plugins, the command, and everything that is installed into a cluster.

- `kinds`: the kinds of jobs, one folder each, and the checks that they share
- `plugins`, `prerequisites`: what jobs can request for their pods
- `pods`: the pod webhook
- `controller`: the companion controller; `runner`: runs jobs without their operators
- `offline`, `explain`, `importing`: the commands that need no cluster: review, explain, import
- `installation`: what is installed, and the files of `manifests/`; `doctor`: diagnoses an installation
- `cluster`: the only package that talks to an API server; `serving`, `rotation`: what runs beside the webhook server
- `cli`: the command `jobgate`
- `names`: formats of names; `limits`, `ownership`: limits of jobs, and what belongs to jobgate in a cluster
- `packages`: entry points of installed packages; `room`: the memory of caches
"""

__version__ = "0.1.0"
