"""The only package that talks to an API server.

- `resource`: a resource, and its path
- `informer`: one resource, listed and then watched, in memory; `cache`: several, as rules look into them
- `client`: all requests; it alone needs the package `kubernetes`, which takes seconds to import
- `objects`: the protocol of requests about single objects; `events`: Events; `access`: SubjectAccessReviews
- `lease`: leader election
- `errors`: errors of requests, as those of the rotation; `secret`: the values of a Secret that are kept
- `tls_secret`, `bundles`, `endpoints`, `server`: what the rotation of certificates reads and writes
"""

from jobgate.cluster.cache import Cache
from jobgate.cluster.informer import Api, ApiError, Backoff, IncompleteError, Informer, Key, Page, slim
from jobgate.cluster.resource import Resource

__all__ = ["Api", "ApiError", "Backoff", "Cache", "IncompleteError", "Informer", "Key", "Page", "Resource", "slim"]
