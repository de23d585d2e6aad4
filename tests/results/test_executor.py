"""simulate on an executor: the same bytes in blocks of any size, and clear about mistakes."""

import itertools
import multiprocessing
import os
import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import unimodal as um
from unimodal.engines import runner
from unimodal.results import trial_blocks
from unimodal.results.trial_blocks import Block, Blocks

PROBLEM = um.problems.triangular(9)
BOTH = [um.UTS(), um.OSUB()]


def bytes_of(result):
    return {
        (name, key): (array.dtype, array.shape, array.tobytes())
        for name, run in result.items()
        for key, array in run.arrays().items()
    }


class AtOnce(Executor):
    """Does what it is given, in this process but after a journey through pickle."""

    _max_workers = 2

    def __init__(self):
        self.blocks = []

    def submit(self, work, block):
        future = Future()
        self.blocks.append(block)
        work, block = pickle.loads(pickle.dumps((work, block)))
        future.set_result(pickle.loads(pickle.dumps(work(block))))
        return future


@pytest.mark.parametrize(
    "options",
    [
        {"horizon": 3000, "trials": 23},
        {"horizon": 60, "trials": 23, "history": True},
        {"horizon": 150, "trials": 9, "stop": um.Certified(0.5), "history": True},
    ],
)
def test_an_executor_gives_the_bytes_of_one_thread(options):
    one = um.simulate(PROBLEM, BOTH, seed=1, workers=1, **options)
    sent = AtOnce()
    assert bytes_of(um.simulate(PROBLEM, BOTH, seed=1, executor=sent, **options)) == bytes_of(one)
    assert any(block.last - block.first > 1 for block in sent.blocks)
    with ThreadPoolExecutor(3) as pool:
        found = um.simulate(PROBLEM, BOTH, seed=1, executor=pool, **options)
    assert bytes_of(found) == bytes_of(one)


def test_processes_give_the_bytes_of_one_thread():
    one = um.simulate(PROBLEM, BOTH, horizon=3000, trials=23, seed=1, workers=1)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = um.simulate(PROBLEM, BOTH, horizon=3000, trials=23, seed=1, executor=pool)
        assert bytes_of(found) == bytes_of(one)
        assert bytes_of(found.rerun(executor=pool)) == bytes_of(one)
        some = um.simulate(PROBLEM, BOTH, horizon=3000, trials=20, seed=1, executor=pool)
        assert bytes_of(some.extend(3, executor=pool)) == bytes_of(one)


def test_what_is_sent_stays_read_only_so_that_nothing_is_compiled_again():
    for problem in (PROBLEM, um.problems.drifting_line(9, 100, 0.01)):
        assert problem.gaps is not None and problem.graph.max_degree == 2  # computed, and kept
        copy = pickle.loads(pickle.dumps(problem))
        for one in (copy, copy.graph):
            arrays = [value for value in vars(one).values() if isinstance(value, np.ndarray)]
            assert arrays and not any(array.flags.writeable for array in arrays)
        assert "gaps" not in vars(copy) and (copy.gaps == problem.gaps).all()
        assert copy.graph.labels == problem.graph.labels


def played(blocks, seconds_a_trial):
    """Plays blocks one by one and says how long they took."""
    made = []
    for block in blocks:
        made.append(block)
        blocks.took(block, (block.last - block.first) * seconds_a_trial[block.policy])
    return made


def test_blocks_take_a_few_seconds_and_every_trial_is_in_one():
    made = played(Blocks(2, 10_000, most=10**6, workers=lambda: 4), [0.01, 1.5])
    for policy, longest in ((0, 400), (1, 2)):
        mine = [block for block in made if block.policy == policy]
        assert [row for block in mine for row in range(block.first, block.last)] == list(
            range(10_000)
        )
        sizes = [block.last - block.first for block in mine]
        assert max(sizes) == longest  # 4 s, at most
        assert sizes[0] == 1 and all(b <= 4 * a for a, b in itertools.pairwise(sizes))


def test_the_first_block_which_compiles_does_not_keep_later_ones_small():
    blocks = Blocks(1, 1000, most=10**6, workers=lambda: 1)
    blocks.took(Block(0, 0, 1), 30.0)
    made = iter(blocks)
    assert next(made) == (0, 0, 1)
    blocks.took(Block(0, 0, 1), 0.01)
    assert next(made) == (0, 1, 5)
    blocks.took(Block(0, 1, 5), 0.04)
    blocks.took(Block(0, 0, 1), 0.01)  # late news of a small one does not shrink them
    assert next(made) == (0, 5, 21)


def test_near_the_end_blocks_get_shorter_so_that_workers_end_together():
    made = played(Blocks(1, 1000, most=10**6, workers=lambda: 8), [1e-6])
    sizes = [block.last - block.first for block in made]
    assert max(sizes) <= 1000 / 16 and sizes[-16:] == [1] * 16


def test_a_block_sends_back_no_more_than_memory_holds(monkeypatch):
    monkeypatch.setattr(trial_blocks, "_MOST_BYTES", 3 * 8 * (4 + 9))
    sent = AtOnce()
    um.simulate(PROBLEM, um.UTS(), horizon=50, trials=60, checkpoints=[2, 3, 4], executor=sent)
    assert max(block.last - block.first for block in sent.blocks) == 3


class Dies(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        os._exit(1)


class Fails(um.Policy):
    def choose(self, arms, near, leader, clock, rng):
        raise RuntimeError("mine")


@pytest.mark.full
def test_a_process_that_dies_for_ever_gets_a_sentence():
    fork = multiprocessing.get_context("fork")
    with (
        ProcessPoolExecutor(1, fork) as pool,
        pytest.raises(um.UnimodalError, match=r"takes no more work .*make a new one"),
    ):
        um.simulate(PROBLEM, Dies(), horizon=10, trials=2, executor=pool)


def test_an_error_in_a_block_comes_out():
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(um.UnimodalError, match="Fails raised RuntimeError: mine"),
    ):
        um.simulate(PROBLEM, Fails(), horizon=10, trials=2, executor=pool)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": "dask"}, "must be a concurrent.futures.Executor, .*get_executor"),
        ({"executor": AtOnce(), "workers": 2}, "give one of them, or none"),
        ({"executor": AtOnce(), "trials": 0}, "'trials' must be"),
    ],
)
def test_bad_input_gets_a_sentence(options, words):
    with pytest.raises(um.UnimodalError, match=words) as caught:
        um.simulate(PROBLEM, um.UTS(), **{"horizon": 10, "trials": 2} | options)
    assert "\n" not in str(caught.value)


def test_tasks_of_studies_and_of_simulations_have_one_length():
    from unimodal.studies import tasks

    assert tasks.TASK_SECONDS is runner.TASK_SECONDS
