"""Import `MODULE:MODEL`: a model or a CustomResource in the user's code."""

import re
import sys
import traceback
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from crdgen.cli.sources import UsageError
from crdgen.resource.definition import crd
from crdgen.resource.resource import CustomResource, is_described, of

_TARGET: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_FLAGS: Final = ("group", "version", "kind", "plural", "scope")


def subject_argument(parser: ArgumentParser) -> None:
    """Add the argument for CRDs or a model."""
    parser.add_argument("subject", metavar="FILE|MODULE:MODEL", help="a file or directory of CRDs, -, or a model")


def subject(options: Namespace, **defaults: str) -> dict[str, dict[str, Any]]:
    """Return the CRD of the subject by its name, if the subject is a model; nothing if it is a file."""
    if not _TARGET.fullmatch(options.subject) or Path(options.subject).exists():
        return {}
    definition = definition_of(options.subject, options, **defaults)
    return {definition["metadata"]["name"]: definition}


def model_arguments(parser: ArgumentParser) -> None:
    """Add the flags for the names of a model's resource."""
    names = parser.add_argument_group("names", "Names of the custom resource. Not needed for a CustomResource object.")
    names.add_argument("--group", metavar="G", help="the API group, such as example.com")
    names.add_argument("--version", metavar="V", help="the version, such as v1alpha1")
    names.add_argument("--kind", metavar="K", help="the kind (default: name of the model without the suffix Spec)")
    names.add_argument(
        "--plural",
        metavar="P",
        help="the plural (default: the English plural of the kind, such as orders, policies or classes)",
    )
    names.add_argument("--scope", choices=["Namespaced", "Cluster"], help="scope of the objects (default: Namespaced)")


def definition_of(target: str, options: Namespace, **defaults: str) -> dict[str, Any]:
    """Return the CRD of `MODULE:MODEL`, with the names from the options, or else from the defaults."""
    model = _load(target)
    names = {flag: getattr(options, flag) for flag in _FLAGS if getattr(options, flag)}
    if isinstance(model, CustomResource):
        if names:
            flags = ", ".join(f"--{flag}" for flag in names)
            raise UsageError(f"{target} is a CustomResource, which has its own names: remove {flags}")
        return crd(model)
    names = defaults | names
    if not {"group", "version"} <= names.keys():
        raise UsageError(f"{target} is a model: add --group example.com and --version v1")
    return crd(of(model, **names))


def _load(target: str) -> type[Any] | CustomResource:
    module, _, attributes = target.partition(":")
    if not _TARGET.fullmatch(target) or module.endswith(".py"):
        raise UsageError(f"{target}: must be MODULE:MODEL, such as shop.models:OrderSpec")
    loaded = _import(module)
    for attribute in attributes.split("."):
        try:
            loaded = getattr(loaded, attribute)
        except AttributeError as error:
            near = get_close_matches(attribute, dir(loaded), 1)
            raise UsageError(f"{target}: {module} has no {attributes}{f': use {near[0]}' if near else ''}") from error
    if isinstance(loaded, CustomResource) or is_described(loaded):
        return cast("type[Any] | CustomResource", loaded)
    raise UsageError(f"{target}: must be a Pydantic model, a dataclass, a TypedDict or a crdgen.CustomResource")


def _import(name: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):  # standard output is for the result
            return import_module(name)
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise UsageError(f"{name} cannot be imported: {type(error).__name__}: {text}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """Return the place in the user's code where the error happened."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if frame.filename.startswith(str(Path.cwd()))]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own and own[-1].filename != __file__ else ""
