"""`crdgen diff`: compare CRDs and report breaking changes."""

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import which
from textwrap import indent
from typing import Any, Final

import yaml

from crdgen.cli.sources import (
    KIND,
    SUFFIXES,
    UsageError,
    content,
    definitions,
    name_of,
    output_argument,
    parsed,
    require_v1,
    watched,
    write,
    write_json,
)
from crdgen.diff import EVERYTHING, AcceptedBreak, Break, Change, ChangeGroup, diff, grouped
from crdgen.docs.markdown import code, escape
from crdgen.reading import Manifest
from crdgen.reading.entries import InvalidEntries, Lines, read_entries
from crdgen.reporting import count
from crdgen.schema.look import listed, shown

#: Places of a finding that are printed.
_SHOWN: Final = 3
#: The reason of entries that are written.
_NO_REASON: Final = "no reason given"
_AFFECTED: Final = {
    Break.STORED: "stored objects",
    Break.CLIENTS: "clients",
    Break.APPLY: "field ownership of server-side apply",
}


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
for example when a pattern changes, the change is reported as breaking. Equal changes of fields of the same name are one
finding; JSON lists all its places. Another way to write the same schema is no change.

A list of accepted breaks is YAML; `*` stands for any text, and an entry that accepts nothing is reported:

  - what: minItems 1 is new              # the beginning of what is printed
    path: spec.templates[]*              # optional, and so is crd: the name of the CRD
    reason: empty lists never worked

With --write-accepted, the other breaks are added to the list, which is created if needed. Give their reasons.

Exit status: 0 if all changes are compatible or accepted, 1 if a change breaks something, 2 if there is nothing to
compare."""

EXAMPLES: Final = """
  crdgen diff old/widgets.yaml new/widgets.yaml
  crdgen diff crds/ --against origin/main     # in CI: this branch with its target
  crdgen diff crds/widgets.yaml --against v1.4.0 --output markdown    # for a release note
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", metavar="OLD NEW", nargs="+", help="two files or directories; one with --against")
    parser.add_argument("--against", metavar="REV", help="compare with the file at this git revision")
    parser.add_argument(
        "--accept", metavar="FILE", help="YAML list of accepted breaks: what, reason, and optionally path and crd"
    )
    parser.add_argument("--write-accepted", action="store_true", help="add all other breaks to the file of --accept")
    output_argument(parser, "json", "markdown")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    old, new = map(require_v1, _sides(options.files, options.against))
    # Only two given files may rename their CRD; otherwise another name means another CRD.
    two_files = options.against is None and all(Path(file).is_file() for file in options.files)
    if options.write_accepted and options.accept is None:
        raise UsageError("--write-accepted needs the file: --accept FILE")
    is_new = options.write_accepted and not Path(options.accept).exists()
    text = content(options.accept) if options.accept and not is_new else b""
    accepted, lines = _accepted(text, options.accept)
    changes = dict(_changes(old, new, by_name=not two_files))
    groups, unused = grouped(changes, accepted)
    for index in unused:
        place = f"{options.accept}:{lines.at([index])}"
        sys.stderr.write(f"{place}: accepts nothing: remove the entry {shown(accepted[index].what)}\n")
    if options.write_accepted:
        accepted = _write_accepted(options.accept, text, accepted, lines, groups)
        groups, _ = grouped(changes, accepted)
    if options.output == "json":
        write_json([_entry(group) for group in groups])
    else:
        sys.stdout.write(_markdown(groups) if options.output == "markdown" else _text(groups))
    return int(any(group.breaks for group in groups))


def _accepted(text: bytes, file: str) -> tuple[list[AcceptedBreak], Lines]:
    try:
        return read_entries(text, file, list[AcceptedBreak])
    except InvalidEntries as error:
        raise UsageError(str(error)) from error


