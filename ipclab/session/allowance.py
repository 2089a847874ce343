"""The time of a session: its profile's, and more of it where that leaves too many questions open."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ipclab.session.goals import Judged

PARTS = 8  # of what there is beyond the profile's time: after each, what is open is judged anew
LEAST_GAIN = 0.01  # of the comparisons, which a part must tell apart for another one to follow


@dataclass
class Allowance:
    """The seconds that are `left` of a profile, and `more` while its share `open` is exceeded."""

    left: Callable[[], float]
    more: float = 0.0
    open: float = 1.0  # the share of all comparisons that may stay so
    share_before: float = math.inf  # what was open before the last part

    def most_left(self) -> float:
        """Return how many seconds are left of all that a session may take."""
        return self.left() + self.more

    def part_more(self, judged: Judged) -> float:
        """Return how many seconds beyond the profile's may go to what is open now.

        There are none where enough is told apart, or the part before has hardly told any.
        """
        gain = self.share_before - judged.share
        self.share_before = judged.share
        if judged.share <= self.open or gain < LEAST_GAIN:
            return 0.0
        return min(self.most_left(), self.more / PARTS)

    def told(self, judged: Judged) -> str:
        """Return why a session goes on, in words."""
        return (
            f"{judged.unanswered} of {judged.compared} comparisons are open: they go on until"
            f" {self.open:.0%} are, for {self.most_left():.0f} s more at most"
        )
