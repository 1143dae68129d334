"""`crdgen check`: check that generated files are up to date."""

import sys
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from crdgen.cli.models import definition_of, model_arguments
from crdgen.cli.sources import UsageError, write
from crdgen.docs import page
from crdgen.resource.text import to_yaml
from crdgen.schema.look import mapping, members

ABOUT: Final = """Check that generated files match their models, and print a diff for each that does not.

With FILE and MODULE:MODEL, checks one file: a page as `crdgen docs` prints it if the name ends in .md, else a CRD as
`crdgen generate` prints it. Without arguments, checks all files that pyproject.toml lists:

  [[tool.crdgen.files]]
  model = "shop.models:OrderSpec"     # a CustomResource needs no group and no version
  group = "shop.example.com"          # also: kind, plural, scope
  version = "v1"
  crd = "crds/orders.yaml"            # file of the CRD
  docs = "docs/order.md"              # file of its page; crd or docs may be left out

Exit status: 0 if all files are up to date, 1 if a file is not, 2 if a model has no CRD or no files are listed."""

EXAMPLES: Final = """
  crdgen check crds/orders.yaml shop.models:OrderSpec --group shop.example.com --version v1
  crdgen check             # all files that pyproject.toml lists
  crdgen check --write     # update them
"""


_USAGE: Final = "add a table [[tool.crdgen.files]] for each model, with `model`, and `crd` or `docs` or both"


class GeneratedFiles(BaseModel):
    """A model, as `MODULE:MODEL`, its names, and the files of its CRD and its page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    crd: str | None = None
    docs: str | None = None
    group: str | None = None
    version: str | None = None
    kind: str | None = None
    plural: str | None = None
    scope: Literal["Namespaced", "Cluster"] | None = None


def listing(project: Mapping[str, Any]) -> list[GeneratedFiles]:
    """Return the entries of a parsed pyproject.toml."""
    entries = members(mapping(project, "tool", "crdgen").get("files"))
    if not entries:
        raise UsageError(f"no [[tool.crdgen.files]]: {_USAGE}")
    return [_entry(index, entry) for index, entry in enumerate(entries)]


def _entry(index: int, entry: Any) -> GeneratedFiles:
    path = f"tool.crdgen.files[{index}]"
    try:
        files = GeneratedFiles.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join([path, *map(str, first["loc"])])
        raise UsageError(f"{field}: {first['msg']}: {_USAGE}") from error
    if files.crd is None and files.docs is None:
        raise UsageError(f"{path}: lists no file: {_USAGE}")
    return files


def _difference(file: str, current: str | None, expected: str) -> str:
    """Return the unified diff that updates a file, which may not exist."""
    before = [] if current is None else current.splitlines(keepends=True)
    name = "/dev/null" if current is None else file
    lines = unified_diff(before, expected.splitlines(keepends=True), name, f"{file} (generated)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", metavar="FILE", nargs="?", help="a generated file (default: all that are listed)")
    parser.add_argument("model", metavar="MODULE:MODEL", nargs="?", help="the model that the file is generated from")
    parser.add_argument(
        "--config", metavar="FILE", help="file that lists the generated files (default: pyproject.toml)"
    )
    parser.add_argument("--write", action="store_true", help="update files that are out of date, and exit with 0")
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    expected = _expected(options)
    outdated = {file: text for file, text in expected.items() if _current(file) != text}
    for file, text in outdated.items():
        if options.write:
            write(Path(file), text)
            sys.stderr.write(f"{file}: written\n")
        else:
            sys.stdout.write(_difference(file, _current(file), text))
            sys.stderr.write(f"{file}: out of date\n")
    return int(bool(outdated) and not options.write)


def _expected(options: Namespace) -> dict[str, str]:
    """Return the expected texts by file name."""
    if options.file is not None:
        if options.model is None:
            raise UsageError(f"{options.file}: add the model that it is generated from, as MODULE:MODEL")
        definition = definition_of(options.model, options)
        return {options.file: page(definition) if options.file.endswith(".md") else to_yaml(definition)}
    config = Path(options.config or "pyproject.toml")
    try:
        entries = listing(tomllib.loads(config.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{config}: {error.strerror or error}: specify FILE and MODULE:MODEL, or --config") from error
    except (UsageError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{config}: {error}") from error
    return {file: text for entry in entries for file, text in _files(entry, config.parent).items()}


def _files(entry: GeneratedFiles, folder: Path) -> dict[str, str]:
    definition = definition_of(entry.model, Namespace(**entry.model_dump()))
    texts = {}
    if entry.crd is not None:
        texts[str(folder / entry.crd)] = to_yaml(definition)
    if entry.docs is not None:
        texts[str(folder / entry.docs)] = page(definition)
    return texts


def _current(file: str) -> str | None:
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
