"""Commands ask for what they need of the log before they change anything, and are done again."""

import numpy as np
import pytest

import unimodal as um
from unimodal.campaigns import known_rewards
from unimodal.campaigns.commands.deciding import deciding
from unimodal.campaigns.commands.rewarding import rewarding, rewarding_each, telling
from unimodal.campaigns.events.keyed import key_digest
from unimodal.campaigns.log_questions import LastUseOf, LogNeeded, RewardOf
from unimodal.campaigns.lookup_requests import LookUpRequests
from unimodal.campaigns.settings import Settings
from unimodal.campaigns.state import State


@pytest.fixture
def state():
    """A state without a store, of a campaign with five decisions of which three are closed."""
    graph = um.graphs.line(3)
    settings = Settings(um.UTS(), graph).with_defaults()
    state = State(settings, lambda: 1.0, LookUpRequests(graph))
    deciding(5, False).work(state)
    for decision in (1, 2, 3):
        rewarding(decision, 1.0).work(state)
    return state


def unchanged(state, call):
    """What a call asks for; it must not have changed anything."""
    before = state.seq, len(state.news), state.text()
    with pytest.raises(LogNeeded) as needed:
        call.work(state)
    assert (state.seq, len(state.news), state.text()) == before
    return needed.value.questions


def test_a_reward_that_is_at_hand_is_not_asked_for(state):
    assert rewarding(2, 1.0).work(state) is False
    with pytest.raises(um.errors.ConflictingReward):
        rewarding(2, 0.0).work(state)


def test_rewards_of_closed_decisions_are_asked_for_together(state, monkeypatch):
    monkeypatch.setattr(known_rewards, "AT_HAND", 0)
    state.written()  # the log has them, and nobody else
    wanted = (RewardOf(1), RewardOf(3))
    ids = [1, 4, 3]
    for told in (ids, tuple(ids), np.array(ids)):
        assert unchanged(state, rewarding(told, [1.0, 0.0, 1.0])) == wanted
    assert unchanged(state, rewarding_each(ids, [1.0, 0.0, 1.0])) == wanted
    state.answers.update({RewardOf(1): 1.0, RewardOf(3): 0.0})
    told = rewarding_each(ids, [1.0, 0.0, 1.0]).work(state)
    assert told[:2] == [False, True] and isinstance(told[2], um.errors.ConflictingReward)
    assert [row.decision for row in state.news] == [4]


def test_a_key_is_looked_for_here_before_the_log_is_asked(state):
    digest = key_digest("visit 1")
    assert unchanged(state, deciding(1, False, digest)) == (LastUseOf(digest),)
    state.answers[LastUseOf(digest)] = None  # which is right until the key has been used
    made = deciding(1, False, digest).work(state)
    assert deciding(1, False, digest).work(state).decisions == made.decisions
    refused = deciding(2, False, digest).work(state)
    assert isinstance(refused, um.UnimodalError) and "n=1" in str(refused)


def test_a_state_needs_no_store(state):
    """Its rows make the same state again."""
    telling(0, 1.0).work(state)
    again = State(state.settings, lambda: 1.0, LookUpRequests(state.settings.graph))
    again.follow([tuple(row) for row in state.news])
    assert again.text() == state.text() and again.seq == state.seq == len(state.news)
