"""The paper's own numbers, transcribed once."""

from __future__ import annotations

from unimodal.analysis import Interval


def _plus_minus(value: float, spread: float) -> Interval:
    return Interval(value, value - spread, value + spread)


# Table 1: R%(policy, OSUB) at T = 10⁵ on the line of Combes and Proutiere, by arms and policy.
TABLE_1: dict[int, dict[str, Interval]] = {
    17: {
        "KLUCB": _plus_minus(3.08, 0.05),
        "TS": _plus_minus(1.34, 0.07),
        "UTS": _plus_minus(0.52, 0.07),
    },
    129: {
        "KLUCB": _plus_minus(6.51, 0.07),
        "TS": _plus_minus(2.68, 0.05),
        "UTS": _plus_minus(0.76, 0.15),
    },
}
