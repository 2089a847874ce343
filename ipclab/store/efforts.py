"""What readers must know of how a run was measured: of its profile, and of where launches run."""

from typing import NamedTuple

from ipclab.paths import table_beside

# One CPU for all, several, or whichever the scheduler takes
PLACEMENTS = ("same", "cross", "free")


class Effort(NamedTuple):
    """`same` counts as the same (a share); a point has `most_launches` in a session."""

    same: float
    most_launches: int


EFFORTS = {name: Effort(**told) for name, told in table_beside(__file__, "efforts.toml").items()}
