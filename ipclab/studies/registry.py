"""The studies of this laboratory."""

from ipclab.errors import UsageError
from ipclab.studies.interface import Study
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.round_trip import RoundTripStudy
from ipclab.words import nearest

# In the order of measuring: the limits first, for every run is read against them.
STUDIES: dict[str, Study] = {study.name: study for study in (LimitsStudy(), PayloadStudy(), RoundTripStudy())}


def study(name: str) -> Study:
    """Return the study called `name`; raises `UsageError` with the nearest name when there is none."""
    if name not in STUDIES:
        mend = f"did you mean {nearest(name, STUDIES)!r}? there are {', '.join(STUDIES)}"
        raise UsageError(f"unknown study {name!r}", "", mend)
    return STUDIES[name]
