"""Does the mean reward have one peak? A test of unimodality on data."""

from unimodal.peaks.answer import Peak, SecondPeaks
from unimodal.peaks.second import second_peaks

__all__ = ["Peak", "SecondPeaks", "second_peaks"]
