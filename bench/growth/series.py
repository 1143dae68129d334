"""Figures that grow: points, their slope, and the plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import plot

#: Linear is a slope of 1 on logarithmic axes; what is above this grows faster.
LINEAR = 1.1


@dataclass(frozen=True)
class Point:
    """One server that was given `x` of something; of a server with several lines, one has its peak of memory."""

    x: float
    cpu_ms: float
    peak_mib: float | None
    note: str = ""


@dataclass(frozen=True)
class Series:
    """One kind of growth.

    Attributes:
        name: of the plot's file.
        title: says what grows.
        unit: of x.
        cost: what the CPU time is of.
        sizes: the values of x.
        measure: gives the lines at one size, by name.
    """

    name: str
    title: str
    unit: str
    cost: str
    sizes: Sequence[int]
    measure: Callable[[int], dict[str, Point]]

    def run(self, most: int) -> dict[str, list[Point]]:
        """Measure every size up to a bound."""
        lines: dict[str, list[Point]] = {}
        for size in self.sizes:
            for name, point in self.measure(size).items() if size <= most else ():
                lines.setdefault(name, []).append(point)
        return lines

    def rows(self, lines: dict[str, list[Point]]) -> list[list[str]]:
        """Return the table: a row a point, the slopes after the last of each line."""
        rows = [["line", self.unit, f"ms CPU {self.cost}", "peak MiB", ""]]
        for name, points in lines.items():
            rows += [[name, f"{one.x:,.0f}", f"{one.cpu_ms:,.2f}", _mib(one), one.note] for one in points]
            rows.append([name, "slope", *(f"{slope:.2f}" for slope in slopes(points))])
            rows[-1] += [""] * (len(rows[0]) - len(rows[-1]))
        return rows

    def draw(self, lines: dict[str, list[Point]]) -> str:
        """Write the plot, and return its file's name."""
        cpu = {f"{name}: ms CPU": [(point.x, point.cpu_ms) for point in points] for name, points in lines.items()}
        peak = {f"{name}: peak MiB": _peaks(points) for name, points in lines.items() if _peaks(points)}
        return plot.write(self.name, self.title, (self.unit, f"ms CPU {self.cost}; peak MiB"), {**cpu, **peak}).name


def slopes(points: Sequence[Point]) -> list[float]:
    """Return the slopes of CPU time and, where it was measured, of memory."""
    lines = ([(point.x, max(point.cpu_ms, 1e-3)) for point in points], _peaks(points))
    return [plot.slope(line) for line in lines if len(line) > 1]


def _peaks(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(point.x, point.peak_mib) for point in points if point.peak_mib is not None]


def _mib(point: Point) -> str:
    return "" if point.peak_mib is None else f"{point.peak_mib:,.0f}"
