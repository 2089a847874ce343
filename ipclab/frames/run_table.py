"""The table of runs: a row for each op of each point, with its levels, its medians and its run.

`compare` and `values` have these columns; each adds what it makes of them.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

RUN = ("run", "machine", "label", "begun", "profile")  # of which run a row is
PLACE = ("backend", "size_bytes", "placement")  # levels that every point has
HEAD = ("study", "point", "op", *PLACE, "levels")
MEDIANS = (*RUN, *HEAD, "relation", "medians")
Row = dict[Any, Any]


def told_of_run(run: str, about: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns `RUN` of the run called `run`, whose `run.json` is `about`."""
    parameters = about["parameters"]
    machine = str(about["machine"]["digest"])
    label, profile = str(parameters.get("label", "")), str(parameters["profile"])
    return dict(zip(RUN, (run, machine, label, about["begun"], profile), strict=True))


def op_rows(frame: pd.DataFrame, columns: Iterable[str]) -> list[Row]:
    """Return the columns `HEAD` of each row of a study's frame; `columns` are no levels of it.

    The column `levels` has those beside `PLACE`, without factors that the point has not.
    """
    factors = [name for name in frame if name not in {*HEAD, *columns}]
    rows = []
    for row in frame.to_dict("records"):
        levels = {str(name): row[name] for name in factors if pd.notna(row[name])}
        rows.append({**{name: row[name] for name in HEAD[:-1]}, "levels": levels})
    return rows


def medians_table(
    run: Mapping[str, str], launches: Iterable[pd.DataFrame], columns: Iterable[str]
) -> pd.DataFrame:
    """Return the columns `MEDIANS` of a run (`RUN`), ordered by study, point and op.

    `launches` are launch frames of one metric, by study, whose `columns` are no levels. `medians`
    is a list (ns) without those that are not known.
    """
    rows = []
    for frame in launches:
        by_op = frame.groupby(["point", "op"], sort=True)
        firsts = by_op.head(1).sort_values(["point", "op"])
        for row, relation, (_, part) in zip(
            op_rows(firsts, columns), firsts.relation, by_op.value, strict=True
        ):
            rows.append({**run, **row, "relation": relation, "medians": list(part.dropna())})
    return pd.DataFrame(rows, columns=list(MEDIANS))


def levels_as_text(levels: Mapping[str, Any], by: str = " ") -> str:
    """Return a cell of the column `levels` as text, such as "arm=main wait=block"."""
    return by.join(f"{name}={level}" for name, level in levels.items())
