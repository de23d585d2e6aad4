"""Problems: what they are, and ways to give the arms of a graph their means."""

from unimodal.problems.means import by_distance, random_peak, rank_one, smooth_peak, triangular
from unimodal.problems.problem import Problem, Unimodality

__all__ = [
    "Problem",
    "Unimodality",
    "by_distance",
    "random_peak",
    "rank_one",
    "smooth_peak",
    "triangular",
]
