"""What is known of other objects of the cluster: the only room that talks to an API server.

- `resource`: what a watched resource is called, and where the API server has it
- `informer`: one resource, listed and then watched, in memory
- `cache`: all of them, as rules look into them (`webhook.Objects`)
- `client`: the way to the API server; it alone needs the package `kubernetes`, which takes seconds to import
"""

from jobgate.cluster.cache import Cache
from jobgate.cluster.informer import Api, Backoff, Informer, Key, Page, Refused, slim
from jobgate.cluster.resource import Resource

__all__ = ["Api", "Backoff", "Cache", "Informer", "Key", "Page", "Refused", "Resource", "slim"]
