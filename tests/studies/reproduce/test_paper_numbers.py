"""The paper's numbers are all there: counted, and summed against the paper's own source."""

import pytest

from unimodal.studies.reproduce import paper_numbers as paper


def test_table_1_has_6_ratios():
    ratios = [cell for row in paper.TABLE_1.values() for cell in row.values()]
    assert len(ratios) == 6
    assert sum(ratio.value for ratio in ratios) == pytest.approx(14.89)
    assert sum(ratio.half_width for ratio in ratios) == pytest.approx(0.46)


def test_table_2_has_96_cells():
    cells = paper.TABLE_2
    assert len(cells) == 96
    assert set(cells) == {
        (k, p, name) for k in paper.SIZES for p in paper.DENSITIES for name in paper.POLICIES
    }
    assert sum(cell.value for cell in cells.values()) == pytest.approx(114_278)
    assert sum(cell.half_width for cell in cells.values()) == pytest.approx(2289.4)
    assert cells[20, "log(K)/K", "OSUB"].value == 86
    assert cells[1000, "line", "UTS"].half_width == pytest.approx(41.8)


def test_table_3_has_12_cells():
    assert len(paper.TABLE_3) == 12
    assert sum(paper.TABLE_3.values()) == 8601
    assert paper.TABLE_3[100, "OSUB"] == 266
