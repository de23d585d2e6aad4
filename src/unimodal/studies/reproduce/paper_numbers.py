"""The numbers of Tables 1, 2 and 3 of the paper."""

from __future__ import annotations

from unimodal.results.statistics import Interval


def _pm(value: float, spread: float) -> Interval:
    return Interval(value, value - spread, value + spread)


def as_printed(reported: Interval) -> str:
    """A number of the paper with the digits that the paper prints.

    >>> as_printed(TABLE_2[5, "1", "TS"])
    '18 ± 0.2'
    """
    spread = round(reported.half_width, 3)
    return f"{reported.value:g} ± {spread:g}" if spread else f"{reported.value:g}"


def _parsed(text: str) -> dict[tuple[int, str, str], Interval]:
    """{(K, p, policy): value ± spread} from rows `K policy v±s v±s v±s v±s`, one column per p."""
    cells = {}
    for row in text.split("\n"):
        if row.strip():
            n_arms, policy, *values = row.split()
            for p, value in zip(DENSITIES, values, strict=True):
                cells[int(n_arms), p, policy] = _pm(*map(float, value.split("±")))
    return cells


POLICIES = ("KLUCB", "TS", "OSUB", "UTS")
SIZES = (5, 10, 20, 50, 100, 1000)
PAPER_GRAPHS = 10  # of each cell of Tables 2 and 3: the samples of its intervals
PAPER_TRIALS = 100  # of each line of Table 1
DENSITIES = ("1", "1/2", "log(K)/K", "line")

# Table 1: R%(policy, OSUB) at T = 10⁵ on the line of Combes and Proutiere, by arms and policy.
TABLE_1: dict[int, dict[str, Interval]] = {
    17: {"KLUCB": _pm(3.08, 0.05), "TS": _pm(1.34, 0.07), "UTS": _pm(0.52, 0.07)},
    129: {"KLUCB": _pm(6.51, 0.07), "TS": _pm(2.68, 0.05), "UTS": _pm(0.76, 0.15)},
}

# Table 2: regret at T = 10⁵, by arms, density and policy.
TABLE_2: dict[tuple[int, str, str], Interval] = _parsed("""
5    KLUCB 34±0.4    50±1.5     52±3.7      56±2.2
5    TS    18±0.2    23±0.6     24±1.3      25±0.7
5    OSUB  34±0.3    32±7.2     35±5.8      31±4.1
5    UTS   17±0.1    15±2.4     16±2.2      14±1.3
10   KLUCB 77±0.5    107±5.5    127±11.2    159±7.0
10   TS    40±0.2    50±2.0     56±3.8      67±2.5
10   OSUB  77±0.3    76±8.1     57±5.6      70±8.1
10   UTS   39±0.2    35±3.2     27±2.1      34±2.4
20   KLUCB 163±0.7   217±6.2    262±16.2    386±21.3
20   TS    84±0.5    102±2.3    117±5.7     157±6.9
20   OSUB  163±0.8   148±14.9   86±14.6     124±11.7
20   UTS   83±0.3    70±6.0     44±4.8      65±8.8
50   KLUCB 420±0.7   560±15.0   686±30.5    1132±49.2
50   TS    217±0.5   262±4.4    303±10.0    454±19.9
50   OSUB  420±1.0   382±35.6   162±13.9    240±15.8
50   UTS   216±0.7   182±14.2   89±5.5      156±30.1
100  KLUCB 846±2.0   1134±17.8  1313±59.7   2327±63.5
100  TS    436±1.1   528±4.9    586±18.4    973±31.8
100  OSUB  846±2.7   786±39.0   226±27.1    369±10.7
100  UTS   437±0.5   372±15.2   141±9.1     290±42.3
1000 KLUCB 8505±12.2 11247±60.1 12024±464.7 10640±291.5
1000 TS    4391±3.4  5262±23.0  5478±151.3  6554±115.2
1000 OSUB  8493±13.6 7761±153.4 1151±45.0   1165±20.7
1000 UTS   4388±5.2  3718±62.9  1000±14.2   1165±41.8
""")

# Table 3: regret at T = 10⁵ for p = 0.1; the paper gives no intervals.
TABLE_3: dict[tuple[int, str], float] = dict(
    zip(
        [(n_arms, policy) for policy in ("TS", "OSUB") for n_arms in SIZES],
        [25, 66, 162, 278, 519, 4564, 29, 64, 126, 144, 266, 2358],
        strict=True,
    )
)
