"""What a study keeps of one policy in one setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unimodal.engines.engine_choice import checkpoint_rounds
from unimodal.results.statistics import Interval, describe, ratio_interval
from unimodal.studies import parquet
from unimodal.studies.sample_intervals import Samples
from unimodal.studies.tasks import CHECKPOINTS


@dataclass(frozen=True, eq=False)
class Outcome:
    """One policy in one setting: a subclass says which numbers are kept.

    It has one field per name in `shapes`, and makes itself `of` what the trials measured.

    Attributes
    ----------
    setting
        The setting.
    policy
        The policy, as text.

    Examples
    --------
    >>> from unimodal.studies import Outcome, Regrets
    >>> issubclass(Regrets, Outcome)
    True
    """

    setting: Any
    policy: str

    positive: ClassVar[tuple[str, ...]] = ()  # names whose numbers must be above 0

    @classmethod
    def of(cls, setting: Any, policy: str, rows: Any) -> Self:
        """The outcome of all trials; `rows` are what they measured, (graphs, trials, columns)."""
        raise NotImplementedError

    @classmethod
    def shapes(cls, setting: Any) -> dict[str, tuple[int, ...]]:
        """The names of the numbers that are kept, and the shape of each."""
        raise NotImplementedError

    @classmethod
    def from_numbers(cls, setting: Any, policy: str, numbers: dict[str, Any]) -> Self:
        """The outcome with these numbers."""
        return cls(setting, policy, **numbers)

    def numbers(self) -> dict[str, Any]:
        """The numbers that are kept, by name."""
        return {name: getattr(self, name) for name in self.shapes(self.setting)}

    def summary(self) -> dict[str, float]:
        """A few numbers to show."""
        raise NotImplementedError

    @classmethod
    def from_row(cls, setting: Any, row: dict[str, Any]) -> Self:
        """The outcome in a row of a file, or a ValueError if the numbers do not fit."""
        if row["policy"] not in setting.policies:
            raise ValueError("another policy than the setting names")
        numbers = {
            name: parquet.numbers(row[name], *shape, above=0.0 if name in cls.positive else -np.inf)
            for name, shape in cls.shapes(setting).items()
        }
        return cls.from_numbers(setting, row["policy"], numbers)


@dataclass(frozen=True, eq=False)
class Regrets(Outcome, Samples):
    """The regrets of one policy in a `Setting`, and how long its trials took.

    Attributes
    ----------
    setting
        The setting.
    policy
        The policy, as text.
    final
        Regret at the horizon, graphs × trials.
    curve
        Mean regret at each checkpoint.
    milliseconds
        How long each trial took.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> setting = um.studies.Setting("line", "line:5", "by distance", ("UTS",), 100, 2, 3)
    >>> found = um.studies.Study([setting]).run(tempfile.mkdtemp())
    >>> found.get(setting, "UTS").final.shape
    (2, 3)
    """

    final: Any  # regret at the horizon, (graphs, trials)
    curve: Any  # mean regret at the checkpoints
    milliseconds: Any  # of one core, the median trial

    positive = ("milliseconds",)

    @classmethod
    def of(cls, setting: Any, policy: str, rows: Any) -> Self:
        # Seven digits, as a file keeps: a page made from the file is the page of the run.
        final, curve = _seven_digits(rows[:, :, -1]), _seven_digits(rows[:, :, 1:].mean((0, 1)))
        # A median, since the first trial of a process may have to compile or load its kernel.
        milliseconds = float(_seven_digits(1000 * np.median(rows[:, :, 0])))
        return cls(setting, policy, final, curve, milliseconds)

    @classmethod
    def shapes(cls, setting: Any) -> dict[str, tuple[int, ...]]:
        rounds = checkpoint_rounds(setting.horizon, CHECKPOINTS, "log")
        return {"final": (setting.graphs, setting.trials), "curve": rounds.shape} | {
            "milliseconds": ()
        }

    @classmethod
    def from_numbers(cls, setting: Any, policy: str, numbers: dict[str, Any]) -> Self:
        milliseconds = float(numbers["milliseconds"])
        return cls(setting, policy, numbers["final"], numbers["curve"], milliseconds)

    @property
    def rounds(self) -> NDArray[np.int64]:
        """The checkpoints."""
        return checkpoint_rounds(self.setting.horizon, CHECKPOINTS, "log")

    @property
    def quantiles(self) -> dict[str, Any]:
        """Mean, median and other quantiles over all trials."""
        return describe(self.final.ravel())

    @property
    def worst(self) -> float:
        """The regret of the worst trial."""
        return float(self.final.max())

    def summary(self) -> dict[str, float]:
        """Mean regret with its 95 % interval over graphs, quantiles, worst trial, and time.

        `few` is 1 if few samples make the mean, and `needed` says how many would do.
        """
        mean, (median, most) = self.over_graphs, self.spread
        ends = {"mean": mean.value, "low": mean.low, "high": mean.high}
        few = {"few": float(mean.few is not None)}
        few["needed"] = float(mean.few.needed) if mean.few else np.nan
        spread = {"median": median, "q99": most, "worst": self.worst}
        return {**ends, **spread, **few, "milliseconds": self.milliseconds}


@dataclass(frozen=True, eq=False)
class EveryTrial(Outcome):
    """Every trial of one policy in one setting: one number per column that was measured.

    A subclass names its `columns`; `outcome["regret"]` is that column, (graphs, trials).

    Attributes
    ----------
    setting
        The setting.
    policy
        The policy, as text.
    kept
        One array per column, graphs × trials.

    Examples
    --------
    >>> from unimodal.studies import EveryTrial, Outcome
    >>> issubclass(EveryTrial, Outcome)
    True
    """

    kept: dict[str, Any]

    columns: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, setting: Any, policy: str, rows: Any) -> Self:
        columns = zip(cls.columns, np.moveaxis(rows, -1, 0), strict=True)
        return cls(setting, policy, {name: _seven_digits(values) for name, values in columns})

    @classmethod
    def shapes(cls, setting: Any) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(cls.columns, (setting.graphs, setting.trials))

    @classmethod
    def from_numbers(cls, setting: Any, policy: str, numbers: dict[str, Any]) -> Self:
        return cls(setting, policy, numbers)

    def numbers(self) -> dict[str, Any]:
        return self.kept

    def __getitem__(self, column: str) -> Any:
        return self.kept[column]

    def summary(self) -> dict[str, float]:
        """The mean of each column."""
        return {name: float(values.mean()) for name, values in self.kept.items()}


def ratio(over: Samples, under: Samples) -> Interval:
    """The mean regret of one policy relative to another's.

    Policies of a setting share graphs and random streams, so the interval is of paired samples.

    Parameters
    ----------
    over
        The outcome above the line.
    under
        The outcome below it.

    Returns
    -------
    Interval
        The ratio, with the ends of its interval.

    Examples
    --------
    >>> import tempfile, unimodal as um
    >>> setting = um.studies.Setting("line", "line:9", "by distance", ("UTS", "TS"), 1000, 2, 3)
    >>> found = um.studies.Study([setting]).run(tempfile.mkdtemp())
    >>> ratio(found.get(setting, "UTS"), found.get(setting, "TS")).value < 1
    True
    """
    return ratio_interval(over.units, under.units)


def _seven_digits(numbers: Any) -> Any:
    return np.asarray(numbers).astype(np.float32).astype(np.float64)
