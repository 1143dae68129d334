"""Write what is vendored in the console's page, or check it and the page's types."""

from __future__ import annotations

import sys

from tools.page import PAGE, lock, type_errors, vendored


def main() -> int:
    """Write or check; return the exit status."""
    if "--lock" in sys.argv:
        lock()
    folder = PAGE / "vendor"
    wanted = vendored()
    if "--check" not in sys.argv:
        folder.mkdir(exist_ok=True)
        for name, content in wanted.items():
            (folder / name).write_bytes(content)
        return 0
    stale = [name for name, content in wanted.items() if (folder / name).read_bytes() != content]
    for name in stale:
        print(f"{folder / name} is not what the lock file gives; run `make console-page`", file=sys.stderr)
    errors = type_errors()
    print(errors, end="", file=sys.stderr)
    return 1 if stale or errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
