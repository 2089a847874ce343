"""What all runs of a machine showed of the judge: a file of counts beside them, or with a bundle."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ipclab.store.files import read_json
from ipclab.store.schema import Count, Digest, RunName, StudyName

FORMAT = 2  # the first one had medians of a calibration that was no part of a run
MOST_BYTES = 1 << 20
MOST_RUNS = 1_000  # of which the newest are kept
MOST_PLACEMENTS = 16
MOST_SHARES = 32  # planted slow-downs of different size
FIX = "remove it: what runs here show is counted again"
Share = Annotated[str, Meta(pattern=r"\A[0-9]{1,2}\.[0-9]{2}\Z")]
Shares = Annotated[dict[Share, Count], Meta(max_length=MOST_SHARES)]


class Counted(Struct, frozen=True, forbid_unknown_fields=True):
    """What was counted in one placement.

    Of `twins` that were compared, `alarms` were called different. By planted share, so many of the
    `planted` slow-downs were `found`, which is called slower. What launches could not test is not
    counted.
    """

    twins: Count = 0
    alarms: Count = 0
    planted: Shares = {}
    found: Shares = {}

    def __post_init__(self) -> None:
        """Raise `ValueError` where more was found than there was."""
        more = any(found > self.planted.get(share, 0) for share, found in self.found.items())
        if self.alarms > self.twins or more:
            raise ValueError("more was found than there was")

    @property
    def upper(self) -> float:
        """Return the share of alarms that is not exceeded with 95 % confidence.

        It is exact, since no two pairs share a contestant: 0.05 without alarm among 59 twins.
        """
        from ipclab.stats.intervals import LEVEL, rate_upper  # which takes long to load

        return rate_upper(self.alarms, self.twins, LEVEL)

    def often(self, share: str, least: float) -> bool:
        """Tell whether `least` of the slow-downs of a share that were planted were found."""
        return self.found.get(share, 0) >= least * self.planted.get(share, 0)


Placements = Annotated[dict[StudyName, Counted], Meta(max_length=MOST_PLACEMENTS)]


class KnownRun(Struct, frozen=True, forbid_unknown_fields=True):
    """What one run showed: by placement, with what counted as the `same` (a share).

    `stamp` is the digest of the samples and of the code that it follows from.
    """

    stamp: Digest
    same: Annotated[float, Meta(ge=0, le=1)]
    placements: Placements


Runs = Annotated[dict[RunName, KnownRun], Meta(max_length=MOST_RUNS)]


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    format: int
    runs: Runs


class _Format(Struct):
    format: int = 1

    def __post_init__(self) -> None:
        """Raise `ValueError` for a format that is not known."""
        if not 1 <= self.format <= FORMAT:
            raise ValueError(f"its format is {self.format}, this ipclab knows {FORMAT}")


def known_runs(file: Path) -> Mapping[str, KnownRun]:
    """Return what runs showed, by name; nothing of an absent file or of an older version's.

    Raises `LabError` for one that cannot be read.
    """
    if not file.is_file() or read_json(file, MOST_BYTES, _Format, FIX).format == 1:
        return {}
    return read_json(file, MOST_BYTES, Calibration, FIX).runs
