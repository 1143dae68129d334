"""`crdgen docs`: generate a Markdown reference page."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from crdgen.cli.models import model_arguments, subject, subject_argument
from crdgen.cli.sources import definitions, name_of, require_v1, write
from crdgen.docs import page, pages

ABOUT: Final = """Print a Markdown reference page per kind: fields with types, defaults and bounds, rules, example.

A kind with many fields has a section for each object, which is described once even if many fields have it. With
--output-dir, these sections are on pages of their own, in the directory PLURAL.GROUP.

Exit status: 0, or 2 if there is no CRD to document."""

EXAMPLES: Final = """
  crdgen docs crds/widgets.yaml > docs/widget.md
  crdgen docs shop.models:OrderSpec --group shop.example.com --version v1
  crdgen docs crds/ --output-dir docs/kinds
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    subject_argument(parser)
    parser.add_argument(
        "--output-dir", metavar="DIR", help="write PLURAL.GROUP.md per kind, and further pages of large kinds"
    )
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    definitions_by_name = subject(options) or {
        name_of(manifest): manifest.object for manifest in require_v1(definitions(options.subject))
    }
    if options.output_dir is None:
        sys.stdout.write("\n".join(page(definition) for definition in definitions_by_name.values()))
        return 0
    for name, definition in definitions_by_name.items():
        stem = name.replace("/", "-")
        for file, text in pages(definition, stem).items():
            write(Path(options.output_dir) / (file or f"{stem}.md"), text)
    return 0
