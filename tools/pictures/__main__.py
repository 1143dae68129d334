"""Make the pictures that are named, or all. With `--check`, fail if a diagram is not what the code gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from tools.pictures import FOLDER
from tools.pictures.flow import flow


def main() -> int:
    """Make or check; return the exit status."""
    names = [name for name in sys.argv[1:] if name != "--check"]
    if "--check" in sys.argv:
        path = FOLDER / "flow.svg"
        if path.read_text(encoding="utf-8") == flow():
            return 0
        print(f"{path} is out of date; run `make pictures PICTURES=flow`", file=sys.stderr)
        return 1
    if unknown := set(names) - set(_MAKERS):
        print(f"no picture {', '.join(sorted(unknown))}; there are {', '.join(_MAKERS)}", file=sys.stderr)
        return 2
    for name in names or _MAKERS:
        print(f"docs/images/: {name}", file=sys.stderr)
        _MAKERS[name]()
    return 0


def _flow() -> None:
    (FOLDER / "flow.svg").write_text(flow(), encoding="utf-8")


def _demo() -> None:
    from tools.pictures.recording import record  # noqa: PLC0415  # the control plane, which diagrams do without

    (FOLDER / "demo.svg").write_text(record(), encoding="utf-8")


def _console() -> None:
    from tools.pictures.console import take  # noqa: PLC0415  # the browser

    take()


_MAKERS: Final[dict[str, Callable[[], None]]] = {"flow": _flow, "demo": _demo, "console": _console}

if __name__ == "__main__":
    raise SystemExit(main())
