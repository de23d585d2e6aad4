"""What people see in a notebook: a figure once, tables of objects, progress without warnings."""

import nbclient
import nbformat
import pytest

import unimodal as um
from unimodal.campaigns.simulated_campaign import simulated_campaign


def executed(*cells):
    """The outputs of each cell of a notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


SIMULATE = """
import unimodal as um
result = um.simulate(um.problems.triangular(5), [um.UTS(), um.TS()], horizon=300, trials=3)
"""


def test_a_notebook_shows_each_figure_once_and_objects_as_tables():
    outputs = executed(
        SIMULATE,
        "result.plot()",
        "%matplotlib inline",
        "result.plot()",
        "import matplotlib.pyplot as plt\nfigure, ax = plt.subplots()\nresult.plot(ax);",
        "result",
        "agent = um.Agent(um.UTS(), um.graphs.line(3))\nagent.tell(agent.ask(), 1.0)\nagent",
    )
    for cell in (1, 3, 4):
        assert [("image/png" in output.data) for output in outputs[cell]] == [True]
    (shown,), (agent,) = outputs[5:]
    assert shown.data["text/plain"] == "Result(UTS, TS: 3 trials of 300 rounds, seed 0)"
    assert "<td" in shown.data["text/html"] and "UTS" in shown.data["text/html"]
    assert "1 leads" in agent.data["text/html"] or "no leader" in agent.data["text/html"]
    said = [output for output in outputs[0] if output.output_type == "stream"]
    assert not any("Warning" in output.text for output in said)


class Watched(nbclient.NotebookClient):
    """Keeps what was shown meanwhile, too."""

    def process_message(self, message, cell, cell_index):
        shown = message["content"].get("data", {}).get("text/plain", "")
        self.shown = [*getattr(self, "shown", []), shown, message["content"].get("text", "")]
        return super().process_message(message, cell, cell_index)


def test_progress_is_seen_while_it_runs_and_leaves_nothing_behind():
    cell = """
import unimodal as um
um.simulate(um.problems.triangular(17), um.TS(), horizon=400_000, trials=8, engine="step");
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    client = Watched(notebook, timeout=300, kernel_name="python3")
    client.execute()
    assert any("rounds/s" in text and "TS" in text for text in client.shown)
    assert not any("arning" in text for text in client.shown)
    left = [output.get("data", {}).get("text/plain", "") for output in notebook.cells[0].outputs]
    assert "".join(left).strip() == ""


PROBLEM = um.problems.triangular(5)
RESULT = um.simulate(PROBLEM, um.UTS(), horizon=300, trials=3, history=True)
CAMPAIGN = simulated_campaign(um.UTS(), PROBLEM, rounds=60)


@pytest.mark.parametrize(
    "thing",
    [
        *(PROBLEM, PROBLEM.graph, PROBLEM.check(), RESULT, RESULT["UTS"], um.UTS(period=2)),
        *(um.Bounded(0, 2), um.Agent(um.UTS(), PROBLEM.graph), um.inspect(CAMPAIGN)),
        um.replay(CAMPAIGN, um.TS(), draws=20),
        um.Interval(0, 1, mean=lambda x: 0.9 - abs(x - 0.4)),
        um.problems.drifting_line(9, 100, 0.01),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_every_public_object_says_what_it_is_in_a_line(thing):
    assert "\n" not in repr(thing) and len(repr(thing)) <= 160
    assert type(thing).__name__ in repr(thing)


MANY = {f"{price}.90": price + 0.9 for price in range(4, 16)}


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (PROBLEM, ["Problem(Graph(line, 5 arms", "<th", "mean", ">0.9<", ">0.4<"]),
        (um.problems.triangular(17), ["7 more arms have lower means"]),
        (PROBLEM.check(), ["the means are unimodal", ">yes<"]),
        (
            um.Problem(um.graphs.line(4), [0.5, 0.1, 0.2, 0.9]).check(),
            ["not unimodal", ">no<", ">0<"],
        ),
        (
            um.Interval(0, 1, mean=lambda x: 0.9 - abs(x - 0.4)),
            ["peak 0.9 at 0.4", ">0.25<", ">0.9<"],
        ),
        (um.problems.drifting_line(9, 100, 0.01), ["Moving(", "from round", "best arm"]),
    ],
    ids=["problem", "large", "unimodal", "stuck", "interval", "moving"],
)
def test_problems_intervals_and_checks_are_tables(thing, words):
    shown = thing._repr_html_()
    assert "<table" in shown and [word for word in words if word not in shown] == []


def test_a_family_of_many_factors_fits_into_a_heading():
    """Of 12 prices the first three; of three, all of them."""
    many = um.Problem(
        um.graphs.from_edges(list(zip(list(MANY)[:-1], list(MANY)[1:], strict=True))),
        [0.5 * price for price in MANY.values()],
        um.Scaled(um.Bernoulli(), by=MANY),
    )
    assert "by={'4.90': 4.9, '5.90': 5.9, '6.90': 6.9, … 9 more})" in repr(many.family)
    assert len(repr(many)) <= 160
    result = um.simulate(many, um.UTS(), horizon=20, trials=1, engine="step")
    assert max(map(len, str(result).splitlines())) <= 200
    few = um.Scaled(um.Bernoulli(), by={"a": 1, "b": 2, "c": 3})
    assert repr(few) == "Scaled(Bernoulli(), by={'a': 1.0, 'b': 2.0, 'c': 3.0})"
    in_order = um.Scaled(um.Bernoulli(), by=[1, 2, 3, 4])
    assert repr(in_order) == "Scaled(Bernoulli(), by=[1.0, 2.0, 3.0, … 1 more])"


def test_a_label_cannot_write_html_into_a_notebook():
    hostile = "<script>alert(1)</script>"
    agent = um.Agent(um.UTS(), um.graphs.from_edges([(hostile, "b"), ("b", "c")]))
    for _ in range(9):
        agent.tell(agent.ask(), 1.0)
    assert hostile not in agent._repr_html_() and "&lt;script&gt;" in agent._repr_html_()
