"""Several threads, campaigns and processes on one file."""

import os
import subprocess
import sys
import threading
import time
from collections import deque

import pytest

import unimodal as um
from unimodal.campaigns import group_commit, look, verify, writer
from unimodal.campaigns.group_commit import Call, GroupCommit
from unimodal.campaigns.stores.sqlite import file_locks as locks


def done(group):
    """Do a call that does nothing; its result, or its error is raised."""
    call = Call(lambda state: None)
    group([call])
    if call.error is not None:
        raise call.error
    return call.result


LINE = um.graphs.line(7)


def test_two_campaigns_of_one_process_share_the_file(path, start, reopen, value_of):
    one, other = start(), reopen()
    agent = um.Agent(um.UTS(), LINE, seed=4, clock=lambda: 0.0)
    for turn in range(60):
        decision = (one, other)[turn % 2].decide()
        assert decision == agent.decide()
        if turn % 3:
            told = (one, other)[turn // 2 % 2].reward(decision.id, value_of(turn))
            assert told == agent.reward(decision.id, value_of(turn))
            assert (one, other)[turn % 2].reward(decision.id, value_of(turn)) is False
    assert one.arms().equals(agent.arms()) and other.arms().equals(agent.arms())
    assert one.outstanding == other.outstanding == agent.outstanding == 20
    one.close()
    other.close()
    assert bool(verify(path))


WORKER = """
import sys, unimodal as um
number, path = int(sys.argv[1]), sys.argv[2]
campaign = um.Campaign.open(path, um.UTS(), um.graphs.line(7), seed=4, durability="fast")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(60):
    decision = campaign.decide()
    assert campaign.reward(decision.id, float(decision.id * 7919 % 10 < 4)) is True
    print(decision.id, decision.arm)
campaign.close()
"""


def test_two_processes_share_the_file(path):
    """They open at the same moment a file that is not there, and decide in turns as they come."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(number), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    found = []
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        lines, _ = worker.communicate(timeout=60)
        assert worker.returncode == 0
        found += [tuple(map(int, line.split())) for line in lines.splitlines()]
    assert sorted(number for number, _ in found) == list(range(1, 121))
    log = look(path).history()
    made = log.filter(log["kind"] == "decide")
    assert dict(found) == dict(zip(made["decision"], map(int, made["arm"]), strict=True))
    assert bool(verify(path))


def test_threads_share_a_campaign(path, start, pulls, value_of):
    campaign = start()
    counted, failures = [], []

    def work(number):
        try:
            for _ in range(40):
                decision = campaign.decide()
                value = value_of(decision.id)
                told = [campaign.reward(decision.id, value) for _ in range(2)]
                counted.append((decision.id, told))
                campaign.history() if number == 0 else campaign.arms()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(number for number, _ in counted) == list(range(1, 241))
    assert all(told == [True, False] for _, told in counted)
    assert sum(pulls(campaign).values()) == 240 and campaign.outstanding == 0
    campaign.close()
    assert bool(verify(path))


def test_threads_that_tell_the_same_reward_count_it_once(path, start, pulls, value_of):
    campaign = start()
    ids = [decision.id for decision in campaign.decide(30)]
    told, barrier = [], threading.Barrier(5)

    def work():
        for number in ids:
            barrier.wait()
            told.append(campaign.reward(number, value_of(number)))

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(told) == 30 and len(told) == 150
    assert sum(pulls(campaign).values()) == 30
    campaign.close()
    assert bool(verify(path))


def test_a_mistake_of_one_thread_is_not_one_of_the_others(path, start):
    campaign = start()
    campaign.decide(100)
    errors, counted = [], []

    def work(wrong):
        for number in range(1, 51):
            try:
                counted.append(campaign.reward(number + 1000 * wrong, 1.0))
            except um.UnimodalError as error:
                errors.append((wrong, str(error)))

    threads = [threading.Thread(target=work, args=(wrong,)) for wrong in (0, 1, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted == [True] * 50
    assert len(errors) == 100 and all(wrong and "no decision" in text for wrong, text in errors)
    campaign.close()
    assert bool(verify(path))


def test_a_call_that_an_interrupted_thread_took_along_is_not_acknowledged():
    """Ctrl-C the instant after calls of other threads were taken out of the queue."""

    class Interrupted(deque):
        times = 1

        def popleft(self):
            call = super().popleft()
            if self.times:
                self.times -= 1
                raise KeyboardInterrupt
            return call

    def commit(calls):
        committed.extend(calls)
        arrived.set()
        assert go_on.wait(20)

    group, committed = GroupCommit(commit), []
    arrived, go_on = threading.Event(), threading.Event()
    answers = []

    def call():
        try:
            answers.append(done(group))
        except um.UnimodalError as error:
            answers.append(str(error))

    def interrupted():
        with pytest.raises(KeyboardInterrupt):
            done(group)

    threads = [threading.Thread(target=target) for target in (call, interrupted, call)]
    for number, thread in enumerate(threads):
        thread.start()
        assert arrived.wait(20)
        while len(group._waiting) < number:
            time.sleep(0.001)
    group._waiting = Interrupted(group._waiting)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert sorted(answers, key=str) == [
        None,
        "a call was interrupted, so that it may not have been kept: call again.",
    ]
    assert len(committed) == 1 and group._server is None and not group._waiting
    assert done(group) is None  # and the next one is served


def test_calls_that_arrive_during_a_commit_share_the_next_one():
    """So a call waits for at most one commit besides its own, however many threads there are."""
    sizes, arrived, go_on = [], threading.Event(), threading.Event()

    def commit(calls):
        sizes.append(len(calls))
        arrived.set()
        assert go_on.wait(20)

    group = GroupCommit(commit)
    threads = [threading.Thread(target=group, args=([Call(print)],)) for _ in range(9)]
    for number, thread in enumerate(threads):
        thread.start()
        assert arrived.wait(20)
        while len(group._waiting) < number:
            time.sleep(0.001)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert sizes == [1, 8]


def test_a_thread_interrupted_while_it_waits_holds_nobody_up(monkeypatch):
    """Ctrl-C while a thread sleeps, whether or not it is the one that has to commit next."""
    for woken in (False, True):
        served, arrived, go_on = [], threading.Event(), threading.Event()

        def commit(calls, served=served, arrived=arrived, go_on=go_on):
            served.extend(calls)
            arrived.set()
            assert go_on.wait(20)

        def sleep(call, seconds=-1, go_on=go_on, woken=woken):
            if woken:
                go_on.set()
                call.signal.acquire()  # as if Ctrl-C came the instant after it was woken
            raise KeyboardInterrupt

        group = GroupCommit(commit)
        first = threading.Thread(target=group, args=([Call(print)],))
        first.start()
        assert arrived.wait(20)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(group_commit._Ticket, "sleep", sleep)
            group([Call(print)])
        go_on.set()
        first.join(20)
        last = threading.Thread(target=group, args=([Call(print)],), daemon=True)
        last.start()
        last.join(20)
        assert len(served) == 2 and not last.is_alive()


def test_an_interruption_of_a_shared_commit_acknowledges_nobody():
    """Ctrl-C is that of the thread that commits; who waited for it is told to call again."""
    inside, free, outcomes = threading.Event(), threading.Event(), []

    def commit(calls):
        if len(calls) == 2:
            raise KeyboardInterrupt
        inside.set()
        assert free.wait(60)

    def call():
        try:
            outcomes.append(done(group))
        except (KeyboardInterrupt, um.UnimodalError) as error:
            outcomes.append(str(error) or "Ctrl-C")

    group = GroupCommit(commit)
    threads = [threading.Thread(target=call) for _ in range(3)]
    threads[0].start()
    assert inside.wait(60)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(group._waiting) < number:
            time.sleep(0.001)
    free.set()
    for thread in threads:
        thread.join(60)
    told = "a call was interrupted, so that it may not have been kept: call again."
    assert sorted(outcomes, key=str) == sorted([None, "Ctrl-C", told], key=str)


def test_a_campaign_called_from_within_is_refused_instead_of_waiting_for_itself(path):
    def neighbours(arm):
        with pytest.raises(um.UnimodalError) as refused:
            campaign.reward(1, 1.0)
        heard.append(str(refused.value))
        return [arm - 1, arm + 1]

    heard = []
    campaign = um.Campaign.open(path, graph=neighbours, root=0, durability="fast")
    campaign.decide(3)
    assert "from within" in heard[0]
    campaign.close()
    assert bool(verify(path))


def test_a_campaign_closed_from_within_is_refused(path):
    """As by a signal handler: it would wait for itself."""
    heard = []

    def clock():
        if campaign is not None:
            with pytest.raises(um.UnimodalError) as refused:
                campaign.close()
            heard.append(str(refused.value))
        return 0.0

    campaign = None
    campaign = um.Campaign.open(path, um.UTS(), LINE, durability="fast", clock=clock)
    assert campaign.decide().id == 1 and "from within" in heard[0]
    campaign.close()
    assert bool(verify(path))


def test_closing_waits_for_calls_and_refuses_those_that_come_later(path):
    """SQLite crashes the process if a connection is closed while another thread is inside."""
    for _ in range(20):
        campaign = um.Campaign.open(path, um.UTS(), LINE, durability="fast")
        told, sentences = [], []

        def work(campaign=campaign, told=told, sentences=sentences):
            try:
                while True:
                    decision = campaign.decide()
                    told.append((decision.id, campaign.reward(decision.id, 1.0)))
            except um.UnimodalError as error:
                sentences.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.003)
        campaign.close()
        for thread in threads:
            thread.join(20)
        assert len(sentences) == 4 and all("was closed here" in each for each in sentences)
        assert verify(path).wrong == []
        with um.Campaign.open(path) as campaign:
            assert not any(campaign.reward(number, 1.0) for number, _ in told)


def test_a_reward_that_shares_its_commit_with_a_close_is_known_afterwards(path, start, reopen):
    campaign = start()
    number = campaign.decide().id
    group = campaign._writer._group
    calls = (lambda: campaign.reward(number, 1.0), campaign.close)
    threads = [threading.Thread(target=call) for call in calls]
    assert group.hold()  # somebody else commits just now
    for waiting, thread in enumerate(threads, 1):
        thread.start()
        while len(group._waiting) < waiting:
            time.sleep(0.001)
    group.release()
    for thread in threads:
        thread.join(20)
    assert verify(path).wrong == []
    assert reopen().reward(number, 1.0) is False


def test_it_can_be_printed_from_within(path):
    printed = []

    def neighbours(arm):
        printed.append(repr(campaign))
        return [arm - 1, arm + 1]

    with um.Campaign.open(path, graph=neighbours, root=0) as campaign:
        campaign.decide(3)
    assert set(printed) == {f"Campaign({str(path)!r})"}


@pytest.mark.parametrize("told_first", ["news", "what the other told", "what the other decided"])
def test_who_thinks_it_is_alone_notices_another(path, told_first):
    """Alone, a reward is written without a look at what others wrote: its number gives it away."""
    one = um.Campaign.open(path, um.UTS(), um.graphs.line(5), durability="fast")
    ids = [decision.id for decision in one.decide(100)]
    for decision in ids[:50]:
        one.reward(decision, 1.0)
    assert one._writer._undisturbed >= writer._ALONE
    two = um.Campaign.open(path, durability="fast")
    two.reward(ids[60], 1.0)
    new = two.decide().id
    expected = {"news": (ids[70], True), "what the other told": (ids[60], False)}
    decision, counts = expected.get(told_first, (new, True))
    assert one.reward(decision, 1.0) is counts
    with pytest.raises(um.UnimodalError, match="has the reward 1 already"):
        one.reward(ids[60], 0.0)
    assert two.outstanding == one.outstanding == 101 - 51 - counts
    one.close()
    two.close()
    assert bool(verify(path))


def test_alone_and_with_expiries_the_state_is_kept(path):
    """What a reward lets expire is written with it, and the state need not be folded again."""
    now = [0.0]
    settings = {"time_to_live": 100.0, "on_expiry": "zero", "durability": "fast"}
    graph = um.graphs.line(5)
    with um.Campaign.open(path, um.UTS(), graph, clock=lambda: now[0], **settings) as campaign:
        for _ in range(60):
            campaign.reward(campaign.decide().id, 1.0)
        late = [decision.id for decision in campaign.decide(3)]
        now[0] = 50.0
        kept = campaign.decide().id
        machine = campaign._writer._fold
        now[0] = 120.0
        assert campaign.reward(kept, 1.0) is True and campaign.outstanding == 0
        assert campaign._writer._fold is machine
        with pytest.raises(um.UnimodalError, match="expired"):
            campaign.reward(late[0], 1.0)
    assert bool(verify(path))


def test_processes_write_in_the_order_in_which_they_came(tmp_path):
    path = tmp_path / "file"
    path.touch()
    # Each with a description of its own, as processes have: its locks keep the others out.
    files = [locks.OpenFile(os.open(path, os.O_RDWR), (0, number)) for number in range(4)]
    assert files[0].begin_to_write(1.0)
    order, waiting = [], []

    def write(number):
        assert files[number].begin_to_write(30.0)
        order.append(number)
        files[number].end_to_write()

    for place, number in enumerate((2, 1, 3), start=1):
        waiting.append(threading.Thread(target=write, args=(number,)))
        waiting[-1].start()
        until = time.monotonic() + 30
        while files[0]._lock(locks._WRITE + place):  # until that one has its place in the queue
            files[0]._unlock(locks._WRITE + place)
            assert time.monotonic() < until
    files[0].end_to_write()
    for thread in waiting:
        thread.join()
    assert order == [2, 1, 3]
    assert files[0].begin_to_write(0.0) and not files[3].begin_to_write(0.0)
