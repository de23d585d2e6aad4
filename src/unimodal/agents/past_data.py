"""Rewards from before: how they are given, what is refused, and what an agent makes of them."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unimodal.errors import LONGEST, UnimodalError, real_number, refuse_set, whole_number
from unimodal.families import Family
from unimodal.families.family import LARGEST
from unimodal.graphs import Graph
from unimodal.graphs.graph import plain_label
from unimodal.policies import Policy
from unimodal.policies.mints import along
from unimodal.policies.npts import Reweighed
from unimodal.policies.scope import AroundLeader

REWARDS, SUMS = ("arm", "reward"), ("arm", "count", "total")
_FORMS = "with the columns arm and reward, or arm, count and total"


class PastData:
    """Rewards from before a campaign, for `Agent(data=…)` and `Campaign.open(data=…)`.

    `rewards` is a table (Polars, pandas, a dict of columns) with the columns arm and reward, or
    arm, count and total, of which others are ignored; or a list of such rows, as tuples or dicts;
    or a mapping from arms to pairs (count, total). An arm may come several times.

    `weight`, from 0 to 1, is what a reward from before is worth beside a new one: n of them count
    as round(weight·n) with the same mean. Use less than 1 where the world may have changed since.
    `certify=True` says that they are rewards of the same kind, as good as new ones, so that a
    certificate may count them; that takes a weight of 1.

    `one_peak=True`, the default unless they certify, reads them as rewards of means with one peak,
    where the graph is a line, the policy climbs, and 3 to 128 arms have rewards: those of an arm
    then count with the mean that it has given the rewards of all arms, unless these show a second
    peak. `one_peak=False` takes the mean of each arm's own rewards.

    Parameters
    ----------
    rewards
        The table of arms and rewards.
    weight
        What a reward from before is worth.
    certify
        Whether certificates count them.
    one_peak
        Whether they are read as rewards of means with one peak.

    Examples
    --------
    >>> import unimodal as um
    >>> last_year = um.PastData({"9.90": (200, 34), "12.90": (150, 21)}, weight=0.5)
    >>> prices = um.graphs.line(["9.90", "12.90", "14.90"])
    >>> agent = um.Agent(um.UTS(), prices, data=last_year)
    >>> agent.ask(), agent.reason  # the others are known
    ('14.90', 'start')
    >>> agent.arms().select("arm", "pulls", "past").rows()
    [('9.90', 100, 100), ('12.90', 75, 75)]
    """

    def __init__(
        self,
        rewards: Any,
        *,
        weight: float = 1.0,
        certify: bool = False,
        one_peak: bool | None = None,
    ) -> None:
        self.columns, self.rows = _table(rewards)
        self.weight = real_number(weight, "the 'weight' of past data")
        if not 0 <= self.weight <= 1:
            raise UnimodalError(
                f"the 'weight' of past data must lie between 0 and 1, got {weight!r}."
            )
        if not isinstance(certify, bool):
            raise UnimodalError(
                f"the 'certify' of past data must be True or False, got {certify!r}."
            )
        if certify and self.weight != 1:
            raise UnimodalError(
                "past data that a certificate may count must have a weight of 1, got "
                f"{self.weight:g}: leave out 'certify', or the weight."
            )
        self.certify = certify
        if one_peak is not None and not isinstance(one_peak, bool):
            raise UnimodalError(
                f"the 'one_peak' of past data must be True or False, got {one_peak!r}."
            )
        if certify and one_peak:
            raise UnimodalError(
                "past data that a certificate may count must be taken as they are, got "
                "one_peak=True: leave out 'certify' or 'one_peak'."
            )
        self.one_peak = not certify if one_peak is None else one_peak
        self._interpretation: Interpretation | None = None  # only that of a log

    def __repr__(self) -> str:
        rows = f"{len(self.rows):,} rows of {', '.join(self.columns)}"
        return (
            f"PastData({rows}, weight={self.weight:g}, certify={self.certify}, "
            f"one_peak={self.one_peak})"
        )

    @classmethod
    def from_log(cls, data: dict[str, Any], as_label: Callable[[Any], Any]) -> PastData:
        """What `Known.to_log` wrote."""
        columns, rows = tuple(data["columns"]), data["rows"]
        if columns not in (REWARDS, SUMS) or not all(len(row) == len(columns) for row in rows):
            raise ValueError("no past data")
        labelled = [(as_label(label), *rest) for label, *rest in rows]
        named = {name: [row[n] for row in labelled] for n, name in enumerate(columns)}
        weight, certify, one_peak = data["weight"], data["certify"], data.get("one_peak", False)
        found = cls(named, weight=weight, certify=certify, one_peak=one_peak)
        # What was read is not computed again: another machine's last digit may be another.
        totals = data.get("counted")
        if not isinstance(one_peak, bool) or (totals is not None and not one_peak):
            raise ValueError("no past data")
        found._interpretation = Interpretation(
            None if totals is None else tuple(totals), "one_peak" in data
        )
        return found


class Interpretation(NamedTuple):
    """How past data were read when a log began."""

    totals: tuple[float, ...] | None  # with which the rewards of each arm count; None: their own
    may_lead: bool  # whether they count as leads where the policy says so; not in the first logs


class KnownArm(NamedTuple):
    """The rewards from before of one arm; one by one only where the policy needs that."""

    arm: int
    pulls: int
    total: float
    rewards: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Known:
    """Past data, checked: one entry per arm that has some, so that equal data are equal."""

    arms: tuple[KnownArm, ...]
    weight: float
    certify: bool
    # How they are read is decided when a log begins, and not part of what they are.
    one_peak: bool = field(default=False, compare=False)
    interpretation: Interpretation = field(default=Interpretation(None, False), compare=False)

    def counted(self) -> list[KnownArm]:
        """What an agent is to know, with the weight; arms of which nothing is left are left out."""
        totals = self.interpretation.totals or [known.total for known in self.arms]
        found = []
        for known, total in zip(self.arms, totals, strict=True):
            count = round(self.weight * known.pulls)
            if count > 0:
                total = total / known.pulls * count if count < known.pulls else total
                found.append(known._replace(pulls=count, total=total))
        return found

    def to_log(self, label_of: Callable[[int], Hashable]) -> dict[str, Any]:
        """As plain data, with labels: what a campaign writes into its log."""
        one_by_one = any(known.rewards is not None for known in self.arms)
        rows: list[list[Any]] = []
        for known in self.arms:
            label = label_of(known.arm)
            if one_by_one:
                rows.extend([label, reward] for reward in known.rewards or ())
            else:
                rows.append([label, known.pulls, known.total])
        columns = list(REWARDS if one_by_one else SUMS)
        told = {"weight": self.weight, "certify": self.certify, "columns": columns, "rows": rows}
        told["one_peak"] = self.one_peak
        if self.interpretation.totals is not None:
            told["counted"] = list(self.interpretation.totals)
        return told


class PastRewards(NamedTuple):
    """What of the pulls and totals of an agent's arms comes from past data."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.float64]
    certify: bool  # whether they count as evidence like new ones


