"""What varies in the rows of a study."""

from typing import Any

import pandas as pd

from ipclab.frames.points import VALUES


def factors(rows: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the levels of each factor that varies in a study's rows, arms left out."""
    names = rows.columns.difference(["study", "point", "arm", *VALUES])
    varied = [name for name in names if rows[name].nunique() > 1]
    return {name: list(rows[name].dropna().sort_values(kind="stable").unique()) for name in varied}
