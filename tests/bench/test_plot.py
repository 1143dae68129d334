"""Slopes and plots."""

from xml.etree import ElementTree as ET

import pytest

from bench import plot


@pytest.mark.parametrize(
    ("case", "points", "expected"),
    [
        ("linear", [(x, 3 * x) for x in (1, 10, 100, 1000)], 1.0),
        ("quadratic", [(x, x * x) for x in (1, 10, 100, 1000)], 2.0),
        ("constant", [(x, 7) for x in (1, 10, 100)], 0.0),
        ("a fixed cost that hides growth at first", [(1, 1000), (10, 1000), (10**5, 10**7), (10**6, 10**9)], 2.0),
        ("two points", [(1, 1), (10, 100)], 2.0),
    ],
)
def test_the_slope_is_the_power_by_which_the_larger_half_grows(
    case: str, points: list[tuple[float, float]], expected: float
) -> None:
    assert plot.slope(points) == pytest.approx(expected), case


def test_a_plot_is_svg_with_a_point_for_each_figure_and_escaped_names() -> None:
    drawn = ET.fromstring(plot.svg("a < b", ("x", "y"), {"one & two": [(1, 0.5), (100, 20)], "three": [(5, 5)]}))
    assert len(drawn.findall("{*}circle")) == 3
    assert "● one & two" in [text.text for text in drawn.findall("{*}text")]