def as_past_data(data: Any) -> PastData:
    """Past data as they are, or of a table."""
    return data if isinstance(data, PastData) else PastData(data)


def checked(data: PastData, policy: Policy, graph: Graph | None, family: Family) -> Known:
    """Past data as an agent can take them; refused as a whole if anything in them is wrong."""
    if graph is None:
        raise UnimodalError(
            "past data need a Graph, since a neighbour function cannot say which arms there are: "
            "pass a Graph, or let the search set out from the best arm of your data with root=…."
        )
    if policy.forgets:
        raise UnimodalError(
            f"{policy!r} forgets, and past data would be the first that it forgets: leave them "
            "out, or take a policy that does not forget."
        )
    one_by_one = isinstance(policy.index_for(family), Reweighed)
    if one_by_one and (data.columns == SUMS or data.weight not in (0, 1)):
        raise UnimodalError(
            f"{policy!r} reweighs every single reward, so past data for it must be rows of arm and "
            "reward with a weight of 1, got sums or another weight: give each reward, or take TS."
        )
    single = data.columns == REWARDS
    arms = (_of_rewards if single else _of_sums)(data.rows, graph.arm_of, family, one_by_one)
    if sum(known.pulls for known in arms) > LONGEST:
        raise UnimodalError(f"past data must have at most {LONGEST:g} rewards, got more.")
    one_peak = data.one_peak and not one_by_one
    interpretation = data._interpretation
    if interpretation is None:
        climbs = one_peak and isinstance(policy.scope(graph), AroundLeader)
        interpretation = Interpretation(_read(arms, graph, family) if climbs else None, True)
    elif interpretation.totals is not None:
        _check_totals(interpretation.totals, arms, family)
    return Known(tuple(arms), data.weight, data.certify, one_peak, interpretation)


def _read(known: list[KnownArm], graph: Graph, family: Family) -> tuple[float, ...] | None:
    """The total of each arm's rewards given one peak, on a line; None: their own."""
    from unimodal.inference.posterior_given_one_peak import (  # needs SciPy
        MOST_ARMS,
        is_told,
        raised_by_one_peak,
    )

    order = along(graph)
    if order is None or not 3 <= len(known) <= MOST_ARMS or not is_told(family):
        return None
    # Only arms with rewards: without those between them, arms of a line are still in order.
    places = np.argsort(np.argsort(order)[[each.arm for each in known]])
    labels = [graph.label_of(known[place].arm) for place in places]
    pulls = np.array([each.pulls for each in known], dtype=np.float64)
    totals = np.array([each.total for each in known])
    arms, factors = family.of_arms(labels), np.broadcast_to(family.factors(labels), len(known))
    raised = np.empty(len(known))
    raised[places] = raised_by_one_peak(arms, factors, pulls[places], totals[places]) / factors
    low, high = _range(family, pulls)
    return tuple(np.clip(totals + pulls * raised, low, high).tolist())


