"""Claims about ratios of regrets, and about crossings, on findings that are made up for them.

As in test_claims_of_order.py: only the cells of a claim are given, and each ratio is put just on
one side and on the other of where the verdict changes.
"""

import numpy as np
import pytest

from unimodal.studies.reproduce.claims import CLAIMS

HOLDS, FAILS = "holds", "does not hold"
OPEN, WAITS = "undecided at this scale", "waits for runs not made at this scale"
DECIDE = {claim.text: claim.rule for claim in CLAIMS}
K = (5, 10, 20, 50, 100, 1000)

CONSTANT = {
    "p = 1/2: UTS/TS = 0.68 ± 0.03 at every K": ("UTS", "TS", 0.68, 0.03),
    "p = 1/2: UTS/OSUB = 0.47 ± 0.01 at every K": ("UTS", "OSUB", 0.47, 0.01),
    "p = 1/2: OSUB/KLUCB = 0.68 ± 0.03 at every K": ("OSUB", "KLUCB", 0.68, 0.03),
}
MOVES = {
    "p = log(K)/K: UTS/TS falls from 0.66 to 0.19": ("UTS", "TS", "log(K)/K", 0.66, 0.19),
    "p = log(K)/K: UTS/OSUB rises from 0.45 to 0.94": ("UTS", "OSUB", "log(K)/K", 0.45, 0.94),
    "line: UTS/TS falls from 0.58 to 0.18": ("UTS", "TS", "line", 0.58, 0.18),
    "line: UTS/OSUB rises from 0.45 to 1.00": ("UTS", "OSUB", "line", 0.45, 1.0),
}
FADES = {
    "p = 1: UTS slightly better than TS, less so as K grows": ("UTS", "TS"),
    "p = 1: OSUB slightly better than KLUCB, less so as K grows": ("OSUB", "KLUCB"),
}
SIDES = "On lines, from K = 17 to 129, UTS gains on TS and loses on OSUB"
SHRINK = {
    "K = 17: the smaller Δ, the better OSUB does relative to UTS": (17, (0.108, 0.116, 0.14)),
    "K = 129: the smaller Δ, the better OSUB does relative to UTS": (129, (0.165, 0.23, 0.425)),
}
CROSS = {
    "Δ = 0.001, K = 17: the two averages cross a number of times": (17, 0.108),
    "Δ = 0.001, K = 129: the two averages cross a number of times": (129, 0.165),
}


def test_these_are_all_claims_of_ratios_and_crossings():
    covered = {*CONSTANT, *MOVES, *FADES, SIDES, *SHRINK, *CROSS}
    assert covered <= set(DECIDE) and len(covered) == 14


def by_size(made, names, density, ratios, half_widths, level=0.95):
    """Two policies at every K, with these ratios and half of their intervals."""
    found = []
    for k, ratio, half_width in zip(K, ratios, half_widths, strict=True):
        cell = ("Table 2", k, density)
        found.append(made.finding(cell, names[1], made.base()))
        above = made.over(made.base(), ratio, half_width, level)
        found.append(made.finding(cell, names[0], above))
    return found


def waits_for_each(made, decide, everything):
    for missing in range(len(everything)):
        some = everything[:missing] + everything[missing + 1 :]
        assert decide(made.findings(some))[0] == WAITS, everything[missing].setting


@pytest.mark.parametrize("text", CONSTANT)
def test_a_constant_ratio_may_be_off_by_its_spread_and_by_our_99_percent(made, text):
    *names, value, spread = CONSTANT[text]
    half = 0.05 * value

    def decided(size=0, ratio=value, half_width=half):
        ratios, widths = [value] * 6, [half] * 6
        ratios[size], widths[size] = ratio, half_width
        found = by_size(made, names, "1/2", ratios, widths, level=0.99)
        return DECIDE[text](made.findings(found))

    word, note = decided()
    assert word == HOLDS
    assert note.startswith(f"K = 5: {value}") and note.count(f": {value}") == 6
    for size in range(6):
        for sign in (-1, 1):
            for off, word in (
                (0.998 * spread, HOLDS),
                (1.002 * spread, OPEN),
                (spread + 0.998 * half, OPEN),
                (spread + 1.002 * half, FAILS),
            ):
                assert decided(size, value + sign * off)[0] == word, (size, sign * off)
        # Too wide to say that it is constant, not to say that it is not.
        assert decided(size, half_width=0.0998 * value)[0] == HOLDS
        assert decided(size, half_width=0.1002 * value)[0] == OPEN
        assert decided(size, 2 * value, 0.2 * value)[0] == FAILS
    everything = by_size(made, names, "1/2", [value] * 6, [half] * 6, 0.99)
    waits_for_each(made, DECIDE[text], everything)


