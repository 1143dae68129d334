"""Manifests as `kubectl` reads them: the objects that it would send for a text, YAML or JSON.

- `manifest`: the objects of a text, with the lines where they begin
- `yaml_nodes`, `yaml_scalars`: one document as go-yaml reads it
- `json_stream`: a stream as encoding/json reads it
"""

from crdgen.reading.manifest import MAX_DEPTH, Manifest, Unreadable, read

__all__ = ["MAX_DEPTH", "Manifest", "Unreadable", "read"]
