"""Certificates for a webhook server: issuing them, and following one generation by the next while all is in use.

Issuing, as pure functions of time, names and randomness; read in this order:

- `names`: which DNS names and IP addresses a Service's certificate carries, and what is wrong with those given
- `keys`: the kinds of key, and making one
- `validity`, `renewal`: from when to when a certificate holds, and when the next is due
- `authority`: a CA that may sign one leaf and nothing else
- `leaf`: a server certificate of that CA
- `generation`: CA and leaf together as PEM, the CA's key thrown away

    names = service_names("jobgate-webhook", "jobgate-system")
    generation = issue_generation(names, now=datetime.now(UTC))

Rotating, over small protocols that `jobgate.cluster` fulfils:

- `store`, `target`, `served`, `clock`: the Secret, what API servers trust, what servers show, the time
- `faults`: what these may fail with
- `bundle`, `mark`, `pair`: certificates of several CAs, the number of a generation, a stored generation judged
- `settings`, `state`: what is wished for, and what there is
- `steps`, `plan`: what can be done, and what is to be done next: the protocol, a pure function
- `rotation`: sees, plans, and carries one step out after the other
- `report`: how things stand, for people

Nothing here reads a file or the network, or keeps anything in memory that the Secret and the targets do not show.
"""

from certs.authority import Authority, issue_authority
from certs.clock import Clock, Reading
from certs.faults import Conflict, Refusal, Unavailable
from certs.generation import Generation, issue_generation
from certs.keys import KeyType, PrivateKey, generate_key
from certs.leaf import issue_leaf
from certs.names import CLUSTER_DOMAIN, InvalidNames, ServerNames, service_names
from certs.plan import Observed, plan
from certs.report import Report, report
from certs.rotation import Places, Rotation
from certs.served import Probe, Served
from certs.settings import Settings
from certs.steps import Blocked, Note, Promote, Retire, Stage, Step, Trust, Verify, Wait
from certs.store import Changes, Store, Stored
from certs.target import Entry, Target, Targets
from certs.validity import CLOCK_SKEW, LIFETIME, Validity, validity_from

__all__ = [
    "CLOCK_SKEW",
    "CLUSTER_DOMAIN",
    "LIFETIME",
    "Authority",
    "Blocked",
    "Changes",
    "Clock",
    "Conflict",
    "Entry",
    "Generation",
    "InvalidNames",
    "KeyType",
    "Note",
    "Observed",
    "Places",
    "PrivateKey",
    "Probe",
    "Promote",
    "Reading",
    "Refusal",
    "Report",
    "Retire",
    "Rotation",
    "Served",
    "ServerNames",
    "Settings",
    "Stage",
    "Step",
    "Store",
    "Stored",
    "Target",
    "Targets",
    "Trust",
    "Unavailable",
    "Validity",
    "Verify",
    "Wait",
    "generate_key",
    "issue_authority",
    "issue_generation",
    "issue_leaf",
    "plan",
    "report",
    "service_names",
    "validity_from",
]
