"""Certificates for a webhook server: a CA and a leaf, as pure functions of time, names and randomness.

Read in this order:

- `names`: which DNS names and IP addresses a Service's certificate carries, and what is wrong with those given
- `keys`: the kinds of key, and making one
- `validity`: from when to when a certificate holds
- `authority`: a CA that may sign one leaf and nothing else
- `leaf`: a server certificate of that CA
- `generation`: CA and leaf together as PEM, the CA's key thrown away

Nothing here reads a clock, a file or the network. `issue_generation` is what most callers want:

    names = service_names("jobgate-webhook", "jobgate-system")
    generation = issue_generation(names, now=datetime.now(UTC))
"""

from certs.authority import Authority, issue_authority
from certs.generation import Generation, issue_generation
from certs.keys import KeyType, PrivateKey, generate_key
from certs.leaf import issue_leaf
from certs.names import CLUSTER_DOMAIN, InvalidNames, ServerNames, service_names
from certs.validity import CLOCK_SKEW, LIFETIME, Validity, validity_from

__all__ = [
    "CLOCK_SKEW",
    "CLUSTER_DOMAIN",
    "LIFETIME",
    "Authority",
    "Generation",
    "InvalidNames",
    "KeyType",
    "PrivateKey",
    "ServerNames",
    "Validity",
    "generate_key",
    "issue_authority",
    "issue_generation",
    "issue_leaf",
    "service_names",
    "validity_from",
]
