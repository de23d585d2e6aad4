"""Parts of a simulation are merged to the bytes of one run, and other parts are refused by name."""

import json
from dataclasses import replace

import numpy as np
import pytest

import unimodal as um
from unimodal.results.result import law_of

PROBLEM = um.problems.triangular(5)
GIVEN = {"horizon": 60, "seed": 4, "workers": 1, "checkpoints": 7}


def part(first, trials, problem=PROBLEM, policies=None, **given):
    chosen = policies or [um.UTS(), um.OSUB()]
    return um.simulate(problem, chosen, first_trial=first, trials=trials, **{**GIVEN, **given})


def saved(result, folder):
    return result.save(folder / "result.parquet").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"history": True},
        {"engine": "leap"},
        {"stop": um.Certified(0.9)},
        {"problem": um.problems.drifting_line(5, 60, 0.02)},
        {"problem": um.problems.triangular(5, family=um.Bounded(0, 2))},
        {"policies": [um.Restarting(um.UTS())]},
    ],
    ids=str,
)
def test_parts_in_any_order_are_the_bytes_of_one_run(given, tmp_path):
    whole = part(0, 9, **given)
    parts = [part(4, 1, **given), part(5, 4, **given), part(0, 4, **given)]
    assert saved(um.merge(parts), tmp_path) == saved(whole, tmp_path)
    files = [one.save(tmp_path / f"{n}.parquet") for n, one in enumerate(parts)]
    assert saved(um.merge(map(um.load, files)), tmp_path) == saved(whole, tmp_path)


def test_a_merged_result_is_extended_run_again_and_merged_like_one_run(tmp_path):
    whole, merged = part(0, 8), um.merge([part(0, 2), part(2, 3)])
    assert saved(merged.extend(3, workers=1), tmp_path) == saved(whole, tmp_path)
    assert saved(um.merge([merged, part(5, 3)]), tmp_path) == saved(whole, tmp_path)
    assert saved(whole.rerun(), tmp_path) == saved(whole, tmp_path)
    late = um.merge([part(5, 1), part(6, 2)])
    assert late.numbers == range(5, 8) and late.trials()["trial"].unique().to_list() == [5, 6, 7]
    assert saved(late.rerun(), tmp_path) == saved(late, tmp_path)
    assert saved(part(5, 1).extend(2), tmp_path) == saved(late, tmp_path)
    assert repr(late) == "Result(UTS, OSUB: 3 trials (from number 5 on) of 60 rounds, seed 4)"


def test_one_part_is_itself_and_a_single_trial_is_a_part(tmp_path):
    assert saved(um.merge([part(3, 1)]), tmp_path) == saved(part(3, 1), tmp_path)
    assert um.merge([part(n, 1) for n in range(3)]).n_trials == 3


def test_a_part_says_in_its_file_which_trials_it_has(tmp_path):
    late = um.load(part(5, 2).save(tmp_path / "late.parquet"))
    assert (late.first_trial, late.law) == (5, law_of(PROBLEM, [um.UTS()]))
    assert "first_trial" not in part(0, 2).to_data()  # as before there were parts


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: part(2, 2, seed=5), r"same seed.* differ in it \(4 and 5\)"),
        (lambda: part(2, 2, engine="step"), r"same engine.*\('auto' and 'step'\)"),
        (lambda: part(2, 2, horizon=61), "same checkpoints"),
        (lambda: part(2, 2, history=True), "same history"),
        (lambda: part(2, 2, stop=um.Certified(0.9)), "same rule for stopping"),
        (lambda: part(2, 2, problem=um.problems.triangular(5, high=0.8)), "same problem"),
        (lambda: part(2, 2, problem=um.problems.drifting_line(5, 60, 0.02)), "same problem"),
        (lambda: part(2, 2, policies=[um.UTS()]), "same policies"),
        (lambda: part(2, 2, policies=[um.OSUB(), um.UTS()]), "same policies"),
        (lambda: part(2, 2, policies=[um.UTS(period=2, name="UTS"), um.OSUB()]), "same policies"),
        (lambda: replace(part(2, 2), law="0123"), "same sources of unimodal"),
        (lambda: part(1, 2), "both have the trials 1 to 1: leave one"),
        (lambda: part(0, 2), "both have the trials 0 to 1"),
        (lambda: part(0, 1), "both have the trials 0 to 0"),
        (lambda: part(4, 2), "from 2 to 3 are missing between .* first_trial=2 and trials=2"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused_by_name(other, said):
    with pytest.raises(um.UnimodalError, match=said) as error:
        um.merge([part(0, 2), other()])
    assert "the result of trials 0 to " in str(error.value)


def test_what_is_no_list_of_results_is_refused():
    for wrong in ([], 7, "results", part(0, 1), [part(0, 1), "x"], None):
        with pytest.raises(um.UnimodalError, match=r"^merge needs"):
            um.merge(wrong)


@pytest.mark.parametrize("first", [-1, 0.5, "x", None, True, 10**9 + 1])
def test_a_first_trial_is_a_whole_number(first):
    with pytest.raises(um.UnimodalError, match="'first_trial' must be"):
        part(first, 1)


def test_a_file_that_does_not_say_its_sources_is_read_and_not_merged(tmp_path):
    old = replace(part(0, 2), law="")
    again = um.load(old.save(tmp_path / "old.parquet"))
    assert um.merge([again]).n_trials == 2
    with pytest.raises(um.UnimodalError, match="does not say which"):
        um.merge([again, replace(part(2, 2), law="")])
    assert again.extend(1).law == ""  # two of other sources, and one of these


def test_the_law_counts_the_file_of_a_policy_of_ones_own(tmp_path):
    source = "import unimodal as um\nclass Mine(um.Policy):\n"
    source += "    def scope(self, graph):\n        return um.EveryArm()\n"
    source += "    def index(self):\n        return um.UTS().index()\n"
    laws = []
    for number, more in enumerate(("", "# edited\n")):
        path = tmp_path / str(number) / "mine.py"
        path.parent.mkdir()
        path.write_text(source + more)
        policy = um.policies.parse(f"{path}:Mine")
        laws += [law_of(PROBLEM, [policy]), law_of(PROBLEM, [um.Windowed(policy, window=5)])]
    plain = law_of(PROBLEM, [um.UTS()])
    assert laws[0] == laws[1] != laws[2] == laws[3] and plain not in laws
    assert all(law.startswith(plain) for law in laws)


@pytest.mark.parametrize("data", [{"law": 7}, {"first_trial": -1}, {"first_trial": 4}])
def test_a_file_with_other_numbers_than_its_rows_is_damaged(data, tmp_path):
    import polars as pl

    path = part(5, 2).save(tmp_path / "part.parquet")
    about = json.loads(pl.read_parquet_metadata(path)["unimodal"]) | data
    pl.read_parquet(path).write_parquet(path, metadata={"unimodal": json.dumps(about)})
    with pytest.raises(um.UnimodalError):
        um.load(path)


def test_trials_of_a_part_are_those_of_one_run():
    """Of every array, so that a merge which mixed up rows would be seen."""
    whole, late = part(0, 6, history=True), part(4, 2, history=True)
    for name in whole:
        for key, values in late[name].arrays().items():
            assert np.array_equal(values, whole[name].arrays()[key][4:]), key
