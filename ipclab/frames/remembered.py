"""What was made of runs, in memory: the digests that it follows from are asked for with it, so that
it goes when a run's files change.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import pandas as pd

from ipclab.frames.digests import frames_digest
from ipclab.store.run import RunFolder, read_run

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")
OfStudy = Callable[[RunFolder, str], pd.DataFrame]

MOST = 16  # results of a function
_forgetting: list[Callable[[], None]] = []


def remembered(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """Remember the last `MOST` results of a function that is given the digests with the rest."""
    known = lru_cache(maxsize=MOST)(make)
    _forgetting.append(known.cache_clear)
    return known  # type: ignore[return-value]


def remembered_frame(*others: str) -> Callable[[OfStudy], OfStudy]:
    """Remember frames of a study that follow from its files, and from those of the `others`."""

    def wrapped(make: OfStudy) -> OfStudy:
        @remembered
        def known(folder: Path, study: str, _digests: str) -> pd.DataFrame:
            return make(read_run(folder), study)

        @wraps(make)
        def asked(run: RunFolder, study: str) -> pd.DataFrame:
            digests = "".join(frames_digest(run, name) for name in (study, *others))
            return known(run.path, study, digests).copy(deep=False)

        return asked

    return wrapped


def forget() -> None:
    """Forget all that is remembered."""
    for clear in _forgetting:
        clear()