@pytest.mark.parametrize("text", MOVES)
def test_a_ratio_that_moves_has_both_ends_and_no_step_back(made, text):
    *names, density, start, end = MOVES[text]
    half = 0.03
    way = np.sign(end - start)
    middle = 0.002 + (start + end) / 2 + way * np.array([-0.05, -0.02, 0.02, 0.05])

    def decided(**changed):
        ratios = [start, *middle, end]
        for place, ratio in changed.items():
            ratios[int(place[1:])] = ratio
        found = by_size(made, names, density, ratios, [half] * 6)
        return DECIDE[text](made.findings(found))

    word, note = decided()
    assert word == HOLDS
    assert note.split("; ") == [
        f"K = {k}: {ratio:.2f} ± 0.03" for k, ratio in zip(K, [start, *middle, end], strict=True)
    ]
    for place, value in (("_0", start), ("_5", end)):
        for sign in (-1, 1):
            for off, word in (
                (0.0499, HOLDS),
                (0.0501, OPEN),
                (0.05 + 0.998 * half, OPEN),
                (0.05 + 1.002 * half, FAILS),
            ):
                assert decided(**{place: value + sign * off})[0] == word, (place, sign * off)
    # The third is a step on from the second, or back by less or by more than both intervals.
    for step, word in (
        (0.001, HOLDS),
        (-0.001, OPEN),
        (-0.998 * 2 * half, OPEN),
        (-1.002 * 2 * half, FAILS),
    ):
        assert decided(_2=middle[0] + way * step)[0] == word, step
    everything = by_size(made, names, density, [start, *middle, end], [half] * 6)
    waits_for_each(made, DECIDE[text], everything)


@pytest.mark.parametrize("text", FADES)
def test_a_lead_that_fades_is_a_lead_at_every_size_and_smaller_at_the_largest(made, text):
    names = FADES[text]
    half = 0.003

    def decided(size=5, ratio=0.95, half_width=half):
        ratios, widths = [0.90, 0.80, 0.97, 0.85, 0.93, 0.95], [half] * 6
        ratios[size], widths[size] = ratio, half_width
        return DECIDE[text](made.findings(by_size(made, names, "1", ratios, widths)))

    word, note = decided()
    assert word == HOLDS and note.startswith("K = 5: 0.900 ± 0.003; K = 10: 0.800 ± 0.003")
    for ratio, word in (
        (0.9001, HOLDS),
        (0.8999, OPEN),
        (0.90 - 0.998 * 2 * half, OPEN),
        (0.90 - 1.002 * 2 * half, FAILS),
    ):
        assert decided(ratio=ratio)[0] == word, ratio
    for size in range(6):
        assert decided(size, 1.1)[0] == FAILS  # the other one is better there
        assert decided(size, 1.0, 0.05)[0] == OPEN
    everything = by_size(made, names, "1", [0.8] * 5 + [0.9], [half] * 6)
    waits_for_each(made, DECIDE[text], everything)


