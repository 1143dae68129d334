"""Jobs and marketplace items of OpenPAI as objects of a cluster.

- `openpai`: the objects of a file
- `document`: its YAML, with advice where the original's examples are none
- `item`: a marketplace item or a job's own prerequisite
- `job`: a job of protocol version 2
- `template`: the pod template of a task role
- `notes`: what was changed and why, and what cannot be imported
"""

from jobgate.importing.document import Unreadable, looks_like_openpai
from jobgate.importing.job import Target
from jobgate.importing.openpai import Imported, imported

__all__ = ["Imported", "Target", "Unreadable", "imported", "looks_like_openpai"]
