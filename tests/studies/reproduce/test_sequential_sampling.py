"""Adding samples until all is decided: the order, the budget, interruptions; trials are made up."""

import contextlib
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from unimodal.results.statistics import Interval
from unimodal.studies.finished_tasks import opened
from unimodal.studies.reproduce import added_samples, interim_estimates
from unimodal.studies.reproduce.claims import CLAIMS, Claim
from unimodal.studies.reproduce.comparisons import Comparison, Step
from unimodal.studies.reproduce.decision_rule import DecisionRule
from unimodal.studies.reproduce.numbers import Number
from unimodal.studies.reproduce.sequential_sampling import SequentialSampling
from unimodal.studies.reproduce.setting import Setting
from unimodal.studies.reproduce.task_seconds import TaskSeconds
from unimodal.studies.tasks import cut

GRAPHS = Setting("Table 2", 5, "1/2", ("UTS", "TS"), 100, 10, 40)
LINE = Setting("Table 1", 17, "triangle", ("UTS", "TS"), 100, 1, 100)
MEANS = {"UTS": 100.0, "TS": 110.0}
TWICE = 2.0  # what a trial takes, in multiples of what the model says


def played(task):
    """Regrets around the policy's mean: graphs are shared and differ by 10, trials too."""
    shared = np.random.default_rng(task.setting.seed(task.graph)).normal(0, 10)
    if task.setting.graphs == 1:
        shared = 0.0
    own = zlib.crc32(f"{task.setting.name} {task.policy} {task.graph} {task.first}".encode())
    trials = task.last - task.first
    regret = MEANS[task.policy] + shared + np.random.default_rng(own).normal(0, 10, trials)
    return np.stack([np.ones(trials), regret], axis=1), TWICE * task.seconds


def claim(text, *comparisons):
    return Claim(text, "", DecisionRule(lambda found: ("", ""), comparisons))


ORDER = claim("UTS better", Comparison(GRAPHS, "UTS", "TS", 0.005))
WRONG = claim("TS better on the line", Comparison(LINE, "TS", "UTS", 0.02))
EVEN = claim("UTS better than itself", Comparison(GRAPHS, "UTS", "UTS", 0.005))
SAME = claim("UTS/TS is larger on graphs", Step((LINE, GRAPHS), "UTS", "TS", 0.1))
NUMBER = Number("Table 2", GRAPHS, "TS", Interval(109.0, 106.0, 112.0), 10, 0.5)


@contextlib.contextmanager
def deciding(folder, budget=1e9, claims=(ORDER, WRONG, EVEN, SAME), work=played, seen=None):
    seconds_file = TaskSeconds(folder / "seconds.db")
    with opened(folder / "finished.db") as store, contextlib.closing(seconds_file) as seconds:
        store.put_all((task, played(task)[0]) for task in cut([GRAPHS, LINE]))

        def view(progress, new_batch):
            if seen is not None and new_batch:
                seen.append((list(progress.deciding), progress.used))

        yield SequentialSampling(
            store, seconds, budget, view, [GRAPHS, LINE], claims, [NUMBER], work
        )


def decided(folder, executor=None, **named):
    with deciding(folder, **named) as run:
        found = run.run(executor)
        return found, run.progress


def test_every_kind_of_claim_gets_its_word(tmp_path):
    found, progress = decided(tmp_path)
    words = {claim.text: str(found.ruling(claim)) for claim in found.claims}
    assert words["UTS better"] == "holds" and words["TS better on the line"] == "does not hold"
    assert words["UTS better than itself"] == "too close to call, ± 0 %"
    spoken, _, spread = words["UTS/TS is larger on graphs"].partition(", ± ")
    assert spoken == "too close to call" and 0 < float(spread) <= 0.1
    conclusion = found.number(NUMBER)
    assert str(conclusion.verdict) == "agrees" and conclusion.estimate.value == pytest.approx(
        110, rel=0.05
    )
    assert progress.open_claims == [] and progress.open_numbers == []
    # Nothing is decided with fewer than 20 graphs or 400 trials.
    assert found.ruling(ORDER).parts[0][1].look >= 1 and found.ruling(WRONG).parts[0][1].look == 1


def test_trials_and_seconds_are_counted(tmp_path):
    """At the second look the line has 400 trials of each policy; 300 of them were added."""
    found, progress = decided(tmp_path, claims=[WRONG])
    assert found.took(found.ruling(WRONG)).trials == 800
    blocks = 4 ** found.number(NUMBER).look - 1
    assert progress.used == pytest.approx(
        TWICE
        * (300 * rate(LINE, "UTS") + 300 * rate(LINE, "TS") + 200 * blocks * rate(GRAPHS, "TS"))
    )
    measured = found.rates["Table 1: K = 17, p = triangle, T = 100: TS"]
    assert measured == pytest.approx(TWICE * rate(LINE, "TS"))


def rate(setting, policy):
    return setting.seconds_a_trial(policy)


