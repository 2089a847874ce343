"""A table as CSV: numbers as they are, and no text that a spreadsheet takes for a formula."""

from typing import TYPE_CHECKING, Any

from ipclab.text import Text

if TYPE_CHECKING:  # which takes long to load, and commands import this
    import pandas as pd


def csv(table: "pd.DataFrame", **how: Any) -> str:
    """Return `table` as CSV with lines that end in LF.

    `how` is of `DataFrame.to_csv`. Each text is `plain`, and has a `'` before what would make it a
    formula.
    """
    safe = table.copy(deep=False)
    for name in table.select_dtypes(["object", "string", "category"]):
        safe[name] = table[name].map(_cell)
    return str(safe.rename(columns=_cell).to_csv(index=False, lineterminator="\n", **how))


def _cell(value: Any) -> Any:
    return Text(value).csv if isinstance(value, str) else value
