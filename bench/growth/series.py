"""Figures that grow: points, their slope, and the plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import plot

#: Linear is a slope of 1 on logarithmic axes; what is above this grows faster.
LINEAR = 1.1


@dataclass(frozen=True)
class Point:
    """One server that was given `x` of something."""

    x: float
    cpu_ms: float
    peak_mib: float
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
            rows += [[name, f"{one.x:,.0f}", f"{one.cpu_ms:,.2f}", f"{one.peak_mib:,.0f}", one.note] for one in points]
            rows.append([name, "slope", *(f"{slope:.2f}" for slope in slopes(points)), ""])
        return rows

    def draw(self, lines: dict[str, list[Point]]) -> str:
        """Write the plot, and return its file's name."""
        cpu = {f"{name}: ms CPU": [(point.x, point.cpu_ms) for point in points] for name, points in lines.items()}
        peak = {f"{name}: MiB": [(point.x, point.peak_mib) for point in points] for name, points in lines.items()}
        return plot.write(self.name, self.title, (self.unit, f"ms CPU {self.cost}; peak MiB"), {**cpu, **peak}).name


def slopes(points: Sequence[Point]) -> tuple[float, ...]:
    """Return the slopes of CPU time and of memory."""
    if len(points) < 2:
        return (0.0, 0.0)
    return (
        plot.slope([(point.x, max(point.cpu_ms, 1e-3)) for point in points]),
        plot.slope([(point.x, point.peak_mib) for point in points]),
    )
