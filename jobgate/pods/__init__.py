"""The pod webhook: a pod gets what its job asks for, whoever creates it.

- `whose`: which job a pod says that it belongs to
- `digest`: what is remembered of a job
- `lookup`: whether there is such a job, and such a pod of it: a cache knows, and where it is behind, the cluster
- `budget`, `turns`: how often the cluster may be queried, and in which order
- `forgeries`: the references to jobs that are not there
- `shape`: whether a pod can be read
- `review`: what is put into a pod, and whether it is all there
- `access`: who may use which prerequisite
- `prerequisites`: which of them a pod names, and what goes into it; `workloads`: the same for Deployments and the like
- `reviewer`: these together, as the server calls them
"""

from jobgate.pods.access import Access
from jobgate.pods.digest import Digest, Digests, Read, Room, TooLarge, Unkept, Unreadable, digest_of
from jobgate.pods.items import review_item
from jobgate.pods.lookup import Fetch, Known, Lookup
from jobgate.pods.prerequisites import Prerequisites
from jobgate.pods.reviewer import PodReviewer
from jobgate.pods.workloads import WorkloadReviewer

__all__ = [
    "Access",
    "Digest",
    "Digests",
    "Fetch",
    "Known",
    "Lookup",
    "PodReviewer",
    "Prerequisites",
    "Read",
    "Room",
    "TooLarge",
    "Unkept",
    "Unreadable",
    "WorkloadReviewer",
    "digest_of",
    "review_item",
]