def test_the_budget_is_respected_and_what_is_open_says_what_it_would_take(tmp_path):
    """A margin that takes far more than is there."""
    fine = claim("as good on graphs", Step((LINE, GRAPHS), "UTS", "TS", 0.001))
    for budget in (0.1, 3.0, 8.0):
        found, progress = decided(tmp_path / str(budget), budget=budget, claims=[fine])
        ruling = found.ruling(fine)
        assert ruling.word == "open" and progress.open_claims == [fine.text]
        assert progress.used <= budget + 1.0  # what was begun when it ended
        assert progress.used > 0.3 * budget or budget < 1.0
    more = found.would_take(ruling)
    assert more.trials > 10_000 and more.seconds > 8.0


@pytest.mark.full
def test_a_larger_budget_goes_on_from_a_smaller_one(tmp_path):
    decided(tmp_path, budget=3.0)
    found, progress = decided(tmp_path)
    afresh, whole = decided(tmp_path / "afresh")
    assert progress.used == pytest.approx(whole.used, abs=3.0)
    assert {c.text: found.ruling(c).word for c in found.claims} == {
        c.text: afresh.ruling(c).word for c in afresh.claims
    }


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.full), 3])
def test_the_same_bytes_for_any_number_of_workers_and_after_any_interruption(tmp_path, workers):
    claims = (ORDER, WRONG, EVEN)
    expected, _ = decided(tmp_path / "whole", claims=claims)

    class Stopped(Exception):
        pass

    left = [5]

    def until_stopped(task):
        left[0] -= 1
        if left[0] < 0:
            raise Stopped
        return played(task)

    with pytest.raises(Stopped):
        decided(tmp_path / "again", work=until_stopped, claims=claims)
    with ThreadPoolExecutor(workers) as executor:
        again, progress = decided(tmp_path / "again", executor, claims=claims)
    written = [one.save(tmp_path / str(n)) for n, one in enumerate((expected, again))]
    assert written[0].read_bytes() == written[1].read_bytes()
    assert progress.used == pytest.approx(decided(tmp_path / "again", claims=claims)[1].used)


@pytest.mark.full
def test_a_run_that_is_finished_runs_nothing_again(tmp_path):
    decided(tmp_path)

    def never(task):
        raise AssertionError(task)

    found, _ = decided(tmp_path, work=never)
    assert found.ruling(ORDER).word == "holds"


def test_the_cheapest_decision_comes_first(tmp_path):
    """The order on graphs takes 200 trials more of each; the change between settings many more."""
    seen = []
    decided(tmp_path, claims=[SAME, ORDER], seen=seen)
    assert seen[0][0][0] in (ORDER.text, NUMBER.where)
    assert [used for _, used in seen] == sorted(used for _, used in seen)


def test_blocks_of_samples_are_new_trials_on_a_line_and_new_graphs_elsewhere():
    for number in (0, 1, 5):
        tasks = added_samples.block(LINE, "TS", number)
        trials = [trial for task in tasks for trial in range(task.first, task.last)]
        assert trials == list(range(100 * number, 100 * number + 100))
        assert {task.graph for task in tasks} == {0} and {task.policy for task in tasks} == {"TS"}
    tasks = added_samples.block(GRAPHS, "TS", 3)
    assert [(t.graph, t.first, t.last) for t in tasks] == [(g, 0, 20) for g in range(30, 40)]
    alike = replace(GRAPHS, density="1")
    assert {t.last for t in added_samples.block(alike, "TS", 3)} == {40}  # graphs are all alike
    # The paper's own are the tasks of the study itself.
    law = "law"
    own = {task.key(law) for task in cut([GRAPHS]) if task.policy == "TS"}
    assert {task.key(law) for task in added_samples.block(GRAPHS, "TS", 0)} == own
    assert added_samples.trials_of(LINE, 4) == 400
    assert added_samples.trials_of(GRAPHS, 4) == 400 + 3 * 10 * 20
    assert added_samples.trials_of(alike, 4) == 1600


def test_samples_grow_fourfold_where_a_block_takes_but_seconds():
    """10 graphs of 20 trials, or 100 trials, by the model."""
    assert GRAPHS.seconds_a_trial("TS") * 200 < 5 and added_samples.growth(GRAPHS) == 4
    many = replace(GRAPHS, n_arms=1000)
    assert many.seconds_a_trial("TS") * 200 > 5 and added_samples.growth(many) == 2
    assert [added_samples.size_at(GRAPHS, look) for look in (-1, 0, 1, 7)] == [0, 1, 4, 4**7]
    assert [added_samples.size_at(many, look) for look in (-1, 0, 1, 7)] == [0, 1, 2, 128]


def test_every_question_of_the_paper_has_a_name_of_its_own_and_a_margin():
    asked = {one for claim in CLAIMS for one in claim.rule.comparisons}
    assert (
        len({one.key for one in asked} | {n.key for n in interim_estimates.all_numbers()})
        <= len(asked) + 114
    )
    assert all(one.margin > 0 for one in asked)
    assert all(claim.rule.margins.startswith("± ") for claim in CLAIMS)
    assert len(interim_estimates.all_numbers()) == 114
