"""`python -m jobgate`: the command line."""

import sys
from importlib import import_module
from types import ModuleType

from crdgen.__main__ import collect_rarely, end, open_streams, written
from crdgen.__main__ import main as crdgen


def load_no_plugins() -> None:
    """Keep Pydantic from loading `importlib.metadata`, and with it `email` and `zipfile`, to look for plugins.

    PYDANTIC_DISABLE_PLUGINS is read only after that. The module is private: for all else than the function that is
    known of it, the real one is loaded.
    """
    loader = ModuleType("pydantic.plugin._loader")

    def real(name: str) -> object:
        if name.startswith("__"):  # the import looks for these
            raise AttributeError(name)
        sys.modules.pop(loader.__name__, None)
        return getattr(import_module(loader.__name__), name)

    vars(loader).update(get_plugins=lambda *_, **__: (), __getattr__=real)
    sys.modules.setdefault(loader.__name__, loader)


def main() -> None:
    """Run the command. `crdgen` does not load what the other commands need."""
    open_streams()
    if sys.argv[1:2] == ["crdgen"]:
        end(crdgen(sys.argv[2:], "jobgate crdgen"))
    is_short = sys.argv[1:2] in (["review"], ["explain"], ["render"])
    if is_short:
        collect_rarely()
        load_no_plugins()
    from jobgate.cli import main as jobgate  # noqa: PLC0415

    try:
        jobgate()
        status = 0
    except SystemExit as stop:
        if not isinstance(stop.code, int):
            raise
        status = stop.code
    except OSError as error:
        status = written(2, "jobgate", error)
    status = written(status, "jobgate")
    if is_short:
        end(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