def test_changing_sides_is_rising_against_osub_and_falling_against_ts(made):
    half = 0.03

    def world(**changed):
        """UTS/OSUB from 0.5 to 0.7 and UTS/TS from 0.4 to 0.2, unless told."""
        ratios = {"OSUB_17": 0.5, "OSUB_129": 0.7, "TS_17": 0.4, "TS_129": 0.2} | changed
        found = []
        for k in (17, 129):
            cell = ("Table 1", k, "triangle")
            found.append(made.finding(cell, "UTS", made.base()))
            for name in ("OSUB", "TS"):
                rival = made.under(made.base(), ratios[f"{name}_{k}"], half)
                found.append(made.finding(cell, name, rival))
        return found

    def decided(**changed):
        return DECIDE[SIDES](made.findings(world(**changed)))

    assert decided() == (
        HOLDS,
        "UTS/OSUB 0.50 ± 0.03 to 0.70 ± 0.03; UTS/TS 0.40 ± 0.03 to 0.20 ± 0.03",
    )
    for change, word in (
        (1.002, HOLDS),
        (0.998, OPEN),
        (-0.998, OPEN),
        (-1.002, FAILS),
    ):
        assert decided(OSUB_129=0.5 + change * 2 * half)[0] == word, change
        assert decided(TS_129=0.4 - change * 2 * half)[0] == word, change
    waits_for_each(made, DECIDE[SIDES], world())


@pytest.mark.parametrize("text", SHRINK)
def test_osub_gains_as_steps_shrink(made, text):
    k, highs = SHRINK[text]
    half = 0.05

    def world(first=0.5, second=0.8, third=1.1, horizon=10**7):
        """OSUB/UTS for Δ = 0.001, 0.002 and 0.005."""
        found = []
        for high, ratio in zip(highs, (first, second, third), strict=True):
            cell = ("Appendix B", k, "triangle", high, horizon)
            found.append(made.finding(cell, "UTS", made.base()))
            found.append(made.finding(cell, "OSUB", made.over(made.base(), ratio, half)))
        return found

    def decided(**named):
        return DECIDE[text](made.findings(world(**named)))

    assert decided() == (HOLDS, "OSUB/UTS 0.50 ± 0.05, 0.80 ± 0.05, 1.10 ± 0.05")
    for change, word in ((1.002, HOLDS), (0.998, OPEN), (-0.998, OPEN), (-1.002, FAILS)):
        assert decided(first=0.8 - change * 2 * half)[0] == word, change
        assert decided(third=0.8 + change * 2 * half)[0] == word, change
    assert decided(horizon=10**6)[0] == WAITS
    waits_for_each(made, DECIDE[text], world())


@pytest.mark.parametrize("text", CROSS)
def test_two_averages_cross_twice_after_the_sweep(made, text):
    k, high = CROSS[text]

    def world(swaps, horizon=10**7):
        """UTS below OSUB at first; the sign of the difference changes at these checkpoints.

        Single trials cross at every checkpoint: only the averages count.
        """
        cell = ("Appendix B", k, "triangle", high, horizon)
        rounds = made.finding(cell, "UTS", made.base()).rounds
        sign = np.array([(-1) ** sum(now >= swap for swap in swaps) for now in rounds])
        wild = 500.0 * np.outer(made.pattern(0.0), (-1) ** np.arange(len(rounds)))
        osub = np.repeat(made.base()[:, None], len(rounds), axis=1)
        curves = {"UTS": osub - 5.0 * sign + wild, "OSUB": osub}
        return [made.finding(cell, name, curve[:, 0], curve) for name, curve in curves.items()]

    def decided(*swaps, **named):
        return DECIDE[text](made.findings(world(swaps, **named)))

    late = [round(10 ** (7 * step / 60)) for step in (20, 30, 40)]  # 215, 3,162 and 46,416
    assert decided() == (FAILS, "0 crossings, by t = none")
    assert decided(late[0]) == (FAILS, "1 crossings, by t = 215")
    assert decided(*late[:2]) == (HOLDS, "2 crossings, by t = 215, 3,162")
    assert decided(*late) == (HOLDS, "3 crossings, by t = 215, 3,162, 46,416")
    assert decided(3, 7, 11) == (FAILS, "0 crossings, by t = none")  # in the sweep
    assert decided(3, 7, 11, late[1])[0] == FAILS
    assert decided(*late[:2], horizon=10**6)[0] == WAITS
    waits_for_each(made, DECIDE[text], world(late))
