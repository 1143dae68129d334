"""What is known of other objects of the cluster: the only package that talks to an API server.

- `resource`: what a watched resource is called, and where the API server has it
- `informer`: one resource, listed and then watched, in memory
- `pages`: how much of a list is read at once
- `cache`: all of them, as rules look into them (`webhook.Objects`)
- `client`: the way to the API server; it alone needs the package `kubernetes`, which takes seconds to import
- `named`: one object alone; `objects`, `writer`, `events`: what is written
- `lease`: leader election
- `keeper`, `tls_secret`, `bundles`, `endpoints`, `clock`: what the rotation of certificates sees and does
"""

from jobgate.cluster.cache import Cache
from jobgate.cluster.informer import Api, Backoff, Informer, Key, Page, Refused, slim
from jobgate.cluster.pages import Pages
from jobgate.cluster.resource import Resource

__all__ = ["Api", "Backoff", "Cache", "Informer", "Key", "Page", "Pages", "Refused", "Resource", "slim"]
