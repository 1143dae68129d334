"""`MODULE:MODEL`: a model, or a custom resource, of the user's own code."""

import re
import sys
import traceback
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from crdgen.cli.command import Unusable
from crdgen.resource.definition import crd
from crdgen.resource.resource import CustomResource, of
from crdgen.resource.whole import is_described

_TARGET: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_FLAGS: Final = ("group", "version", "kind", "plural", "scope")


def is_model(target: str) -> bool:
    """Tell whether a text names a model rather than a file."""
    return bool(_TARGET.fullmatch(target)) and not Path(target).exists()


def model_arguments(parser: ArgumentParser) -> None:
    """Add what a resource of a model is called."""
    names = parser.add_argument_group("names", "of a model's resource; a CustomResource has its own")
    names.add_argument("--group", metavar="G", help="the API group, such as example.com")
    names.add_argument("--version", metavar="V", help="the version, such as v1alpha1")
    names.add_argument("--kind", metavar="K", help="the kind (default: the model's name, without Spec at its end)")
    names.add_argument(
        "--plural",
        metavar="P",
        help="the plural (default: the English one of the kind, such as orders, policies, classes; a kind that is a "
        "plural already, such as settings, stays as it is)",
    )
    names.add_argument("--scope", choices=["Namespaced", "Cluster"], help="where objects live (default: Namespaced)")


def definition_of(target: str, options: Namespace, **otherwise: str) -> dict[str, Any]:
    """Return the CRD of `MODULE:MODEL` under the names that the options give.

    Args:
        target: The module, importable from the current folder too, and in it the model or custom resource.
        options: With what `model_arguments` has added.
        otherwise: The group and the version where the options have none.
    """
    with _one_line_warnings():
        found = _load(target)
        names = {flag: getattr(options, flag) for flag in _FLAGS if getattr(options, flag)}
        if isinstance(found, CustomResource):
            if names:
                flags = ", ".join(f"--{flag}" for flag in names)
                raise Unusable(f"{target} is a CustomResource, which says its own names: leave out {flags}")
            return crd(found)
        names = otherwise | names
        missing = [f"--{flag}" for flag in ("group", "version") if flag not in names]
        if missing:
            example = {"--group": "--group example.com", "--version": "--version v1"}
            raise Unusable(f"{target} is a model: give {' and '.join(example[flag] for flag in missing)}")
        return crd(of(found, **names))


def _load(target: str) -> type[Any] | CustomResource:
    module, _, attributes = target.partition(":")
    if not _TARGET.fullmatch(target) or module.endswith(".py"):
        raise Unusable(f"{target}: not MODULE:MODEL, such as shop.models:OrderSpec{_hint(target)}")
    found = _imported(module)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError as error:
            raise Unusable(f"{target}: {module} has no {attributes}{_models(found)}") from error
    if isinstance(found, CustomResource) or is_described(found):
        return cast("type[Any] | CustomResource", found)
    raise Unusable(
        f"{target}: {_what(found)}, and neither a Pydantic model (or a dataclass, or a TypedDict) nor a "
        "crdgen.CustomResource"
    )


def _imported(name: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):  # standard output is the command's
            return import_module(name)
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise Unusable(f"{name} cannot be imported: {type(error).__name__}: {text}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """Return the last line of the user's own code that the error passed."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if frame.filename.startswith(str(Path.cwd()))]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own and own[-1].filename != __file__ else ""


def _models(holder: Any) -> str:
    names = sorted(
        name
        for name, value in vars(holder).items()
        if isinstance(value, CustomResource)
        or (is_described(value) and value.__module__ == getattr(holder, "__name__", ""))
    )
    return f"; it has {', '.join(names)}" if names else ""


def _what(value: Any) -> str:
    if is_described(type(value)):
        return f"an instance of {type(value).__name__}: name the class"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"of type {type(value).__name__}"


def _hint(target: str) -> str:
    file, colon, name = target.partition(":")
    if file.endswith(".py") and colon:
        return f"; write {'.'.join(Path(file).with_suffix('').parts)}:{name}"
    return ""


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Tell warnings on standard error, without the place in our own code where they arose."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        yield
    for text in dict.fromkeys(" ".join(str(one.message).split()) for one in found):
        sys.stderr.write(f"warning: {text}\n")
