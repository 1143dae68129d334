"""Certificates for a webhook server: issuing them, and following one generation by the next while all is in use.

Issuing, as pure functions of time, names and randomness:

- `names`: the DNS names and IP addresses of a Service's certificate, and what is wrong with given ones
- `validity`: when a certificate holds, and when the next is due
- `generation`: keys; a CA that signs one leaf, the leaf, and both as PEM without the CA's key; their number

    names = service_names("jobgate-webhook", "jobgate-system")
    generation = issue_generation(names, now=datetime.now(UTC))

Rotating, over small protocols that `jobgate.cluster` fulfils:

- `places`: the Secret, what API servers trust, what servers show, the time; and how these may fail
- `bundle`: certificates of several CAs
- `state`, `plan`, `steps`: what the store holds, and the next step: the protocol, a pure function
- `rotation`: observes, plans, and makes one step after the other
- `report`: the state of the rotation, for people

Nothing here reads a file or the network, or keeps anything in memory that the Secret and the targets do not show.
"""

from certs.generation import Generation, KeyType, generate_key, issue_authority, issue_generation
from certs.names import CLUSTER_DOMAIN, InvalidNames, ServerNames, service_names
from certs.places import Conflict, Reading, Refusal, Served, StoredCertificates, Target, Unavailable
from certs.plan import RotationSettings
from certs.report import report
from certs.rotation import Rotation
from certs.steps import Blocked, Stage, Step, Trust, Wait
from certs.validity import CLOCK_SKEW, LIFETIME, Validity, validity_from

__all__ = [
    "CLOCK_SKEW",
    "CLUSTER_DOMAIN",
    "LIFETIME",
    "Blocked",
    "Conflict",
    "Generation",
    "InvalidNames",
    "KeyType",
    "Reading",
    "Refusal",
    "Rotation",
    "RotationSettings",
    "Served",
    "ServerNames",
    "Stage",
    "Step",
    "StoredCertificates",
    "Target",
    "Trust",
    "Unavailable",
    "Validity",
    "Wait",
    "generate_key",
    "issue_authority",
    "issue_generation",
    "report",
    "service_names",
    "validity_from",
]
