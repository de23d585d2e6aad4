"""Problems: what they are, and ways to give the arms of a graph their means."""

from unimodal.problems import delays as delays
from unimodal.problems.interval import Interval
from unimodal.problems.means import by_distance, random_peak, rank_one, smooth_peak, triangular
from unimodal.problems.moving import Moving, drifting_line, from_data, jumping_peak, wandering_peak
from unimodal.problems.problem import Problem, Unimodality

__all__ = [
    "Interval",
    "Moving",
    "Problem",
    "Unimodality",
    "by_distance",
    "drifting_line",
    "from_data",
    "jumping_peak",
    "random_peak",
    "rank_one",
    "smooth_peak",
    "triangular",
    "wandering_peak",
]
