"""A node whose pods are real processes of this machine, each pod in namespaces of its own.

    with WholeControlPlane(assets) as plane, ProcessNode(plane, "real", folder) as node:
        ...  # pods with the nodeSelector {"kubernetes.io/hostname": "real"}
        node.log("default", "train-0", "main")

There are no images: a container sees the file systems of this machine, with home folders, `/run` and `/tmp` of its own.
A pod has an address that the node's other pods reach, `/etc/hosts` has what DNS would say of Services, and ConfigMaps
and Secrets are files and variables. Probes, resources, the users of security contexts, and Services that forward are
not carried out.
"""

from controlplane.processes.node import ProcessNode

__all__ = ["ProcessNode"]
