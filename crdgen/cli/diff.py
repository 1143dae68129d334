"""`crdgen diff`: compare CRDs and report breaking changes."""

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any, Final

from crdgen.cli.sources import (
    KIND,
    SUFFIXES,
    UsageError,
    definitions,
    name_of,
    output_argument,
    parsed,
    require_v1,
    write_json,
)
from crdgen.diff import EVERYTHING, Change, diff
from crdgen.reading import Manifest


def at_revision(path: str, revision: str) -> dict[str, bytes]:
    """Return the contents of a file, or of all files below a directory, at a git revision, by name."""
    absolute = Path(path).absolute()
    folder, name = (absolute, ".") if absolute.is_dir() else (absolute.parent, absolute.name)
    if not folder.is_dir():
        raise UsageError(f"{path}: no such file or directory")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise UsageError(f"{path}: {revision} is not a revision, or the file is not in a git repository")
    tree = commit.decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", tree, "--", name) or b""
    names = [entry.decode("utf-8", "surrogateescape") for entry in listed.split(b"\x00")]
    return {file: _git(folder, "show", f"{tree}:./{file}") or b"" for file in names if file}


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return the output of git, or None if it fails."""
    program = which("git")
    if program is None:
        raise UsageError("git is not installed: specify two files instead")
    result = subprocess.run([program, "-C", str(folder), *arguments], capture_output=True, check=False)  # noqa: S603
    return result.stdout if result.returncode == 0 else None


ABOUT: Final = """Compare CRDs and report what each change breaks:

  stored   objects in etcd are rejected at their next write, lose data, or cannot be read
  clients  manifests, typed clients or controllers stop working
  apply    server-side apply loses field ownership, or merges differently

OLD and NEW are files or directories. CRDs are compared by name, except two files with one CRD each, which are always
compared. A change that is not reported as breaking stored objects does not break them. If that cannot be determined,
for example when a pattern changes, the change is reported as breaking.

Exit status: 0 if all changes are compatible, 1 if a change breaks something, 2 if there is nothing to compare."""

EXAMPLES: Final = """
  crdgen diff old/widgets.yaml new/widgets.yaml
  crdgen diff crds/ --against origin/main     # in CI: this branch with its target
  crdgen diff crds/widgets.yaml --against v1.4.0 --output json
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", metavar="OLD NEW", nargs="+", help="two files or directories; one with --against")
    parser.add_argument("--against", metavar="REV", help="compare with the file at this git revision")
    output_argument(parser, "json")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    old, new = map(require_v1, _sides(options.files, options.against))
    # Only two given files may rename their CRD; otherwise another name means another CRD.
    two_files = options.against is None and all(Path(file).is_file() for file in options.files)
    changes_by_name = dict(_changes(old, new, by_name=not two_files))
    if options.output == "json":
        write_json([_entry(name, change) for name, changes in changes_by_name.items() for change in changes])
    else:
        sys.stdout.write(_text(changes_by_name))
    return int(any(change.breaks for changes in changes_by_name.values() for change in changes))


def _sides(paths: list[str], revision: str | None) -> tuple[list[Manifest], list[Manifest]]:
    if revision is None:
        if len(paths) != 2:
            raise UsageError("specify two files, OLD and NEW, or one with --against REV")
        return definitions(paths[0]), definitions(paths[1])
    if len(paths) != 1:
        raise UsageError("--against takes one file or directory")
    (path,) = paths
    texts = at_revision(path, revision)
    old = [
        manifest
        for name, text in texts.items()
        if Path(name).suffix in SUFFIXES and KIND.encode() in text
        for manifest in parsed(text, f"{revision}:{name}")
        if manifest.object.get("kind") == KIND
    ]
    if not old and not texts:
        sys.stderr.write(f"{path}: does not exist at {revision}: every CRD is new\n")
    # A directory may have lost its last CRD.
    new = definitions(path, some=old == [] or Path(path).is_file())
    return old, new


def _changes(old: list[Manifest], new: list[Manifest], *, by_name: bool) -> Iterator[tuple[str, list[Change]]]:
    if len(old) == len(new) == 1 and not by_name:
        yield name_of(new[0]), diff(old[0].object, new[0].object)
        return
    before, after = ({name_of(manifest): manifest.object for manifest in side} for side in (old, new))
    for name in {**before, **after}:
        if name not in after:
            what = "the CRD is removed, which deletes all its objects"
            yield name, [Change("", what, EVERYTHING, "keep it as long as clusters have objects of the kind")]
        elif name not in before:
            yield name, [Change("", "the CRD is new")]
        else:
            yield name, diff(before[name], after[name])


def _text(changes_by_name: dict[str, list[Change]]) -> str:
    lines = [line for name, changes in changes_by_name.items() for line in _lines(name, changes)]
    all_changes = [change for changes in changes_by_name.values() for change in changes]
    breaking = sum(bool(change.breaks) for change in all_changes)
    lines.append(f"{breaking} breaking, {len(all_changes) - breaking} compatible")
    return "\n".join(lines) + "\n"


def _lines(name: str, changes: list[Change]) -> Iterator[str]:
    if not changes:
        return
    yield name
    for change in changes:
        if change.text:
            continue
        word = f"breaks {', '.join(change.breaks)}" if change.breaks else "compatible"
        yield f"  {word}: {change.place}: {change.what}" if change.place else f"  {word}: {change.what}"
        if change.fix:
            yield f"      {change.fix}"
    texts = sum(change.text for change in changes)
    if texts:
        yield f"  compatible: {texts} changes of descriptions and titles"
    yield ""


def _entry(name: str, change: Change) -> dict[str, Any]:
    return {
        "crd": name,
        "version": change.version,
        "path": change.path,
        "what": change.what,
        "breaks": [str(affected) for affected in change.breaks],
        "fix": change.fix,
    }
