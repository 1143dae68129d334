"""Read a YAML file as a Pydantic model; errors name the line, the field, and what would be right."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from crdgen.reading.documents import Document
from crdgen.reading.manifest import UnreadableManifest, read_document
from crdgen.schema.look import path_of

Entries = TypeVar("Entries")

#: What is wrong, by the type of pydantic's error.
_MESSAGES: Final = {
    "missing": "is missing: add it",
    "string_type": "must be a text: quote it",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
}


@dataclass(frozen=True)
class Lines:
    """The lines of the parts of a document, counted from 1."""

    document: Document

    def at(self, path: Sequence[str | int]) -> int:
        """Return the line of the part with this path, or of the nearest part around it that exists."""
        return self.document.located([tuple(path)]).place(tuple(path))[0] + 1


class InvalidEntries(ValueError):
    """A file that does not fit its model. The message has a line for each fault."""


def read_entries(text: bytes, file: str, model: type[Entries]) -> tuple[Entries, Lines]:
    """Return the content of a text, and the lines of its parts.

    Raises:
        InvalidEntries: the text is not YAML, or does not fit the model.
    """
    try:
        document = read_document(text, file)
    except UnreadableManifest as error:
        raise InvalidEntries(str(error)) from error
    lines = Lines(document)
    try:
        return TypeAdapter(model).validate_python(document.value), lines
    except ValidationError as error:
        problems = [f"{file}:{lines.at(each['loc'])}: {_problem(each, model)}" for each in error.errors()]
        raise InvalidEntries("\n".join(problems)) from error


def _problem(error: Any, model: Any) -> str:
    path = path_of(error["loc"]).lstrip(".") or "the file"
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _names(model), 1)
        return f"{path}: is unknown: {f'did you mean {near[0]}?' if near else 'remove it'}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{path}: {_MESSAGES.get(error['type']) or message[:1].lower() + message[1:]}"


def _names(model: Any) -> list[str]:
    """Return the names of all fields of the models in a type."""
    schema = TypeAdapter(model).json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return [name for part in parts for name in part.get("properties", {})]
