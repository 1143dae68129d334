"""`python -m jobgate`: the command line."""

import os
import sys


def main() -> None:
    """Run the command. `crdgen` does not load what the other commands need."""
    if sys.argv[1:2] == ["crdgen"]:
        from crdgen.__main__ import main as crdgen  # noqa: PLC0415

        sys.exit(crdgen(sys.argv[2:], "jobgate crdgen"))
    if sys.argv[1:2] in (["review"], ["explain"], ["render"]):
        from crdgen.__main__ import collect_rarely  # noqa: PLC0415

        collect_rarely()
        # Looking for plugins of Pydantic reads the records of all installed packages.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")
    from jobgate.cli import main as jobgate  # noqa: PLC0415

    jobgate()


if __name__ == "__main__":
    main()
