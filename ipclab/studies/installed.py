"""The studies of this laboratory."""

from ipclab.errors import UsageError
from ipclab.studies.file_io.study import FileIoStudy
from ipclab.studies.interface import Study
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.multiplexer.study import MultiplexerStudy
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.round_trip import RoundTripStudy
from ipclab.studies.shared_dict.study import SharedDictStudy
from ipclab.errors import nearest

# In the order of measuring: the limits first, for every run is read against them.
_ALL: tuple[Study, ...] = (
    LimitsStudy(),
    PayloadStudy(),
    SharedDictStudy(),
    MultiplexerStudy(),
    RoundTripStudy(),
    FileIoStudy(),
)
STUDIES = {study.name: study for study in _ALL}


def study(name: str) -> Study:
    """Return the study called `name`; raises `UsageError` with the nearest name when there is none."""
    if name not in STUDIES:
        fix = f"did you mean {nearest(name, STUDIES)!r}? there are {', '.join(STUDIES)}"
        raise UsageError(f"unknown study {name!r}", "", fix)
    return STUDIES[name]
