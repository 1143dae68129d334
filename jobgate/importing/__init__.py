"""Imports jobs and marketplace items of OpenPAI as Kubernetes objects.

- `openpai`: the objects of a file
- `document`: reads its YAML, with advice for examples of OpenPAI that are not valid YAML
- `item`: a marketplace item or a job's own prerequisite
- `job`: a job of protocol version 2
- `template`: the pod template of a task role
- `notes`: changes with their reasons, and faults
"""

from jobgate.importing.document import InvalidDocument, looks_like_openpai
from jobgate.importing.job import ImportedKind
from jobgate.importing.openpai import Imported, imported

__all__ = ["Imported", "ImportedKind", "InvalidDocument", "imported", "looks_like_openpai"]
