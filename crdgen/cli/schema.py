"""`crdgen schema`: write JSON Schemas for editors."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from crdgen.cli.models import model_arguments, subject, subject_argument
from crdgen.cli.sources import UsageError, definitions, name_of, require_v1, write
from crdgen.dns import is_subdomain
from crdgen.docs.editor import every_kind, json_schemas
from crdgen.schema.look import shown

ABOUT: Final = """Write JSON Schemas of the objects of CRDs, by which editors mark mistakes while an object is written.

DIR gets a file GROUP/KIND_VERSION.json for each version, as yaml-language-server and kubeconform look for it, and
all.json, which judges objects of all these kinds. Without --output-dir, the schema of a single version is printed.

Exit status: 0, or 2 if there is no CRD."""

EXAMPLES: Final = """
  crdgen schema crds/ --output-dir schemas
  crdgen schema shop.models:OrderSpec --group shop.example.com --version v1 > order.json
  kubeconform -strict -schema-location 'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' order.yaml
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    subject_argument(parser)
    parser.add_argument("--output-dir", metavar="DIR", help="write one file GROUP/KIND_VERSION.json per version")
    model_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    crds = subject(options) or {
        name_of(manifest): manifest.object for manifest in require_v1(definitions(options.subject))
    }
    schemas = {file: schema for crd in crds.values() for file, schema in json_schemas(crd)}
    if options.output_dir is None:
        if len(schemas) != 1:
            raise UsageError(f"{options.subject}: has {len(schemas)} versions of kinds: add --output-dir DIR")
        schemas = {"": next(iter(schemas.values()))}
    else:
        schemas["all.json"] = every_kind(schemas)
    for file, schema in schemas.items():
        group, *names = file.split("/")
        if names and (len(names) > 1 or not is_subdomain(group)):
            raise UsageError(f"{options.subject}: {shown(file)}: group, kind and version must be DNS names")
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        if file:
            write(Path(options.output_dir) / file, text)
        else:
            sys.stdout.write(text)
    return 0