def _write_accepted(
    file: str, text: bytes, accepted: list[AcceptedBreak], lines: Lines, groups: Iterable[ChangeGroup]
) -> list[AcceptedBreak]:
    """Add the breaks that are not accepted to the end of a list, and return all its entries."""
    entries = [entry for group in groups if group.breaks for entry in group.accepting(_NO_REASON)]
    if not entries:
        return accepted
    expected = [*accepted, *entries]
    _, column = lines.document.place(())
    written = [entry.model_dump(exclude_defaults=True) for entry in entries]
    added = indent(yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=sys.maxsize), " " * column)
    whole = text.decode() + ("\n" if text and not text.endswith(b"\n") else "") + added
    try:
        is_added = read_entries(whole.encode(), file, list[AcceptedBreak])[0] == expected
    except InvalidEntries:
        is_added = False
    if not is_added:
        raise UsageError(f"{file}: no entry can be added: write the list as lines that begin with `- what:`")
    write(Path(file), whole)
    sys.stderr.write(f"{file}: {count(len(entries), 'break')} added: replace their reasons\n")
    return expected


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
    for name in watched([*{**before, **after}], "CRDs compared"):
        if name not in after:
            what = "the CRD is removed, which deletes all its objects"
            yield name, [Change("", what, EVERYTHING, "keep it as long as clusters have objects of the kind")]
        elif name not in before:
            yield name, [Change("", "the CRD is new")]
        else:
            yield name, diff(before[name], after[name])


def _text(groups: list[ChangeGroup]) -> str:
    names = list(dict.fromkeys(crd for group in groups for crd, *_ in group.places))
    lines = names if len(names) == 1 else []
    lines += [line for group in groups if not group.change.text for line in _lines(group, named=len(names) > 1)]
    if texts := _places(group for group in groups if group.change.text):
        lines.append(f"  compatible: {texts} changes of descriptions and titles")
    breaking = [group for group in groups if group.breaks]
    accepted = [group for group in groups if group.accepted]
    places = f" in {_places(breaking)} places" if _places(breaking) > len(breaking) else ""
    counts = [f"{len(breaking)} breaking{places}"]
    counts += [f"{len(accepted)} accepted"] if accepted else []
    compatible = [group for group in groups if not group.change.breaks and not group.change.text]
    return "\n".join([*lines, *([""] if lines else []), ", ".join([*counts, f"{len(compatible)} compatible"])]) + "\n"


def _places(groups: Iterable[ChangeGroup]) -> int:
    return sum(len(group.places) for group in groups)


def _lines(group: ChangeGroup, *, named: bool) -> Iterator[str]:
    change = group.change
    word = f"breaks {', '.join(change.breaks)}" if change.breaks else "compatible"
    word = f"accepted, {word}" if group.accepted else word
    places = [" ".join(filter(None, place if named else place[1:])) for place in group.places]
    if len(places) == 1:
        yield ": ".join(filter(None, (f"  {word}", places[0], change.what)))
    else:
        yield f"  {word}: {group.field or 'the object'}: {change.what}"
        yield f"      in {len(places)} places: {listed(places, _SHOWN)}"
    if text := group.accepted or change.fix:
        yield f"      {text}"


def _markdown(groups: list[ChangeGroup]) -> str:
    """Return the changes for a release note: what users must know, without advice for authors."""
    sections = {
        "Breaking changes": [group for group in groups if group.change.breaks],
        "Other changes": [group for group in groups if not (group.change.breaks or group.change.text)],
    }
    parts = [f"### {title}\n\n" + "\n".join(map(_item, listed)) for title, listed in sections.items() if listed]
    return "\n\n".join(parts or ["No changes."]) + "\n"


def _item(group: ChangeGroup) -> str:
    change = group.change
    names = code(group.field, in_table=False) or ", ".join(code(crd) for crd, *_ in group.places)
    breaks = f" Breaks {', '.join(_AFFECTED[each] for each in change.breaks)}." if change.breaks else ""
    reason = f" {escape(group.accepted)}" if group.accepted else ""
    fields = [code(" ".join(filter(None, place)), in_table=False) for place in group.places]
    return f"- {names}: {escape(change.what)}.{breaks}{reason}\n  - {listed(fields, _SHOWN)}"


def _entry(group: ChangeGroup) -> dict[str, Any]:
    return {
        "what": group.change.what,
        "breaks": [str(affected) for affected in group.change.breaks],
        "fix": group.change.fix,
        "accepted": group.accepted or None,
        "places": [{"crd": crd, "version": version, "path": path} for crd, version, path in group.places],
    }
