"""Made-up launches."""

from typing import Any

import numpy as np

from ipclab.store.launch import Launch
from ipclab_measure.studies.asked import asked
from ipclab_measure.studies.profile import PROFILES

# what a run asks, for its `run.json`
ASKED: dict[str, Any] = asked(PROFILES["quick"]).plain()


def make_launch(
    flags: tuple[str, ...] = (), counters: dict[str, float] | None = None, /, **samples: list[int]
) -> Launch:
    """Return a launch whose `samples` are given by op; `__` in a name stands for the dot of a
    phase.
    """
    arrays = {op.replace("__", "."): np.array(values, np.int64) for op, values in samples.items()}
    first = next(iter(arrays))
    return Launch(arrays, {first: counters} if counters else {}, flags=list(flags))
