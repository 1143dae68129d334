"""The pod webhook: a pod gets what its job asks for, whoever creates it.

- `digest`: what is remembered of a job
- `lookup`: whether there is such a job, and such a pod of it: a cache knows, and where it is behind, the cluster
- `budget`: how often the API server is asked, how many at once, and which of its answers are kept
- `shape`: whether a pod can be read
- `access`: who may use which prerequisite
- `prerequisites`: which of them a pod names, and what goes into it; `workloads`: the same for Deployments and the like
- `items`: the review of prerequisites themselves
- `reviewer`: what a pod gets, whether it has all of it, and the answer of the server
"""

from jobgate.pods.access import PermissionCache
from jobgate.pods.digest import Digest, Digests, Read, UncachedJob, UnusableJob, digest_of
from jobgate.pods.items import ItemReviewer
from jobgate.pods.lookup import DigestCache, Fetch, Lookup
from jobgate.pods.prerequisites import Prerequisites
from jobgate.pods.reviewer import PodReviewer
from jobgate.pods.workloads import WorkloadReviewer

__all__ = [
    "Digest",
    "DigestCache",
    "Digests",
    "Fetch",
    "ItemReviewer",
    "Lookup",
    "PermissionCache",
    "PodReviewer",
    "Prerequisites",
    "Read",
    "UncachedJob",
    "UnusableJob",
    "WorkloadReviewer",
    "digest_of",
]
