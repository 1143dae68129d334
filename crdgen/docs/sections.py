"""The sections of a large schema: each object with several fields is described once, wherever it is used."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crdgen.docs.markdown import code
from crdgen.docs.types import kubernetes_type
from crdgen.schema.look import canonical, children, listed, mapping, without

#: Most fields of a schema in one table.
_LARGE: Final = 150
#: Most fields of a field whose sections are in one file.
_OF_FILE: Final = 600
#: Least fields of an object with a section of its own.
_SMALL: Final = 6
#: Places of a section that are listed.
_SHOWN: Final = 10


@dataclass
class Section:
    """An object that is described once.

    Attributes:
        schema: its schema.
        paths: the places where it is used.
        file: the file that contains it; empty for the only file.
        version: the version of the schema.
    """

    schema: Mapping[str, Any]
    file: str
    version: str
    paths: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Return the id in its file."""
        return f"{self.version}.{_plain(self.paths[0])}"

    @property
    def places(self) -> str:
        """Return the other places, as Markdown."""
        others = [code(path) for path in self.paths[1:]]
        return f"Also: {listed(others, _SHOWN)}." if others else ""


class Sections:
    """The sections of a schema, which has none if it is small."""

    def __init__(self, schema: Mapping[str, Any], version: str = "", folder: str = "") -> None:
        """Find the sections. They are in files of the folder, or in the same file if it is empty."""
        self._version, self._folder = version, folder
        self._sections: dict[str, Section] = {}
        self._digests: dict[int, int] = {}
        if _count(schema) > _LARGE:
            self._collect("", schema)

    def __iter__(self) -> Iterator[Section]:
        return iter(self._sections.values())

    def of(self, schema: Mapping[str, Any]) -> Section | None:
        """Return the section of a field, or of the items or values of a list or map."""
        while inner := mapping(schema, "items") or mapping(schema, "additionalProperties"):
            schema = inner
        return self._sections.get(self._key(schema)) if self._sections else None

    def _collect(self, path: str, schema: Mapping[str, Any], depth: int = 2) -> None:
        """Add the sections below a path. A file has those of a field at this depth; a large field has several files."""
        for step, child in children(schema):
            place = f"{path}{step}".lstrip(".")
            steps = _plain(place).split(".")
            if "properties" in child and not kubernetes_type(child) and _count(child) >= _SMALL and path:
                page = f"{self._version}.{'.'.join(steps[:depth])}.md"
                file = f"{self._folder}/{page}" if self._folder else ""
                section = self._sections.setdefault(self._key(child), Section(child, file, self._version))
                section.paths.append(place)
                if len(section.paths) > 1:
                    continue
            self._collect(place, child, depth + (len(steps) == depth and _count(child) > _OF_FILE))

    def _key(self, schema: Mapping[str, Any]) -> str:
        """Return a text that is equal for objects with the same fields."""
        own = without(schema, "description", "default", "nullable", "properties", "items", "additionalProperties")
        return f"{canonical(own)} {[(step, self._digest(child)) for step, child in children(schema)]}"

    def _digest(self, schema: Mapping[str, Any]) -> int:
        if id(schema) not in self._digests:
            texts = canonical([schema.get("description"), schema.get("default"), schema.get("nullable")])
            self._digests[id(schema)] = hash(f"{texts} {self._key(schema)}")
        return self._digests[id(schema)]


def _plain(path: str) -> str:
    """Return a path as a part of names of files and anchors."""
    return re.sub(r"[^\w.-]", "-", path.replace("[]", "").replace(".*", ""))


def _count(schema: Mapping[str, Any]) -> int:
    """Return the number of fields below a schema, those of Kubernetes' types aside."""
    if kubernetes_type(schema):
        return 0
    return sum((step[0] == "." and step != ".*") + _count(child) for step, child in children(schema))
