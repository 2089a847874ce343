"""Numbers that the texts derive from their own tables and that do not follow from these."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.claims.published import TEXTS, called_in_text, recompute, table_of
from ipclab.words.catalogue import N_

if TYPE_CHECKING:
    from ipclab.claims.claim import PublishedText
    from ipclab.lab.lab import Lab

SYMBOLS = {"x": "×", "us": "µs"}
COLUMNS = ("place", "printed", "computed", "by")


def derived_numbers(lab: "Lab") -> pd.DataFrame:
    """Return each number that a text derives from its own table, and whether it `follows`.

    Columns: text (its number), follows, place (text and section), printed (as the text has it),
    computed, by (how it was computed), in the reader's words.
    """
    rows = [row for study, text in TEXTS.items() for row in _rows(lab, study, text)]
    return pd.DataFrame(rows, columns=["text", "follows", *COLUMNS])


def mistakes(numbers: pd.DataFrame, lab: "Lab") -> pd.DataFrame:
    """Return a row for each mistake: numbers of one text that are wrong in one way stand together."""

    def joined(cells: "pd.Series[str]") -> str:
        return lab.words.joined(dict.fromkeys(cells), "; ")

    wrong = numbers[~numbers.follows.astype(bool)].groupby(["text", "by"], sort=False)
    return wrong[[*COLUMNS[:-1]]].agg(joined).reset_index()[[*COLUMNS]]


def _rows(lab: "Lab", study: str, text: "PublishedText") -> Iterator[tuple[Any, ...]]:
    short = lab.say(text.title).partition(",")[0]
    for number in recompute(text, table_of(lab.paths, study)):
        row, unit = number.row, number.row.printed_unit
        printed = f"{row.printed}\u00a0{SYMBOLS.get(unit, unit)}"
        called = called_in_text(row.label) if text.language == lab.words.lang else ""
        if called:  # who cannot read it has what it was computed as
            printed = lab.say(N_("{word}: {value}"), word=called, value=printed)
        spec = "x" if row.unit == "1" else "scaled" if row.unit == "B" else ""
        binary = unit in ("KiB", "MiB", "GiB")
        computed = lab.words.numbers.format(number.computed, unit if binary else spec)
        place = lab.say(N_("{text}, {section}"), text=short, section=row.section)
        yield text.number, number.follows, place, printed, computed, lab.say(number.by)
