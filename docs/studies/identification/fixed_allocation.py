"""The best that can be done without learning where the peak is: fixed shares for three arms."""

from typing import ClassVar

import unimodal as um


class Fixed(um.Policy):
    """Pulls an arm that it is told to be the peak, and its two neighbours, in fixed shares."""

    compiled = True
    start: ClassVar[str] = "literal"

    peak: int = 8
    share: float = 0.44  # the peak's; its neighbours have the same

    def scope(self, graph):
        return um.EveryArm()

    def choose(self, arms, near, leader, clock, rng):
        if arms[self.peak].pulls < self.share * clock:
            return self.peak
        left, right = self.peak - 1, self.peak + 1
        return left if arms[left].pulls <= arms[right].pulls else right
