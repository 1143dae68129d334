"""Read a YAML file as a Pydantic model; errors name the line, the field, and what would be right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeVar, get_origin

from pydantic import TypeAdapter, ValidationError

from crdgen.reading.documents import Document
from crdgen.reading.manifest import UnreadableManifest, read_document, read_documents
from crdgen.schema.look import path_of

Entries = TypeVar("Entries")

#: What is wrong, by the type of pydantic's error.
_MESSAGES: Final = {
    "missing": "is missing: add it",
    "string_type": "must be a text: quote it",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
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
    """Return the content of the only document of a text, and the lines of its parts.

    Raises:
        InvalidEntries: the text is not YAML, or does not fit the model.
    """
    try:
        document = read_document(text, file)
    except UnreadableManifest as error:
        raise InvalidEntries(str(error)) from error
    return _content([document], file, model)[0], Lines(document)


def read_each(text: bytes, file: str, model: type[Entries]) -> list[Entries]:
    """Return the content of each document of a text.

    Raises:
        InvalidEntries: the text is not YAML, or a document does not fit the model.
    """
    try:
        return _content(read_documents(text, file), file, model)
    except UnreadableManifest as error:
        raise InvalidEntries(str(error)) from error


def _content(documents: Sequence[Document], file: str, model: type[Entries]) -> list[Entries]:
    adapter, content, problems = TypeAdapter(model), list[Entries](), list[str]()
    for document in documents:
        try:
            is_empty_list = document.value is None and get_origin(model) is list
            content.append(adapter.validate_python([] if is_empty_list else document.value))
        except ValidationError as error:
            problems += dict.fromkeys(_problems(error, document, file, model))
    if problems:
        raise InvalidEntries("\n".join(problems))
    return content


def _problems(error: ValidationError, document: Document, file: str, model: Any) -> Iterator[str]:
    names, lines = _names(model), Lines(document)
    # Pydantic adds the names of the types that it tried to the path.
    known = {*names, *_keys(document.value)}
    problems = [
        (tuple(step for step in each["loc"] if isinstance(step, int) or step in known), each) for each in error.errors()
    ]
    for steps, each in problems:
        # If a value fits none of several types, only the problems inside it are of use.
        if not any(len(other) > len(steps) and other[: len(steps)] == steps for other, _ in problems):
            yield f"{file}:{lines.at(steps)}: {_problem(each, steps, names)}"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(part)


def _problem(error: Any, steps: Sequence[str | int], names: Sequence[str]) -> str:
    path = path_of(steps).lstrip(".") or "the file"
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(steps[-1]), [name for name in names if name != steps[-1]], 1)
        return f"{path}: is unknown: {f'did you mean {near[0]}?' if near else 'remove it'}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{path}: {_MESSAGES.get(error['type']) or message[:1].lower() + message[1:]}"


def _names(model: Any) -> list[str]:
    """Return the names of all fields of the models in a type."""
    schema = TypeAdapter(model).json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return [name for part in parts for name in part.get("properties", {})]
