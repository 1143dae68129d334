"""`crdgen docs`: generate a Markdown reference page."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from crdgen.cli.models import model_arguments, subject, subject_argument
from crdgen.cli.sources import definitions, name_of, require_v1, write
from crdgen.docs import page

ABOUT: Final = """Print a Markdown reference page per kind: fields with types, defaults and bounds, rules, example.

Exit status: 0, or 2 if there is no CRD to document."""

EXAMPLES: Final = """
  crdgen docs crds/widgets.yaml > docs/widget.md
  crdgen docs shop.models:OrderSpec --group shop.example.com --version v1
  crdgen docs crds/ --output-dir docs/kinds
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    subject_argument(parser)
    parser.add_argument("--output-dir", metavar="DIR", help="write one file PLURAL.GROUP.md per kind instead")
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    definitions_by_name = subject(options) or {
        name_of(manifest): manifest.object for manifest in require_v1(definitions(options.subject))
    }
    pages = {name: page(definition) for name, definition in definitions_by_name.items()}
    if options.output_dir is None:
        sys.stdout.write("\n".join(pages.values()))
        return 0
    for name, text in pages.items():
        write(Path(options.output_dir) / f"{name.replace('/', '-')}.md", text)
    return 0
