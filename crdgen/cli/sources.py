"""Objects of files, folders and standard input, read as `kubectl` reads them."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from crdgen.cli.command import Unusable
from crdgen.cli.templates import names_a_template, template_at
from crdgen.reading import Manifest, Unreadable, read
from crdgen.schema.look import mapping

KIND: Final = "CustomResourceDefinition"
VERSION: Final = "apiextensions.k8s.io/v1"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEMPLATE: Final = "this looks like a Helm template; render it first: helm template CHART | jobgate crdgen lint -"


def objects(file: str) -> list[Manifest]:
    """Return the objects of a file, or of standard input for `-`.

    Raises:
        Unusable: It cannot be read, or `kubectl` could not send what it holds.
    """
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unusable(f"{file}: {reason}") from error
    return parsed(text, "<stdin>" if file == "-" else file)


def parsed(text: bytes, file: str) -> list[Manifest]:
    """Return the objects of a text; the file's name is for errors.

    Raises:
        Unusable: `kubectl` could not send what it holds.
    """
    try:
        manifests = read(text, file)
    except Unreadable as error:
        if template := template_at(text, error.line):
            raise Unusable(f"{file}:{template}: {_TEMPLATE}") from error
        raise Unusable(str(error)) from error
    for manifest in manifests:
        if names_a_template(manifest.object):
            raise Unusable(f"{file}:{manifest.line}: {_TEMPLATE}")
    return manifests


def definitions(path: str) -> list[Manifest]:
    """Return the CRDs of a file, of the files in a folder and below it, or of standard input.

    Raises:
        Unusable: Something cannot be read, or there is no CRD.
    """
    found = [manifest for file in files(path) for manifest in objects(file) if manifest.object.get("kind") == KIND]
    if not found:
        raise Unusable(f"{path}: holds no {KIND}")
    return found


def understood(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return CRDs of which more can be told than what is wrong with them.

    Raises:
        Unusable: One is of another version than v1, or lacks what makes it one.
    """
    for manifest in manifests:
        if lacking := _lacking(manifest.object):
            raise Unusable(f"{manifest.file}:{manifest.line}: {lacking} (crdgen lint tells all)")
    return list(manifests)


def _lacking(definition: Mapping[str, Any]) -> str:
    found = definition.get("apiVersion")
    if found != VERSION:
        return f"a CRD of {found}; only {VERSION} is known"
    names, versions = mapping(definition, "spec", "names"), mapping(definition, "spec").get("versions")
    for path, text in (("group", mapping(definition, "spec").get("group")), ("names.kind", names.get("kind"))):
        if not isinstance(text, str) or not text:
            return f"spec.{path} must be a text"
    named = isinstance(versions, list) and all(isinstance(one, dict) and one.get("name") for one in versions)
    return "" if versions and named else "spec.versions must be a list of versions with names"


def one_definition(path: str) -> Manifest:
    """Return the one CRD of a file.

    Raises:
        Unusable: It cannot be read, or holds not exactly one.
    """
    found = definitions(path)
    if len(found) > 1:
        names = ", ".join(name_of(manifest) for manifest in found)
        raise Unusable(f"{path}: holds {len(found)} CRDs ({names}), and one is wanted: name a file of one")
    return found[0]


def files(path: str) -> list[str]:
    """Return a file itself; of a folder, the files below it that speak of CRDs, since not every YAML is a manifest.

    Raises:
        Unusable: The folder cannot be read.
    """
    folder = Path(path)
    try:
        if path == "-" or not folder.is_dir():
            return [path]
        return [str(file) for file in _below(folder) if KIND.encode() in file.read_bytes()]
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from error


def name_of(manifest: Manifest) -> str:
    """Return a CRD's name, or where it stands if it has none."""
    metadata = manifest.object.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else f"{manifest.file}:{manifest.line}"


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in _SUFFIXES and path.is_file())
