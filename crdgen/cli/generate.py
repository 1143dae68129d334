"""`crdgen generate`: generate the CRD of a model."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from crdgen.cli.models import definition_of, model_arguments
from crdgen.lint import lint
from crdgen.resource.text import to_yaml

ABOUT: Final = """Print the CustomResourceDefinition of a Pydantic model as YAML.

The model describes the spec. If it has a field `spec` that is a model, it describes the whole object, and its field
`status` the status. Dataclasses and TypedDicts work too, and a crdgen.CustomResource brings its own names. Modules are
also imported from the current directory.

Exit status: 0, or 2 if the model has no CRD; the errors name each field and the fix."""

EXAMPLES: Final = """
  crdgen generate shop.models:OrderSpec --group shop.example.com --version v1
  crdgen generate shop.models:Order --group shop.example.com --version v1 --plural orders > order.yaml
  crdgen generate shop.resources:ORDER | kubectl apply --server-side -f -    # a CustomResource
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("model", metavar="MODULE:MODEL", help="module and name of the model")
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    definition = definition_of(options.model, options)
    for finding in lint(definition):
        if finding.rule == "rule-is-checked":
            sys.stderr.write(f"note: {finding.path}: {finding.problem}\n")
    sys.stdout.write(to_yaml(definition))
    return 0
