"""`crdgen size`: measure CRDs and suggest how to make them smaller."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.cli.models import model_arguments, subject, subject_argument
from crdgen.cli.sources import definitions, name_of, output_argument, write_json
from crdgen.resource.size import SizedField, annotations, parts, savings, size
from crdgen.schema import limits

_LIMIT: Final = limits.ANNOTATIONS
ABOUT: Final = f"""Print the size of CRDs in bytes of compact JSON, per field, and suggest how to make them smaller.

Client-side `kubectl apply` stores the whole CRD in an annotation, which the API server limits to {_LIMIT:,} bytes.
Server-side apply has no such limit. Each saving is calculated on its own; they do not add up.

Exit status: 0 if client-side apply works, 1 if a CRD is too large for it, 2 if there is no CRD."""

EXAMPLES: Final = """
  crdgen size crds/widgets.yaml
  crdgen size shop.models:OrderSpec --depth 3
  crdgen size crds/ --output json
"""

_SHARE: Final = 0.05
_SAVINGS: Final = 8


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    subject_argument(parser)
    parser.add_argument(
        "--depth", type=int, metavar="N", help="depth of the fields to print (default: fields with 5 %% or more)"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=_LIMIT,
        metavar="BYTES",
        help=f"largest allowed size of the annotation (default: {_LIMIT})",
    )
    output_argument(parser, "json")
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    crds = subject(options, group="example.com", version="v1") or {
        name_of(manifest): manifest.object for manifest in definitions(options.subject)
    }
    if options.output == "json":
        write_json([_entry(name, definition, options) for name, definition in crds.items()])
    else:
        sys.stdout.write("\n".join("".join(_lines(name, definition, options)) for name, definition in crds.items()))
    return int(any(annotations(definition) > options.limit for definition in crds.values()))


def _entry(name: str, definition: Mapping[str, Any], options: Namespace) -> dict[str, Any]:
    used = annotations(definition)
    return {
        "name": name,
        "bytes": size(definition),
        "annotations": used,
        "limit": options.limit,
        "fits": used <= options.limit,
        "parts": [
            {"path": part.path, "bytes": part.size, "descriptions": part.descriptions}
            for part in _shown(parts(definition), size(definition), options.depth)
        ],
        "savings": [{"bytes": saved, "how": how} for how, saved in savings(definition).items()],
    }


def _lines(name: str, definition: Mapping[str, Any], options: Namespace) -> Iterator[str]:
    total, used = size(definition), annotations(definition)
    yield f"{name}: {total:,} bytes of compact JSON\n"
    if used <= options.limit:
        yield f"client-side apply: {used:,} of {options.limit:,} bytes ({used / max(options.limit, 1):.0%})\n"
    else:
        yield f"client-side apply: fails, {used - options.limit:,} bytes over the limit of {options.limit:,}; "
        yield "use `kubectl apply --server-side`, or make it smaller\n"
    yield f"\n{'bytes':>11}  {'share':>5}  {'descriptions':>12}  field\n"
    for part in _shown(parts(definition), total, options.depth):
        yield f"{part.size:>11,}  {part.size / total:>5.0%}  {part.descriptions:>12,}  {part.path}\n"
    if lines := [f"{-saved:>11,}  {how}\n" for how, saved in savings(definition).items()]:
        yield f"\npossible savings, each on its own:\n{''.join(lines[:_SAVINGS])}"


def _shown(fields: tuple[SizedField, ...], total: int, depth: int | None) -> Iterator[SizedField]:
    """Yield the parts down to a depth, or those with a share of at least `_SHARE`; largest first."""
    for part in sorted(fields, key=lambda part: -part.size):
        if depth is None and part.size < _SHARE * total:
            continue
        yield part
        if depth is None or depth > 1:
            yield from _shown(part.parts, total, None if depth is None else depth - 1)
