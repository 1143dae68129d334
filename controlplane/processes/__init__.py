"""A node that runs pods as real processes of this machine, each pod in its own Linux namespaces.

    with WholeControlPlane(assets) as plane, ProcessNode(plane, "real", folder) as node:
        ...  # pods with the nodeSelector {"kubernetes.io/hostname": "real"}
        node.log("default", "train-0", "main")

There are no images: a container sees the file systems of this machine, with its own home folders, `/run` and `/tmp`.
Each pod has an address that the node's other pods can reach, `/etc/hosts` has the DNS names of Services, and ConfigMaps
and Secrets become files and variables. The pods that use a claim share a folder. `runAsUser` and `fsGroup` are the only
parts of security contexts that are supported. Not supported: probes, resources, and forwarding by Services.
"""

from controlplane.processes.node import ProcessNode

__all__ = ["ProcessNode"]
