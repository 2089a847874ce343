"""The texts' own tables as frames, in the columns of a run's frames where they mean the same."""

import pandas as pd

from ipclab.errors import UsageError, nearest
from ipclab.paths import Paths

NAMES = {"quantity": "metric", "value": "printed", "unit": "printed_unit", "value_si": "value", "unit_si": "unit"}


def published(paths: Paths, study: str) -> pd.DataFrame:
    """Return every number that the text of `study` prints: where it stands, as printed, and in SI units.

    Raises `UsageError` for a study without a text.
    """
    files = {file.stem[4:]: file for file in sorted(paths.published.glob("[0-9][0-9][0-9]_*.csv"))}
    if study not in files:
        raise UsageError(f"study {study!r} has no published text", "", f"did you mean {nearest(study, files)!r}?")
    told = pd.read_csv(files[study], dtype=str, keep_default_na=False).rename(columns=NAMES)
    whole = {name: told[name].replace("", pd.NA).astype("Int64") for name in ("size_bytes", "entries") if name in told}
    return told.assign(value=told.value.astype(float), **whole)
