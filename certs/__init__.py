"""Issue the certificates of a webhook server, and rotate them while they are in use.

Issuing, as pure functions of time, names and randomness:

- `names`: the DNS names and IP addresses of a Service's certificate, and their validation
- `validity`: when a certificate is valid, and when it must be renewed
- `generation`: keys, CAs and leaf certificates; a generation is a CA and its only leaf, and has a number

    names = service_names("jobgate-webhook", "jobgate-system")
    generation = issue_generation(names, now=datetime.now(UTC))

Rotation, over small protocols that `jobgate.cluster` implements:

- `places`: the Secret, the CA bundles of API servers, the certificates of servers, the time; and how access may fail
- `bundle`: certificates of several CAs
- `state`, `plan`, `steps`: what is stored, and the next step, as pure functions
- `rotation`: observes, plans, and executes one step after the other
- `report`: the state of the rotation, for people

Nothing here reads a file or the network. All state is in the Secret and the targets, none in memory only.
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
