"""Which lines are measured, what is printed, and the lines themselves, on their smallest scale."""

import campaign_lines
import pytest
import run
import service_lines
import workloads
from against import Comparison


def test_groups_and_single_lines_are_chosen_by_name():
    everything = run.chosen([])
    assert list(everything) == [
        *("step", "leap", "agent", "campaign", "postgresql", "service", "start")
    ]
    assert run.chosen(["cold"]) == {"cold": ["cold simulation, four policies"]}
    both = run.chosen(["step UTS, line 17", "start", "step TS, line 17", "step UTS, line 17"])
    assert both["step"] == ["step UTS, line 17", "step TS, line 17"]
    assert len(both["start"]) == 2
    assert run.chosen(["start", "import unimodal"]) == run.chosen(["start"])


def test_no_line_stands_twice():
    lines = [line for group in workloads.GROUPS for line in workloads.lines_of(group)]
    assert len(set(lines)) == len(lines)


def test_a_wrong_name_gets_a_sentence(capsys):
    assert run.main(["servise"]) == run.main(["import unimodall"]) == 2
    group, line = capsys.readouterr().err.splitlines()
    assert "unknown group of lines 'servise': did you mean 'service'?" in group
    assert "unknown line 'import unimodall': did you mean 'import unimodal'?" in line


@pytest.mark.parametrize(("ratio", "status"), [(1.2, 1), (1.0, 0)])
def test_a_line_that_is_slower_is_named_and_ends_with_1(ratio, status, capsys, monkeypatch):
    compared = Comparison("[b] line", 1.0, ratio, ratio, ratio, ratio, 0.5, 2.0)
    monkeypatch.setattr(run, "against", lambda *_: iter([[compared]]))
    assert run.main(["--against", "HEAD", "start"]) == status
    printed = capsys.readouterr().out
    assert "0.500 to 2.000" in printed and "[b] line" in printed
    assert f"for certain: {'[b] line' if status else 'no line'}." in printed


def test_lines_of_engines_and_agents_run(monkeypatch):
    monkeypatch.setattr(workloads, "core_seconds", lambda work: (work(0), 1.0)[1])
    lines = ["step UTS, line 17", "agent saved and loaded, line 129"]
    assert workloads.measured(lines) == dict.fromkeys(lines, 1.0)


def test_the_lines_of_campaigns_run(monkeypatch):
    monkeypatch.setattr(campaign_lines, "TURNS", 1)
    monkeypatch.setattr(campaign_lines, "GROWN", 3)
    for name, measure in (campaign_lines.ON_SQLITE, campaign_lines.ON_POSTGRESQL):
        values = measure()
        assert len(values) == len(name) and min(values) > 0


def test_the_lines_of_the_service_run(monkeypatch):
    for name, value in {"TURNS": 1, "CALLS": 16, "BATCH": 8}.items():
        monkeypatch.setattr(service_lines, name, value)
    names, measure = service_lines.SERVICE
    values = measure()
    assert len(values) == len(names) and min(values) > 0
