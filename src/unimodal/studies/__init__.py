"""Studies: many settings, policies, graphs and trials, run in parts and resumed after a kill."""

from unimodal.studies.outcome import EveryTrial, Outcome, Regrets, ratio
from unimodal.studies.setting import BaseSetting, Setting
from unimodal.studies.study import Outcomes, Study, load

__all__ = [
    "BaseSetting",
    "EveryTrial",
    "Outcome",
    "Outcomes",
    "Regrets",
    "Setting",
    "Study",
    "load",
    "ratio",
]