def _range(family: Family, pulls: Any) -> tuple[Any, Any]:
    """The lowest and the highest total of so many rewards."""
    low, high = np.clip([family.told.low, family.told.high], -LARGEST, LARGEST)
    return pulls * low, pulls * high


def _check_totals(totals: Sequence[Any], arms: list[KnownArm], family: Family) -> None:
    """Refuse totals of a log that these arms' rewards cannot count with."""
    if len(totals) != len(arms):
        raise UnimodalError(
            f"past data of {len(arms)} arms must count with as many totals, got {len(totals)}."
        )
    for known, total in zip(arms, totals, strict=True):
        low, high = _range(family, float(known.pulls))
        if not low <= real_number(total, "a total of past data") <= high:
            raise UnimodalError(
                f"{known.pulls:,} past rewards of {family!r} cannot have the total {total!r}."
            )


def _of_rewards(
    rows: Iterable[Any], arm_of: Callable[[Any], int], family: Family, one_by_one: bool
) -> list[KnownArm]:
    by_arm: dict[int, list[float]] = {}
    for label, reward in rows:
        by_arm.setdefault(arm_of(plain_label(label)), []).append(family.check_reward(reward))
    # Sorted and summed exactly: the order of the rows says nothing, and must not change a digit.
    return [
        KnownArm(arm, len(of), math.fsum(of), tuple(sorted(of)) if one_by_one else None)
        for arm, of in sorted(by_arm.items())
    ]


def _of_sums(
    rows: Iterable[Any], arm_of: Callable[[Any], int], family: Family, one_by_one: bool
) -> list[KnownArm]:
    by_arm: dict[int, list[tuple[int, float]]] = {}
    for label, given, total in rows:
        arm = arm_of(plain_label(label))
        count = whole_number(given, f"the count of past rewards of {label!r}", 0, LONGEST)
        by_arm.setdefault(arm, []).append((count, family.check_total(count, total)))
    found = [
        KnownArm(arm, sum(count for count, _ in of), math.fsum(total for _, total in of))
        for arm, of in sorted(by_arm.items())
    ]
    return [known for known in found if known.pulls > 0]


def _table(given: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The columns and the rows of whatever past data are given as."""
    refuse_set(given, "past data")
    if hasattr(given, "columns"):
        names = list(given.columns)
        return _of_columns({name: list(given[name]) for name in _chosen(names)})
    if isinstance(given, Mapping):
        if "arm" in given:
            return _of_columns({name: given[name] for name in _chosen(list(given))})
        given = [(arm, *_pair(arm, pair)) for arm, pair in given.items()]
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise UnimodalError(
            f"past data must be a table {_FORMS}, or a list of such rows, got {given!r:.80}."
        )
    rows = list(given)
    if any(hasattr(row, "columns") for row in rows):
        raise UnimodalError(
            f"past data must be one table, got {len(rows)}: put them together first, as "
            "polars.concat does."
        )
    return _of_rows(rows)


def _chosen(names: Sequence[Any]) -> tuple[str, ...]:
    """The columns that count, of those that there are."""
    if "reward" in names and {"count", "total"} & set(names):
        raise UnimodalError(
            "past data must have either a column reward or the columns count and total, got both: "
            "leave one of them out."
        )
    for wanted in (REWARDS, SUMS):
        if set(wanted) <= set(names):
            return wanted
    raise UnimodalError(
        f"past data must be a table {_FORMS}, got the columns {reprlib.repr(list(names))}: rename "
        "or add them."
    )


def _of_columns(named: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    values = []
    for name, column in named.items():
        if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
            raise UnimodalError(f"the column {name} of past data must be a list, got {column!r}.")
        values.append(list(column))
    if len(set(map(len, values))) > 1:
        lengths = ", ".join(f"{name} {len(of)}" for name, of in zip(named, values, strict=True))
        raise UnimodalError(f"the columns of past data must be equally long, got {lengths} rows.")
    return tuple(named), list(zip(*values, strict=True))


def _of_rows(rows: list[Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    if not rows:
        return SUMS, []
    if all(isinstance(row, Mapping) for row in rows):
        chosen = {_chosen(list(row)) for row in rows}
        names = chosen.pop()
        if not chosen:
            return names, [tuple(row[name] for name in names) for row in rows]
    sizes = {len(row) if isinstance(row, tuple | list) else 0 for row in rows}
    if sizes not in ({2}, {3}):
        odd = next((row for row in rows if not isinstance(row, tuple | list)), rows[0])
        raise UnimodalError(
            "the rows of past data must all be (arm, reward) or all (arm, count, total), got rows "
            f"of {len(sizes)} kinds, such as {reprlib.repr(odd)}."
            if len(sizes) > 1
            else "the rows of past data must be (arm, reward) or (arm, count, total), got "
            f"{reprlib.repr(odd)}."
        )
    return (REWARDS if sizes == {2} else SUMS), list(map(tuple, rows))


def _pair(arm: Any, pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise UnimodalError(
            f"past data by arm must be pairs (count, total), got {reprlib.repr(pair)} for {arm!r}."
        )
    return pair[0], pair[1]
