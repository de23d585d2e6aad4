"""How many connections there may be, and which one makes room for another."""

from unimodal.service.limits import ServiceLimits
from unimodal.service.server.connection_limits import Connections


class One:
    """A connection that has waited since some time, or is being answered."""

    def __init__(self, since):
        self.waiting_since, self.dropped = since, False

    def drop(self):
        self.dropped = True


def test_the_longest_waiting_makes_room_and_who_is_answered_stays():
    connections = Connections(ServiceLimits(connections=4, connections_of_one=3))
    first = [One(5.0), One(None), One(3.0)]
    assert all(connections.enter(one, "a") for one in first)
    fourth = One(None)
    assert connections.enter(fourth, "a")
    assert [one.dropped for one in first] == [False, False, True]
    assert connections.enter(One(None), "a") and first[0].dropped
    assert not connections.enter(One(9.0), "a")  # all of its address are being answered
    assert connections.enter(One(8.0), "b")
    assert connections.descriptors() == (4, 0)
    fourth.waiting_since = 9.0
    assert connections.enter(One(1.0), "c")  # all are taken: who has the most makes room
    assert fourth.dropped and connections.descriptors()[0] == 4
    connections.leave(fourth, "a")  # when it has ended, which counts once
    assert connections.descriptors()[0] == 4


def test_there_is_room_below_the_descriptors(monkeypatch):
    for limit in (64, 256, 1024, 65536):
        monkeypatch.setattr("unimodal.descriptors.limit", lambda limit=limit: limit)
        for limits in (ServiceLimits(), ServiceLimits(connections=10**6)):
            connections = Connections(limits)
            assert 0 < connections.most_of_one < connections.most <= (limit - 32) // 2
