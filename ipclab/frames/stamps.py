"""What the frames of a run follow from: its samples, what it asks, and the code that derives them."""

import hashlib
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import pandas as pd
import pyarrow as pa

from ipclab.store.files import sha256
from ipclab.store.run import RunFolder, read_run

Read = Callable[[RunFolder, str], pd.DataFrame]
Asked = ParamSpec("Asked")
Told = TypeVar("Told")

_forgetting: list[Callable[[], None]] = []


def remembered(most: int = 16) -> Callable[[Callable[Asked, Told]], Callable[Asked, Told]]:
    """Have the last `most` results of a function in memory, whose arguments hold the stamps that
    these follow from; `forget` forgets them.
    """

    def wrapped(function: Callable[Asked, Told]) -> Callable[Asked, Told]:
        known = lru_cache(maxsize=most)(function)
        _forgetting.append(known.cache_clear)
        return known  # type: ignore[return-value]

    return wrapped


def forget() -> None:
    """Forget all that is `remembered` of runs."""
    for clear in _forgetting:
        clear()


# What values are told with
TOLD = "begun", "finished", "parameters", "machine", "sessions", "thinned"
# What frames depend on beside the samples.
CODE = "frames", "stats", "store"


def kept(*others: str) -> Callable[[Read], Read]:
    """Have a frame of a study read once, until files of that study or of the `others` change.

    It is `remembered` by the folder of the run with their stamps.
    """

    def wrapped(read: Read) -> Read:
        @remembered()
        def known(folder: Path, study: str, _stamps: str) -> pd.DataFrame:
            return read(read_run(folder), study)

        @wraps(read)
        def asked(run: RunFolder, study: str) -> pd.DataFrame:
            stamps = "".join(stamp(run, name) for name in (study, *others))
            return known(run.path, study, stamps).copy(deep=False)

        return asked

    return wrapped


def stamp(run: RunFolder, study: str) -> str:
    """Return a digest of what the frames of `study` follow from: samples, contests and code."""
    digests = run.about["files"]
    samples = sorted(f"{name} {digests[name]}" for name in run.points(study))
    questions = run.questions
    told = [run.about.get(name) for name in TOLD]
    asked = f"{study} {questions.same} {questions.of(study).races} {told}"
    return hashlib.sha256("\n".join([_code(), asked, *samples]).encode()).hexdigest()


@cache
def _code() -> str:
    package = Path(__file__).parents[1]
    files = {file for name in CODE for file in (package / name).rglob("*")}
    kept = sorted(file for file in files if file.suffix in (".py", ".toml"))
    writers = f"{pd.__version__} {pa.__version__}"
    return hashlib.sha256("".join([writers, *map(sha256, kept)]).encode()).hexdigest()
