"""The loop that hands work to threads or to an executor."""

import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from unimodal.engines import runner
from unimodal.engines.runner import OnSameSources, cores, run, workers_of
from unimodal.errors import UnimodalError


class Pretended(Executor):
    """An executor of so many workers, which does nothing until it is told to."""

    def __init__(self, workers):
        self._max_workers, self.waiting, self.most = workers, [], 0

    def submit(self, work, task):
        future = Future()
        self.waiting.append((future, work, task))
        self.most = max(self.most, len(self.waiting))
        return future

    def work_off(self):
        for future, work, task in self.waiting:
            try:
                future.set_result(work(task))
            except Exception as error:
                future.set_exception(error)
        self.waiting.clear()


def test_every_task_is_done_once_by_threads_and_by_an_executor():
    assert sorted(run(range(100), lambda n: n * n, workers=3)) == [(n, n * n) for n in range(100)]
    with ThreadPoolExecutor(3) as pool:
        found = sorted(run(range(100), lambda n: n * n, executor=pool))
    assert found == [(n, n * n) for n in range(100)]


def test_tasks_in_flight_follow_the_executor_s_workers_and_not_this_machine():
    pool = Pretended(workers=50)
    assert len(list(run(range(1000), str, executor=pool, tick=pool.work_off))) == 1000
    assert pool.most == 250
    few = Pretended(workers=1)
    assert len(list(run(range(20), str, executor=few, tick=few.work_off))) == 20
    assert few.most == 5


def test_a_cluster_that_grows_gets_more():
    class Client:
        def ncores(self):
            return {"one": 2, "two": 4}

    class Cluster(Pretended):
        _client = Client()

    assert workers_of(Cluster(1)) == 6
    assert workers_of(object()) == cores()


class Asked:
    """A Dask client that counts how often it is asked for its workers."""

    def __init__(self, *cores):
        self.cores, self.times = cores, 0

    def ncores(self):
        self.times += 1
        return dict(enumerate(self.cores))


def test_a_cluster_is_asked_every_two_seconds_and_not_at_every_loop(monkeypatch):
    now, pool = [100.0], Pretended(1)
    pool._client = Asked(1, 1)
    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])
    assert len(list(run(range(50), str, executor=pool, tick=pool.work_off))) == 50
    assert (pool.most, pool._client.times) == (10, 1)
    pool._client.cores = (4,) * 3
    now[0] += 1.9
    assert workers_of(pool) == 2
    now[0] += 0.1
    assert (workers_of(pool), pool._client.times) == (12, 2)


def test_a_cluster_that_does_not_answer_gets_a_sentence():
    class Lost:
        def ncores(self):
            raise OSError("timed out")

    pool = Pretended(1)
    pool._client = Lost()
    with pytest.raises(UnimodalError, match=r"does not answer any more.*start it and run again"):
        list(run([1], str, executor=pool))


def test_a_task_that_fails_on_an_executor_is_tried_again_but_not_for_ever():
    pool, tries = Pretended(workers=2), []

    def fails_twice(task):
        tries.append(task)
        if task == 3 and tries.count(3) < 3:
            raise RuntimeError("a worker died")
        return task

    assert sorted(run(range(5), fails_twice, executor=pool, tick=pool.work_off))[3] == (3, 3)

    def fails(task):
        tries.append(task)
        raise RuntimeError("it is the task")

    tries.clear()
    with pytest.raises(RuntimeError, match="it is the task"):
        list(run([7], fails, executor=pool, tick=pool.work_off))
    assert tries == [7] * 4
    with pytest.raises(RuntimeError, match="it is the task"):  # here nobody's worker has died
        list(run([7], fails, workers=1))


def test_who_stops_early_gives_up_what_has_not_begun():
    begun, go_on = [], threading.Event()

    def work(task):
        begun.append(task)
        if task > 0:
            go_on.wait(30)

    running = run(range(100), work, workers=1)
    assert next(running) == (0, None)
    running.close()
    go_on.set()
    time.sleep(0.05)
    assert begun in ([0], [0, 1])


def test_a_sentence_of_ours_is_not_tried_again_on_an_executor():
    pool, tries = Pretended(workers=1), []

    def refuses(task):
        tries.append(task)
        raise UnimodalError("it will never do")

    with pytest.raises(UnimodalError, match="never do"):
        list(run([7], refuses, executor=pool, tick=pool.work_off))
    assert tries == [7]


def test_a_task_that_was_cancelled_elsewhere_is_handed_out_again():
    class Forgets(Pretended):
        def submit(self, work, task):
            future = super().submit(work, task)
            if self.forgotten < 2:
                self.forgotten += 1
                self.waiting.pop()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    pool = Forgets(workers=1)
    pool.forgotten = 0
    assert sorted(run(range(3), str, executor=pool, tick=pool.work_off))[0] == (0, "0")
    assert pool.forgotten == 2


def test_work_is_refused_where_the_sources_are_others():
    assert OnSameSources(str, runner.sources_here())(7) == "7"
    with pytest.raises(UnimodalError, match="another version of unimodal, Numba or NumPy"):
        OnSameSources(str, "others")(7)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module named 'mine'"), "a worker cannot import .*'mine'"),
        (AttributeError("Can't pickle local object 'f.<locals>.Mine'"), "at its top level"),
        (RuntimeError("mine"), "^mine$"),
    ],
)
def test_what_fails_because_it_is_sent_is_explained(error, words):
    def fails(task):
        raise error

    pool = Pretended(workers=1)
    with pytest.raises((UnimodalError, RuntimeError), match=words):
        list(run([7], fails, executor=pool, tick=pool.work_off))


def test_an_executor_that_is_shut_down_gets_a_sentence():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(UnimodalError, match=r"takes no more work .*make a new one"):
        list(run([7], str, executor=pool))
