"""What tests of campaigns share: a path, and ways to start, go on and play there."""

import pytest

import unimodal as um
from unimodal.campaigns.stores import as_place, kind_of
from unimodal.campaigns.stores.retrying import in_transaction

LINE = um.graphs.line(7)
QUICK = {"durability": "fast", "clock": lambda: 0.0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "campaign.db"


@pytest.fixture
def start(path):
    """A new campaign of UTS with seed 4."""

    def opened(graph=LINE, **named):
        return um.Campaign.open(path, um.UTS(), graph, **{"seed": 4, **QUICK, **named})

    return opened


@pytest.fixture
def reopen(path):
    """The campaign again, with what is given to compare."""
    return lambda **named: um.Campaign.open(path, **{**QUICK, **named})


@pytest.fixture
def value_of():
    """A reward for each decision, the same in every run."""
    return lambda number: float(number * 7919 % 10 < 4)


@pytest.fixture
def play(value_of):
    """Decide some times, then tell all rewards; the decisions."""

    def played(campaign, rounds):
        decisions = [campaign.decide() for _ in range(rounds)]
        for decision in decisions:
            campaign.reward(decision.id, value_of(decision.id))
        return decisions

    return played


@pytest.fixture
def pulls():
    """The pulls of each arm that has some or has led."""

    def counted(campaign):
        frame = campaign.arms()
        return dict(zip(frame["arm"], frame["pulls"], strict=True))

    return counted


@pytest.fixture
def in_store():
    """Do something in a transaction of a campaign's store, in a file or on a server."""

    def done(path, work):
        place = as_place(path, "the path of a campaign")
        store = kind_of(place).open_store(place, "fast", 60)
        try:
            return in_transaction(store, lambda: work(store))
        finally:
            store.close()

    return done
