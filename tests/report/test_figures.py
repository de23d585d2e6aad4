"""Figures of regret: nothing is cut off, and letters have the size that was set."""

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unimodal.report import figures

ROUNDS = np.arange(1, 101)
CURVES = {name: (height * np.log(1 + ROUNDS),) * 3 for name, height in [("UTS", 1.0), ("TS", 2.0)]}


def drawn(width, height, layout=None):
    """The axes of a figure of this size, drawn once."""
    figure = Figure(figsize=(width, height), layout=layout)
    canvas = FigureCanvasAgg(figure)
    ax = figures.regret(figure.add_subplot(), ROUNDS, CURVES, np.nan)
    canvas.draw()
    return ax


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize(
    ("size", "label"),
    [
        ((5.8, 3.9), "regret $R_t$, mean and 95 % interval"),
        ((5.5, 2.2), "regret $R_t$,\nmean and 95 % interval"),
        ((3.0, 1.2), "regret $R_t$"),
    ],
)
def test_the_label_of_the_y_axis_is_not_cut_off(size, label, layout):
    ax = drawn(*size, layout)
    assert ax.get_ylabel() == label
    words = ax.yaxis.label.get_window_extent()
    assert words.y0 >= 0 and words.y1 <= ax.figure.bbox.height
    assert words.x0 >= 0 or size[0] < 5  # in a tiny figure a layout has to make room for it


@pytest.mark.parametrize(
    ("set_to", "size"),
    [({}, 9.0), ({"font.size": 20}, 18.0), ({"font.size": 6}, 5.4), ({"legend.fontsize": 5}, 4.5)],
    ids=["default", "large", "small", "legend"],
)
def test_names_of_curves_have_the_size_that_was_set(set_to, size):
    with matplotlib.rc_context(set_to):
        ax = drawn(5.8, 3.9)
    assert {text.get_text(): text.get_size() for text in ax.texts} == pytest.approx(
        {"UTS": size, "TS": size}
    )
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not boxes[0].overlaps(boxes[1])
