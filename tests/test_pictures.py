"""The pictures of the benchmarks: few lines and panels, one palette, findings that their tables hold."""

import sys
from pathlib import Path

import pytest

from dpgraph.plot.base import GREY, LINES

pytest.importorskip("matplotlib")
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def drawn():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import pictures
    finally:
        sys.path.remove(str(BENCHMARKS))
    return {name: draw() for name, draw in pictures.pictures().items()}


def test_a_picture_has_at_most_six_lines_in_nine_panels_in_the_colours_of_the_palette(drawn):
    from matplotlib.colors import to_hex

    assert len(drawn) >= 18
    for name, figure in drawn.items():
        panels = [axes for axes in figure.axes if axes.get_visible()]
        assert len(panels) <= 9, name
        assert figure.legends == [], name
        assert [axes for axes in panels if axes.get_legend()] == [], name
        for axes in panels:
            lines = [line for line in axes.get_lines() if line.get_marker() not in ("", "None", None)]
            assert len(lines) <= 6, name
            assert {to_hex(line.get_color()).upper() for line in lines} <= {*LINES, GREY}, name


def test_every_colour_of_a_picture_is_named_in_it(drawn):
    for name, figure in drawn.items():
        named = {text.get_color() for axes in figure.axes for text in axes.texts}
        drawn_in = {
            GREY if line.get_color() == LINES[-1] else line.get_color()
            for axes in figure.axes
            for line in axes.get_lines()
            if line.get_marker() not in ("", "None", None)
        }
        assert drawn_in <= named, name


def test_the_title_of_a_picture_counts_the_cells_of_its_table(drawn):
    title = drawn["frontier_max-cut.png"].texts[0].get_text()
    rows = (BENCHMARKS / "results" / "frontier_max-cut.csv").read_text().splitlines()[2:]
    cells = {tuple(row.split(",")[i] for i in (0, 2)) for row in rows if ",auto," in row and "planted" not in row}
    assert title.endswith(f"of {len(cells)} cells")
