"""`jobgate new`: write a package with a kind or a plugin of one's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from string import Template

import click

from crdgen import Names
from jobgate import __version__
from jobgate.names import dns_label, dns_subdomain
from jobgate.plugins import BUILT_IN

#: The templates: in the package, and in a checkout beside it.
_TEMPLATES = next(each / "templates" for each in Path(__file__).parents[1:3] if (each / "templates").is_dir())
#: Names of modules that a package would hide.
_TAKEN = sys.stdlib_module_names | {"certs", "controlplane", "crdgen", "jobgate", "pytest", "tests", "webhook"}
_SUFFIX, _PACKAGE = ".tpl", "__package__"
_DIRECTORY = click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the package, which must be empty or not exist.  [default: the name of the package]",
)


@click.group("new")
def new_group() -> None:
    """Write a package with a kind or a plugin, which works as it is: code, tests, CI, and an image for the server."""


@new_group.command()
@click.argument("name")
@click.option("--group", default="example.com", show_default=True, help="API group of the kind.")
@click.option("--version", default="v1alpha1", show_default=True, help="API version of the kind.")
@click.option("--no-tasks", is_flag=True, help="Write a kind whose objects are no jobs: without tasks and pods.")
@_DIRECTORY
def kind(*, name: str, group: str, version: str, no_tasks: bool, directory: Path | None) -> None:
    """Write a package with the kind NAME, for example TrainJob."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,62}", name):
        raise click.BadParameter(f"{name!r} must be letters and digits in camel case, for example TrainJob")
    if "." not in group or dns_subdomain(group):
        raise click.BadParameter(f"{group!r} must be a domain, for example example.com", param_hint="--group")
    if not re.fullmatch(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?", version):
        raise click.BadParameter(f"{version!r} must be a version of Kubernetes: v1, v1beta1", param_hint="--version")
    words = {"group": group, "version": version, "plural": Names(kind=name).plural, "what": "kind"}
    _write(name, name.lower(), ["common", "kind", "object" if no_tasks else "job"], words, directory)


@new_group.command()
@click.argument("name")
@_DIRECTORY
def plugin(*, name: str, directory: Path | None) -> None:
    """Write a package with the plugin NAME, for example data-cache."""
    if dns_label(name) or not name[0].isalpha():
        raise click.BadParameter(f"{name!r} must be lower-case letters, digits and '-', for example data-cache")
    if name in [plugin.name for plugin in BUILT_IN]:
        raise click.BadParameter(f"{name!r} is the name of a plugin of jobgate: choose another")
    words = {"variable": name.replace("-", "_").upper(), "what": "plugin"}
    _write(name, name.replace("-", "_"), ["common", "plugin"], words, directory)


def _write(name: str, package: str, folders: Sequence[str], words: Mapping[str, str], directory: Path | None) -> None:
    """Write the files of templates, with the words filled in."""
    if package in _TAKEN or iskeyword(package):
        package = f"{package}_{words['what']}"
    target = directory or Path(package)
    if target.exists() and (target.is_file() or any(target.iterdir())):
        what = "a file" if target.is_file() else "not empty"
        raise click.BadParameter(f"{target} is {what}: nothing is written", param_hint="--directory")
    given = {**words, "name": name, "package": package, "constant": words["what"].upper(), "jobgate": __version__}
    files = {}
    for folder in folders:
        root = _TEMPLATES / folder
        for template in sorted(root.rglob(f"*{_SUFFIX}")):
            name = str(template.relative_to(root)).removesuffix(_SUFFIX).replace(_PACKAGE, package)
            files[target / name] = Template(template.read_text(encoding="utf-8")).substitute(given)
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {target}: {target / 'README.md'} has the next steps")
