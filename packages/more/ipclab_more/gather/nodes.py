"""The nodes of an index, and the fastest mechanism of each by question.

A node is a machine with a label; a machine whose runs have none is one node.
"""

import pandas as pd

from ipclab.lab.runs import COARSE
from ipclab.store.questions import PROFILES
from ipclab_more.gather.index import Index

NODE = ["machine", "label", "file"]
ASKED = ["study", "op", "size_bytes", "placement", "levels"]
QUESTION = ["file", *ASKED]
NO_LEVELS = "{}"


def nodes(index: Index) -> pd.DataFrame:
    """Return the bundle that stands for each node, in the order of machines and labels.

    It is the one of any profile but the coarsest, with most ops, of the highest profile, the
    newest.
    """
    bundles = index.bundles
    # without the long columns, which are slow to sort
    whole = bundles.loc[bundles.why == "", [*NODE, "begun", "profile"]]
    places = {name: place for place, name in enumerate(PROFILES)}
    ops = index.values.file.value_counts()
    ranked = whole.assign(
        fine=whole.profile != COARSE,
        ops=whole.file.map(ops.to_dict()).fillna(0),
        place=whole.profile.map(places).fillna(-1),
    )
    ranked = ranked.sort_values(["fine", "ops", "place", "begun", "file"])
    last = ranked.drop_duplicates(["machine", "label"], keep="last")
    last = last.sort_values(["machine", "label"])
    return bundles.loc[last.index].reset_index(drop=True)


def answers(chosen: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return the fastest mechanism of each node `chosen` by question, with its time (ns).

    It is so by its median; `alike` are those whose interval reaches that median. Round trips are
    those of each mechanism at its plainest.
    """
    mine = _asked(chosen, values)
    is_first = ~mine.duplicated(QUESTION)
    first = mine[is_first].astype({"file": str, "levels": str, "backend": str})
    question = is_first.cumsum().to_numpy() - 1  # the place in `first` of the answer
    backend = mine.backend.cat.codes.to_numpy()
    fastest = backend[is_first][question]
    median = first.ns.to_numpy()[question]
    is_rival = (mine.low <= median) & (backend != fastest)
    alike: list[list[str]] = [[] for _ in range(len(first))]
    for place, name in zip(question[is_rival], mine.backend[is_rival], strict=True):
        alike[place].append(name)
    by_node = first.assign(alike=[" ".join(names) for names in alike])
    by_node = by_node.rename(columns={"backend": "fastest"})
    by_node = by_node.merge(chosen[NODE], on="file")
    return by_node[[*NODE, *ASKED, "fastest", "ns", "alike"]]


def _asked(chosen: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return the ops that answer the questions of the nodes `chosen`, by question and time.

    Texts are categories, which take a hundredth of the memory.
    """
    trips = values.study == "round_trip"
    plainest = values.plain.astype(bool) | ~trips
    asked = values.file.isin(chosen.file) & plainest
    mine = values.loc[asked, [*QUESTION, "backend", "ns", "low"]]
    levels = _sorted_texts(mine.levels, NO_LEVELS)
    mine = mine.assign(
        file=_sorted_texts(mine.file),
        levels=levels.mask(trips, NO_LEVELS),
        backend=_sorted_texts(mine.backend),
    )
    return mine.sort_values([*QUESTION, "ns", "backend"], ignore_index=True)


def _sorted_texts(column: pd.Series, *more: str) -> pd.Series:
    """Return texts as categories that sort as texts do, with `more` categories."""
    texts = sorted({*column.unique(), *more})
    return column.astype(pd.CategoricalDtype(texts, ordered=True))


def matrix(answers: pd.DataFrame) -> pd.DataFrame:
    """Return `answers` as a matrix: nodes by questions, the fastest mechanism in each cell."""
    op = answers.op.astype(str)
    size = answers.size_bytes.astype(str)
    placement = answers.placement.astype(str)
    levels = answers.levels.where(answers.levels != NO_LEVELS, "")
    question = op + " " + size + " " + placement + levels
    asked = answers.assign(question=question)
    wide = asked.pivot_table("fastest", NODE, "question", aggfunc="first")
    return wide.reset_index().rename_axis(columns=None)
