"""Writes diagrams as SVG: boxes, arrows and texts, readable on dark and light pages, without script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

#: An image follows the system's theme, not a switch on the page, so a diagram has a background of its own.
_STYLE: Final = """\
:root{--page:#fff;--ink:#1f2328;--soft:#59636e;--plain:#f1f3f5;--edge:#aab2bb;--own:#dbeafe;--own-edge:#2563eb;--bad:#cf222e}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--soft:#9aa4af;--plain:#1c222a;--edge:#56606b;--own:#152c52;\
--own-edge:#58a6ff;--bad:#ff7b72}}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.head{font-weight:600;font-size:13.5px}.soft{fill:var(--soft)}.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
.plain{fill:var(--plain);stroke:var(--edge)}.own{fill:var(--own);stroke:var(--own-edge)}.full{fill:var(--own-edge)}
.frame{fill:none;stroke:var(--edge);stroke-dasharray:5 4}
.mark{stroke:var(--edge);stroke-dasharray:3 4}
.line{fill:none;stroke:var(--soft);stroke-width:1.6}.no{fill:none;stroke:var(--bad);stroke-width:1.6}
.inverse{fill:var(--page)}.bad{fill:var(--bad);font-weight:600}"""


def document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """Return a diagram with a title for screen readers."""
    body = "\n".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
<defs>{_head("line", "soft")}{_head("no", "bad")}</defs>
<rect width="{width}" height="{height}" rx="8" style="fill:var(--page)"/>
{body}
</svg>
"""


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text; `kind` are classes of the style."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'


def rectangle(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" class="{kind}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, title: str, *lines: str) -> str:
    """Return a box with a title and lines below, all centered."""
    middle, first = x + width / 2, y + height / 2 - 9 * len(lines) + 5
    texts = [text(middle, first, title, "head", "middle")]
    texts += [text(middle, first + 18 * n, line, "soft", "middle") for n, line in enumerate(lines, 1)]
    return "\n".join([rectangle(x, y, width, height, kind), *texts])


def arrow(path: str, kind: str = "line") -> str:
    """Return an arrow along a path, in the syntax of SVG: `M x y H x V y`."""
    return f'<path d="{path}" class="{kind}" marker-end="url(#{kind}-head)"/>'


def _head(kind: str, colour: str) -> str:
    return (
        f'<marker id="{kind}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" style="fill:var(--{colour})"/></marker>'
    )
