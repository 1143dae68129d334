"""Manifests as `kubectl` reads them: the objects that it would send for a text, YAML or JSON.

- `manifest`: the objects of a text, with the lines where they begin
- `documents`: one document of YAML, or of JSON, as plain values
- `scalars`: what a word or a number of YAML means
"""

from crdgen.reading.documents import MAX_DEPTH
from crdgen.reading.manifest import Manifest, UnreadableManifest, read

__all__ = ["MAX_DEPTH", "Manifest", "UnreadableManifest", "read"]
