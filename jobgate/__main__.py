"""`python -m jobgate`: the command line."""

import sys
from types import ModuleType


def main() -> None:
    """Run the command. `crdgen` does not load what the other commands need."""
    if sys.argv[1:2] == ["crdgen"]:
        from crdgen.__main__ import main as crdgen  # noqa: PLC0415

        sys.exit(crdgen(sys.argv[2:], "jobgate crdgen"))
    if sys.argv[1:2] in (["review"], ["explain"], ["render"]):
        from crdgen.__main__ import collect_rarely  # noqa: PLC0415

        collect_rarely()
        # Pydantic would load `importlib.metadata`, and with it `email` and `zipfile`, to look for plugins.
        loader = ModuleType("pydantic.plugin._loader")
        vars(loader)["get_plugins"] = tuple
        sys.modules.setdefault(loader.__name__, loader)
    from jobgate.cli import main as jobgate  # noqa: PLC0415

    jobgate()


if __name__ == "__main__":
    main()
