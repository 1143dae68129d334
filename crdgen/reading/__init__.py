"""Manifests as `kubectl` reads them: the objects that it would send for a text, YAML or JSON.

Other YAML files, such as settings, are read in the same way and within the same bounds.

- `manifest`: the objects of a text, with the lines where they begin; the values of a text that has no objects
- `documents`: one document of YAML, or of JSON, as plain values
- `scalars`: what a word or a number of YAML means
"""

from crdgen.reading.documents import MAX_DEPTH
from crdgen.reading.manifest import Manifest, UnreadableManifest, read, read_value, read_values

__all__ = ["MAX_DEPTH", "Manifest", "UnreadableManifest", "read", "read_value", "read_values"]
