"""The lines of values in a YAML text."""

from collections.abc import Sequence

import yaml


class Lines:
    """The lines of the parts of a YAML text, counted from 1."""

    def __init__(self, text: bytes) -> None:
        self._root = yaml.compose(text, Loader=yaml.SafeLoader)

    def at(self, path: Sequence[str | int]) -> int:
        """Return the line of the part with this path, or of the nearest part around it that exists."""
        node, line = self._root, 1
        for step in path:
            if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            elif isinstance(node, yaml.MappingNode):
                entry = next((entry for entry in node.value if entry[0].value == step), None)
                if entry is None:
                    break
                line, node = entry[0].start_mark.line + 1, entry[1]
        return line
