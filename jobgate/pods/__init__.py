"""The pod webhook: adds to a pod what its job requests, whoever creates the pod.

- `digest`: the summary of a job that the server remembers
- `lookup`: finds the job of a pod, in a cache, or in the cluster if the cache may be behind
- `budget`: limits requests to the API server, and caches answers
- `shape`: checks whether a pod can be read
- `access`: checks who may use a prerequisite
- `prerequisites`: the prerequisites of a pod; `workloads`: those of Deployments and other workloads
- `items`: the review of prerequisites themselves
- `reviewer`: the review of pods
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
