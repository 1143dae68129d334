"""`crdgen generate`: the CRD of a model."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from crdgen.cli.command import Command, Unusable
from crdgen.cli.models import definition_of, model_arguments
from crdgen.lint import Severity, lint
from crdgen.resource.text import to_yaml

_ABOUT: Final = """Print the CustomResourceDefinition of a Pydantic model as YAML.

The model is the spec, or the whole object when it has a field `spec` that is a model; a field `status` is then the
status. A spec may be a dataclass or a TypedDict, too. A value that is a crdgen.CustomResource is taken as it is. The
current folder is importable.

Exit status: 0, or 2 where the model cannot be a CRD: a line for each field says what is wrong, and the fix."""

_EXAMPLES: Final = """
  crdgen generate shop.models:OrderSpec --group shop.example.com --version v1
  crdgen generate shop.models:Order --group shop.example.com --version v1 --plural orders > order.yaml
  crdgen generate shop.resources:ORDER | kubectl apply --server-side -f -    # a CustomResource names itself
"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODULE:MODEL", help="where the model is, as Python imports it")
    model_arguments(parser)


def _run(options: Namespace) -> int:
    definition = definition_of(options.model, options)
    for finding in lint(definition):
        if finding.severity is Severity.REFUSED:
            raise Unusable(f"{finding.path}: {finding.problem}; {finding.fix}")
        if finding.rule == "rule-is-checked":
            sys.stderr.write(f"note: {finding.path}: {finding.problem}\n")
    sys.stdout.write(to_yaml(definition))
    return 0


COMMAND: Final = Command(_ABOUT, _EXAMPLES, _arguments, _run)
