"""Problems: what they are, and ways to give the arms of a graph their means."""

from unimodal.problems import delays
from unimodal.problems.interval import Interval
from unimodal.problems.means import by_distance, random_peak, rank_one, smooth_peak, triangular
from unimodal.problems.moving import Moving, drifting_line, from_data, jumping_peak, wandering_peak
from unimodal.problems.problem import Problem, Unimodality
from unimodal.problems.recorded import Recorded, recorded

__all__ = [
    "Interval",
    "Moving",
    "Problem",
    "Recorded",
    "Unimodality",
    "by_distance",
    "delays",
    "drifting_line",
    "from_data",
    "jumping_peak",
    "random_peak",
    "rank_one",
    "recorded",
    "smooth_peak",
    "triangular",
    "wandering_peak",
]
