"""Read manifests like `kubectl`: return the objects that it would send for a text in YAML or JSON.

Other YAML files, such as settings, are read in the same way, with the same limits.

- `manifest`: the objects of a text with their line numbers; the values of other texts
- `documents`: a document of YAML or JSON as plain values
- `entries`: a text as a Pydantic model, with errors that name lines
- `scalars`: the meaning of YAML scalars
"""

from crdgen.reading.documents import MAX_DEPTH
from crdgen.reading.manifest import Manifest, UnreadableManifest, path_text, read, read_value, read_values

__all__ = ["MAX_DEPTH", "Manifest", "UnreadableManifest", "path_text", "read", "read_value", "read_values"]
