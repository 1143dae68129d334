"""Plots lines with two logarithmic axes, as SVG.

Written here because matplotlib would add ten packages to the lock, numpy and Pillow among them, for a few lines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TypeAlias

FOLDER = Path(__file__).parent.parent / "docs" / "explanation" / "performance"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 700, 400, 90, 40, 40, 70
#: Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

#: The points of a line; x and y are above 0.
Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis over whole decades, between two coordinates."""

    first: int
    last: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> _Axis:
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(first, max(last, first + 1), start, end)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.first, self.last + 1)]


def write(name: str, title: str, axes: tuple[str, str], lines: Mapping[str, Points], folder: Path = FOLDER) -> Path:
    """Write a plot, and return its file; `axes` are the labels of x and y."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.svg"
    file.write_text(svg(title, axes, lines), encoding="utf-8")
    return file


def svg(title: str, axes: tuple[str, str], lines: Mapping[str, Points]) -> str:
    """Return a plot."""
    points = [point for line in lines.values() for point in line]
    x = _Axis.over([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = _Axis.over([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 22, title, size=15),
        _text(WIDTH / 2, HEIGHT - 32, axes[0]),
        f'<g transform="rotate(-90 16 {HEIGHT / 2 - 20})">{_text(16, HEIGHT / 2 - 20, axes[1])}</g>',
    ]
    for tick in x.ticks():
        parts += [_line(x.place(tick), TOP, x.place(tick), HEIGHT - BOTTOM)]
        parts += [_text(x.place(tick), HEIGHT - BOTTOM + 16, _number(tick))]
    for tick in y.ticks():
        parts += [_line(LEFT, y.place(tick), WIDTH - RIGHT, y.place(tick))]
        parts += [_text(LEFT - 6, y.place(tick) + 4, _number(tick), anchor="end")]
    for place, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        at = [(round(x.place(px), 1), round(y.place(py), 1)) for px, py in line]
        path = " ".join(f"{across},{down}" for across, down in at)
        parts += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
        parts += [f'<circle cx="{across}" cy="{down}" r="3" fill="{colour}"/>' for across, down in at]
        parts += [_text(LEFT + 150 * place, HEIGHT - 10, f"● {name}", anchor="start", colour=colour)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def slope(points: Points) -> float:
    """Return the exponent with which y grows with x, fitted over the larger half, where fixed costs matter least."""
    tail = sorted(points)[min(len(points) // 2, len(points) - 2) :]
    xs, ys = [math.log(x) for x, _ in tail], [math.log(y) for _, y in tail]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def _number(tick: float) -> str:
    return f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"


def _text(x: float, y: float, words: str, *, anchor: str = "middle", size: int = 12, colour: str = "#222") -> str:
    where = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
    return f'<text {where} font-size="{size}" fill="{colour}">{escape(words)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="#ddd"/>'
