"""`crdgen docs`: generate a Markdown reference page."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

from crdgen.cli.command import Command
from crdgen.cli.models import definition_of, is_model, model_arguments
from crdgen.cli.sources import definitions, name_of, understood, write
from crdgen.docs import page

_ABOUT: Final = """Print a Markdown reference page per kind: fields with types, defaults and bounds, rules, example.

Exit status: 0, or 2 if there is no CRD to document."""

_EXAMPLES: Final = """
  crdgen docs crds/widgets.yaml > docs/widget.md
  crdgen docs shop.models:OrderSpec --group shop.example.com --version v1
  crdgen docs crds/ --output-dir docs/kinds
"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("subject", metavar="FILE|MODULE:MODEL", help="a file or folder of CRDs, -, or a model")
    parser.add_argument("--output-dir", metavar="DIR", help="write one file PLURAL.GROUP.md per kind instead")
    model_arguments(parser)


def _run(options: Namespace) -> int:
    found: dict[str, Any] = {}
    if is_model(options.subject):
        definition = definition_of(options.subject, options)
        found[definition["metadata"]["name"]] = definition
    else:
        found = {name_of(manifest): manifest.object for manifest in understood(definitions(options.subject))}
    pages = {name: page(definition) for name, definition in found.items()}
    if options.output_dir is None:
        sys.stdout.write("\n".join(pages.values()))
        return 0
    for name, text in pages.items():
        write(Path(options.output_dir) / f"{name.replace('/', '-')}.md", text)
    return 0


COMMAND: Final = Command(_ABOUT, _EXAMPLES, _arguments, _run)
