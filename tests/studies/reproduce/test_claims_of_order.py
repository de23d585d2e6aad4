"""Claims that one policy is better than another, on findings that are made up for them.

For each claim this file says, from the paper's sentence and not from the code, which policies are
compared in which cells. Only those cells are given, so whoever looks elsewhere waits. All differ by
a little more than the 99 % interval of a paired difference; then one comparison after the other
is moved: to just inside of that interval, on either side, and just beyond it on the wrong side.
"""

import itertools

import numpy as np
import pytest

from unimodal.studies.reproduce.claims import CLAIMS

HOLDS, FAILS = "holds", "does not hold"
OPEN, WAITS = "undecided at this scale", "waits for runs not made at this scale"
DECIDE = {claim.text: claim.rule for claim in CLAIMS}
K = (5, 10, 20, 50, 100, 1000)
MOVED = [(0.998, OPEN), (-0.998, OPEN), (-1.002, FAILS)]


def ordered(experiment, p, sizes, *names):
    """Each policy better than the next, at every size."""
    return [((experiment, k, p), *pair) for k in sizes for pair in itertools.pairwise(names)]


def best(cells, name):
    return [
        (cell, name, rival)
        for cell in cells
        for rival in ("KLUCB", "TS", "OSUB", "UTS")
        if rival != name
    ]


def worst(cells, name):
    return [(cell, better, worse) for cell, worse, better in best(cells, name)]


COMPARED = {
    "UTS has the smallest regret in every case but K = 1000, line": best(
        [
            ("Table 2", k, p)
            for p in ("1", "1/2", "log(K)/K", "line")
            for k in K
            if not (p == "line" and k == 1000)
        ],
        "UTS",
    ),
    "p = 1/2: the order is UTS, TS, OSUB, KLUCB at every K": ordered(
        "Table 2", "1/2", K, "UTS", "TS", "OSUB", "KLUCB"
    ),
    "p = 0.1: OSUB better than TS for K ≥ 10": ordered("Table 3", "0.1", K[1:], "OSUB", "TS"),
    "p = 0.1: TS better than OSUB at K = 5": ordered("Table 3", "0.1", (5,), "TS", "OSUB"),
    "p = log(K)/K: UTS is best at every K": best([("Table 2", k, "log(K)/K") for k in K], "UTS"),
    "p = log(K)/K: KLUCB is worst at every K": worst(
        [("Table 2", k, "log(K)/K") for k in K], "KLUCB"
    ),
    **{
        f"{said}: TS better than OSUB for K ≤ 10": ordered("Table 2", p, (5, 10), "TS", "OSUB")
        for said, p in (("p = log(K)/K", "log(K)/K"), ("line", "line"))
    },
    **{
        f"{said}: OSUB better than TS for K ≥ 20": ordered(
            "Table 2", p, (20, 50, 100, 1000), "OSUB", "TS"
        )
        for said, p in (("p = log(K)/K", "log(K)/K"), ("line", "line"))
    },
    **{
        f"p = {p}, K = 1000: UTS is ahead at T = 10⁶": ordered(
            "Appendix B", p, (1000,), "UTS", "OSUB"
        )
        for p in ("5/K", "10/K")
    },
}


def cell_of(made, cell, compared, margins):
    """The findings of one cell: a margin is that by which the worse policy's mean is larger."""
    means = {}
    for (_, better, worse), margin in zip(compared, margins, strict=True):
        gap = margin * made.own_reach(better, worse)
        if worse in means:
            means[better] = means[worse] - gap
        else:
            means[worse] = means.setdefault(better, 500.0) + gap
    return [made.finding(cell, name, units) for name, units in made.paired(means).items()]


def worlds(made, compared):
    """Findings in which each comparison has a margin of 1.002 intervals, and one another."""
    by_cell = {cell: [one for one in compared if one[0] == cell] for cell, *_ in compared}
    just = {cell: cell_of(made, cell, ones, [1.002] * len(ones)) for cell, ones in by_cell.items()}

    def world(moved=None, margin=1.002):
        if moved is None:
            return [one for ones in just.values() for one in ones]
        cell = compared[moved][0]
        margins = [margin if one is compared[moved] else 1.002 for one in by_cell[cell]]
        changed = just | {cell: cell_of(made, cell, by_cell[cell], margins)}
        return [one for ones in changed.values() for one in ones]

    return world


@pytest.mark.parametrize("text", COMPARED)
def test_a_claim_of_order_is_decided_by_99_percent_in_its_cells_and_no_others(made, text):
    compared, decide = COMPARED[text], DECIDE[text]
    world = worlds(made, compared)
    assert decide(made.findings(world()))[0] == HOLDS
    for moved in range(len(compared)):
        for margin, word in MOVED:
            found = made.findings(world(moved, margin))
            assert decide(found)[0] == word, (compared[moved], margin)


@pytest.mark.parametrize("text", COMPARED)
def test_a_claim_of_order_waits_for_every_policy_of_every_cell(made, text):
    everything = worlds(made, COMPARED[text])()
    for missing in range(len(everything)):
        some = everything[:missing] + everything[missing + 1 :]
        assert DECIDE[text](made.findings(some))[0] == WAITS, everything[missing].setting


