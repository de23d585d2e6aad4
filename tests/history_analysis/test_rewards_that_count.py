"""Which rewards an analysis counts: those up to a trial's own end; those of decisions."""

import numpy as np

import unimodal as um
from unimodal.history_analysis.replay.logged_rewards import read

LINE = um.graphs.line(3)


def test_each_trial_counts_up_to_its_own_end():
    """Trials end where they are certified, and no two of these in the same round."""
    problem = um.Problem(LINE, [0.2, 0.8, 0.3])
    settings = {"horizon": 300, "trials": 4, "seed": 2, "history": True, "progress": False}
    result = um.simulate(problem, um.UniTT(), stop=um.Certified(0.5), **settings)
    run = result["UniTT"]
    assert len(set(run.stopped.tolist())) == 4
    for trial in range(4):
        arms, rewards = run.arms[trial], run.rewards[trial]
        totals = [rewards[arms == arm].sum() for arm in range(3)]
        expected = um.second_peaks(LINE, run.pulls[trial], totals, confidence=0.5)
        assert um.second_peaks(result, trial=trial, confidence=0.5) == expected


def test_a_replay_counts_no_reward_that_was_told_without_a_decision(tmp_path):
    with um.Campaign.open(tmp_path / "told.db", um.UTS(), LINE, seed=1) as campaign:
        campaign.tell([2] * 5, [1.0] * 5)
        decided = np.zeros(3)
        for _ in range(6):
            decision = campaign.decide()
            campaign.reward(decision.id, 1.0)
            decided[decision.arm] += 1
        log = read(campaign)
    assert log.pulls.tolist() == log.totals.tolist() == decided.tolist()
    assert any("5 rewards that were told without a decision" in note for note in log.notes)
