"""`crdgen diff`: what changes between two CRDs, and whom it breaks."""

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import which
from typing import Any, Final

from crdgen.cli.command import Command, Unusable
from crdgen.cli.sources import KIND, definitions, name_of, parsed, understood
from crdgen.diff import EVERYTHING, Change, diff
from crdgen.reading import Manifest


def at_revision(path: str, revision: str) -> dict[str, bytes]:
    """Return a file, or all files below a folder, as they were: their texts by name; empty where there was nothing."""
    here = Path(path).absolute()
    folder, name = (here, ".") if here.is_dir() else (here.parent, here.name)
    if not folder.is_dir():
        raise Unusable(f"{path}: no such file or folder")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise Unusable(f"{path}: {revision} is no revision of its git repository, or there is none")
    tree = commit.decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", tree, "--", name) or b""
    names = [entry.decode("utf-8", "surrogateescape") for entry in listed.split(b"\x00")]
    return {found: _git(folder, "show", f"{tree}:./{found}") or b"" for found in names if found}


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints, or None where it fails."""
    program = which("git")
    if program is None:
        raise Unusable("git is not installed: compare two files instead")
    done = subprocess.run([program, "-C", str(folder), *arguments], capture_output=True, check=False)  # noqa: S603
    return done.stdout if done.returncode == 0 else None


_ABOUT: Final = """Say what changes between two CRDs, and for each change whom it breaks:

  stored   objects in etcd are refused at their next write, lose data, or cannot be read
  clients  manifests, typed clients or controllers that worked before do not any more
  apply    server-side apply loses track of who owns what, or merges otherwise

OLD and NEW are files or folders; CRDs are compared by name, and two files of one CRD each in any case. A change that is
said not to break stored objects does not; where that cannot be told, as of two patterns, a break is assumed.

Exit status: 0 where nothing changes or all is compatible, 1 where something breaks, 2 where nothing can be compared."""

_EXAMPLES: Final = """
  crdgen diff old/widgets.yaml new/widgets.yaml
  crdgen diff crds/ --against origin/main     # in CI: this branch with the one it goes to
  crdgen diff crds/widgets.yaml --against v1.4.0 --output json
"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="OLD NEW", nargs="+", help="two files or folders; with --against, one")
    parser.add_argument("--against", metavar="REV", help="compare with what the file was at this git revision")
    parser.add_argument("--output", "-o", choices=["text", "json"], default="text", help="(default: text)")


def _run(options: Namespace) -> int:
    old, new = map(understood, _sides(options.files, options.against))
    # Of two files that are named one by one, the CRD may have another name; else another name is another CRD.
    named = options.against is None and all(Path(file).is_file() for file in options.files)
    found = dict(_compared(old, new, by_name=not named))
    sys.stdout.write(_json(found) if options.output == "json" else _text(found))
    return int(any(change.breaks for changes in found.values() for change in changes))


def _sides(paths: list[str], revision: str | None) -> tuple[list[Manifest], list[Manifest]]:
    if revision is None:
        if len(paths) != 2:
            raise Unusable("name two files, OLD and NEW, or one with --against REV")
        return definitions(paths[0]), definitions(paths[1])
    if len(paths) != 1:
        raise Unusable("--against compares one file or folder with itself: name one")
    (path,) = paths
    texts = at_revision(path, revision)
    old = [
        manifest
        for name, text in texts.items()
        if Path(name).suffix in {".yaml", ".yml", ".json"} and KIND.encode() in text
        for manifest in parsed(text, f"{revision}:{name}")
        if manifest.object.get("kind") == KIND
    ]
    if not old and not texts:
        sys.stderr.write(f"{path}: not there at {revision}: all is new\n")
    new = definitions(path) if old == [] or Path(path).is_file() else _those_left(path)
    return old, new


def _those_left(folder: str) -> list[Manifest]:
    """Return the CRDs of a folder, where there may be none any more."""
    try:
        return definitions(folder)
    except Unusable as error:
        if str(error).endswith(f"holds no {KIND}"):
            return []
        raise


def _compared(old: list[Manifest], new: list[Manifest], *, by_name: bool) -> Iterator[tuple[str, list[Change]]]:
    if len(old) == len(new) == 1 and not by_name:
        yield name_of(new[0]), diff(old[0].object, new[0].object)
        return
    was, now = ({name_of(one): one.object for one in side} for side in (old, new))
    for name in {**was, **now}:
        if name not in now:
            what = "the CRD is removed, and all its objects with it"
            yield name, [Change("", what, EVERYTHING, "keep it until nobody has such objects")]
        elif name not in was:
            yield name, [Change("", "the CRD is new")]
        else:
            yield name, diff(was[name], now[name])


def _text(found: dict[str, list[Change]]) -> str:
    lines = [line for name, changes in found.items() for line in _lines(name, changes)]
    every = [change for changes in found.values() for change in changes]
    breaking = sum(bool(change.breaks) for change in every)
    lines.append(f"{breaking} breaking, {len(every) - breaking} compatible")
    return "\n".join(lines) + "\n"


def _lines(name: str, changes: list[Change]) -> Iterator[str]:
    if not changes:
        return
    yield name
    for change in changes:
        if change.text:
            continue
        word = f"breaks {', '.join(change.breaks)}" if change.breaks else "compatible"
        yield f"  {word}: {_said(change)}"
        if change.fix:
            yield f"      {change.fix}"
    texts = sum(change.text for change in changes)
    if texts:
        yield f"  compatible: {texts} in words for people only"
    yield ""


def _said(change: Change) -> str:
    return f"{change.place}: {change.what}" if change.place else change.what


def _json(found: dict[str, list[Change]]) -> str:
    entries = [_entry(name, change) for name, change in _flat(found.items())]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def _flat(found: Iterable[tuple[str, list[Change]]]) -> Iterator[tuple[str, Change]]:
    return ((name, change) for name, changes in found for change in changes)


def _entry(name: str, change: Change) -> dict[str, Any]:
    return {
        "crd": name,
        "version": change.version,
        "path": change.path,
        "what": change.what,
        "breaks": [str(one) for one in change.breaks],
        "fix": change.fix,
    }


COMMAND: Final = Command(_ABOUT, _EXAMPLES, _arguments, _run)
