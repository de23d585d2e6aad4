"""What simulated histories have found, each as a test of its own."""

from types import SimpleNamespace

import unimodal as um
from unimodal.campaigns import snapshots
from unimodal.testing.simulation.memory import MemoryPlace


class HeldThread:
    """A thread that only does its work when it is asked to."""

    def __init__(self, target, args, **_):
        self.work = lambda: target(*args)

    def start(self):
        HeldThread.last = self

    def is_alive(self):
        return True

    def join(self):
        pass


def test_a_fail_over_between_two_transactions_of_a_background_snapshot_loses_no_reward(monkeypatch):
    """It loses one in which rewards were found, and no event by which that could be seen."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 12)
    monkeypatch.setattr(snapshots, "_REWARDS", 5)
    monkeypatch.setattr(snapshots, "threading", SimpleNamespace(Thread=HeldThread))
    place = MemoryPlace("prices")
    campaign = um.Campaign.open(place, um.UTS(), um.graphs.line(3), um.Bounded(0, 1), seed=1)
    for number in range(1, 10):
        campaign.reward(campaign.decide().id, number / 10)
    kept, found = place.now, []

    def fail_over(seconds):
        if place.now.rewards and not found:
            found.append(len(place.now.rewards))
            place.set_back(kept)

    monkeypatch.setattr(snapshots, "time", SimpleNamespace(sleep=fail_over))
    HeldThread.last.work()
    assert found == [2]
    assert [campaign.reward(number, number / 10) for number in range(1, 10)] == [False] * 9
    campaign.close()
    assert um.verify(place)
