"""The profiles that runs are measured under, the briefest first, and what each fixes for readers."""

from typing import NamedTuple


class Effort(NamedTuple):
    """`same` counts as the same (a share); a point has `most_launches` in a session."""

    same: float
    most_launches: int


EFFORTS = {
    "smoke": Effort(0.10, 2),
    "quick": Effort(0.10, 40),
    "standard": Effort(0.05, 60),
    "full": Effort(0.05, 90),
    "published": Effort(0.05, 90),
}