# The rounds at which regrets of 10⁷ rounds are kept, nearest to 10⁵: 60 equal factors.
NEAR = round(10 ** (7 * 43 / 60))
ALONG = {
    "UTS is best along the whole horizon, K = 17": (17, 18),
    "UTS is best along the whole horizon, K = 129": (129, 147),
}
AHEAD = {
    **{
        f"Δ = 0.001, K = {k}: OSUB is ahead at T = 10⁵": (k, high, "OSUB", "UTS", NEAR)
        for k, high in ((17, 0.108), (129, 0.165))
    },
    **{
        f"Δ = {step}, K = {k}: {winner} is ahead at T = 10⁷": (k, high, winner, loser, 10**7)
        for k, step, high, winner, loser in (
            (17, 0.001, 0.108, "OSUB", "UTS"),
            (17, 0.002, 0.116, "UTS", "OSUB"),
            (17, 0.005, 0.14, "UTS", "OSUB"),
            (129, 0.001, 0.165, "OSUB", "UTS"),
            (129, 0.002, 0.23, "OSUB", "UTS"),
            (129, 0.005, 0.425, "UTS", "OSUB"),
            (17, 0.001, 0.108, "UTS", "OSUB"),
            (129, 0.001, 0.165, "UTS", "OSUB"),
        )
    },
}


def test_these_are_all_claims_of_order():
    covered = {*COMPARED, *ALONG, *AHEAD}
    assert covered <= set(DECIDE) and len(covered) == 24
    assert len(DECIDE) - len(covered) == 14  # test_claims_of_ratios.py has the others


@pytest.mark.parametrize("text", ALONG)
def test_best_all_along_is_decided_at_every_checkpoint_after_the_sweep(made, text):
    k, first = ALONG[text]
    cell, rivals = ("Table 1", k, "triangle"), ("OSUB", "TS", "KLUCB")
    rounds = made.finding(cell, "UTS", made.base()).rounds
    assert rounds[rounds > k][0] == first and rounds[-1] == 10**5
    swept = rounds <= k

    def decided(at=None, name=None, margin=1.002, without=None):
        """UTS is worse in the sweep; later each rival has a margin, one another at one place."""
        means = {rival: 500.0 + 1.002 * made.own_reach("UTS", rival) for rival in rivals}
        curves = {
            policy: np.repeat(units[:, None], len(rounds), axis=1)
            for policy, units in made.paired({"UTS": 500.0, **means}).items()
        }
        curves["UTS"][:, swept] += 1000.0
        if at is not None:
            curves[name][:, rounds == at] += (margin - 1.002) * made.own_reach("UTS", name)
        return DECIDE[text](
            made.findings(
                made.finding(cell, policy, curve[:, 0], curve)
                for policy, curve in curves.items()
                if policy != without
            )
        )

    comparisons = 3 * int((rounds > k).sum())
    assert decided() == (HOLDS, f"{comparisons} of {comparisons} comparisons decided")
    for at in (first, int(rounds[-20]), 10**5):
        for rival in rivals:
            for margin, word in MOVED:
                assert decided(at, rival, margin)[0] == word, (at, rival, margin)
            assert decided(at, rival, -2.0)[1] == f"{rival} is ahead at t = {at:,}"
    for policy in ("UTS", *rivals):
        assert decided(without=policy)[0] == WAITS


def ahead(made, text, margin, at, horizon=10**7, without=None):
    """The verdict where the claimed winner has this margin at one round and loses elsewhere."""
    k, high, winner, loser, _ = AHEAD[text]
    cell = ("Appendix B", k, "triangle", high, horizon)
    samples = made.paired({winner: 500.0, loser: 100.0})
    rounds = made.finding(cell, winner, samples[winner]).rounds
    curves = {name: np.repeat(x[:, None], len(rounds), axis=1) for name, x in samples.items()}
    place = rounds == at
    assert place.sum() == 1
    curves[loser][:, place] += 400.0 + margin * made.own_reach(winner, loser)
    found = [
        made.finding(cell, name, curve[:, 0], curve)
        for name, curve in curves.items()
        if name != without
    ]
    return DECIDE[text](made.findings(found))


@pytest.mark.parametrize("text", AHEAD)
def test_who_is_ahead_on_a_long_line_is_decided_at_the_round_that_is_named(made, text):
    _, _, winner, _, at = AHEAD[text]
    word, note = ahead(made, text, 1.002, at)
    assert word == HOLDS
    assert note.startswith(f"{winner} 500 against 5") and note.endswith(f" at t = {at:,}")
    for margin, expected in MOVED:
        assert ahead(made, text, margin, at)[0] == expected, margin
    for policy in ("UTS", "OSUB"):
        assert ahead(made, text, 1.002, at, without=policy)[0] == WAITS


@pytest.mark.parametrize("text", AHEAD)
def test_a_long_line_that_ends_early_decides_what_lies_before_its_end(made, text):
    early = "10⁵" in text
    expected = HOLDS if early else WAITS
    assert ahead(made, text, 1.002, 10**5, horizon=10**6)[0] == expected
    if not early:
        assert ahead(made, text, 1.002, 10**6, horizon=10**6)[0] == WAITS


def test_what_is_found_is_said(made):
    """The notes: who was compared, and where the claim is not decided."""
    compared = COMPARED["p = 5/K, K = 1000: UTS is ahead at T = 10⁶"]
    found = made.findings(worlds(made, compared)(0, 20.0))
    note = DECIDE["p = 5/K, K = 1000: UTS is ahead at T = 10⁶"](found)[1]
    assert note == f"500.0 against {500 + 20 * made.own_reach('UTS', 'OSUB'):.1f}"
    text = "line: OSUB better than TS for K ≥ 20"
    world = worlds(made, COMPARED[text])
    assert DECIDE[text](made.findings(world(2, -2.0)))[1] == "K = 100: does not hold"
    assert DECIDE[text](made.findings(world()))[1] == "at K = 20, 50, 100, 1000"
    text = "p = log(K)/K: UTS is best at every K"
    found = made.findings(worlds(made, COMPARED[text])(3, 0.5))  # K = 10, against KLUCB
    note = "5 of 6 settings; K = 10, p = log(K)/K: undecided at this scale"
    assert DECIDE[text](found) == (OPEN, note)
