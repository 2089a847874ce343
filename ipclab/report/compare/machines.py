"""Runs of two or more machines as a notebook holds them: points, facts, and findings of each pair."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ipclab.frames.run_table import levels_as_text
from ipclab.lab.finding import ALIKE, FEW, LESS, MORE, OPEN, STATE, Finding, not_measured
from ipclab.lab.kinds import together
from ipclab.lab.lab import Lab
from ipclab.machine.facts import FACTS
from ipclab.paths import checkout
from ipclab.quantile import MEDIAN
from ipclab.report.appendix.about import told_fact
from ipclab.report.appendix.limits import NAMING
from ipclab.report.compare import LIMITS, order, shared
from ipclab.report.compare.facts import differing_facts
from ipclab.report.compare.held import ComparedRun, compared_run, runs_to_compare
from ipclab.stats.compare import EQUIVALENCE, FASTER, NOT_TESTED, SAME, SLOWER, UNDECIDED
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.words.amounts import as_data
from ipclab.words.catalogue import N_, SOURCE

MOST_APART = 3  # facts that are named
TOLD = {  # what a verdict on a point is in a finding
    FASTER: LESS,
    SLOWER: MORE,
    SAME: ALIKE,
    UNDECIDED: OPEN,
    NOT_TESTED: FEW,
}
ALWAYS = ("cpu_model", "kernel_release")  # facts that every comparison shows
TIMES, BOUNDS = N_("Times over the first run's"), N_("Limits over the first run's")
LONGEST = 160  # characters of a fact


@dataclass(frozen=True)
class Machines:
    """Runs, each compared with the first: `points` of each pair of runs, and `orders` that change.

    `points` are those that both runs hold (of `every`), with the columns of `shared_points`.
    """

    lab: Lab
    folders: Sequence[RunFolder]
    runs: Sequence[ComparedRun]
    every: pd.DataFrame

    @property
    def names(self) -> list[str]:
        """What the runs are called: A, B, ..."""
        return shared.run_names(self.runs)

    @property
    def pairs(self) -> list[tuple[str, str, str]]:
        """Each pair's name with the names of its first and its second run."""
        first, *others = self.names
        both = zip(shared.run_pairs(self.runs), others, strict=True)
        return [(pair, first, other) for (pair, _, _), other in both]

    @property
    def points(self) -> pd.DataFrame:
        """The rows of points that both runs of a pair hold."""
        return self.every[self.every.verdict.isin(shared.VERDICTS)]

    @property
    def orders(self) -> pd.DataFrame:
        """Pairs of mechanisms, and whether both runs show (`shown`) that their order changes."""
        return order.order_changes(self.runs)

    def effect(self, pair: str, points: pd.DataFrame, op: str = "operation") -> Finding:
        """Return at how many points the second run takes longer than the first, and by how much.

        `op` is what the points are called together.
        """
        rows = points[(points.pair == pair) & points.verdict.isin(TOLD)].sort_values(
            "ratio", kind="stable"
        )
        if rows.empty:
            return not_measured("effect")
        told = rows.verdict.map(TOLD)
        counts = {each: int((told == each).sum()) for each in (MORE, LESS, ALIKE, FEW)} | {STATE: 0}
        values = {"all": len(rows), "by": "point", "same": EQUIVALENCE, **counts}
        values |= _ends(MORE, rows[told == MORE]) | _ends(LESS, rows[told == LESS][::-1])
        called = dict(zip(self.names, map(_called, self.names, self.runs), strict=True))
        first, second = next(both for name, *both in self.pairs if name == pair)
        sides = [{"run": called[second]}, {"run": called[first]}]
        decided = together(counts, len(rows))
        return Finding("effect", decided, "time", {"op": op}, sides, values, [*rows.point])

    def overview(self) -> pd.DataFrame:
        """Return what each run is, its machine, and the facts in which the machines differ most.

        A row for each of these, a column for each run.
        """
        say, about = self.lab.say, [run.about for run in self.runs]
        rows: dict[str, Sequence[Any]] = {
            say(N_("Begun")): [Quantity(each["begun"], "date") for each in about],
            say(N_("Profile")): [each["parameters"]["profile"] for each in about],
            say(N_("Points")): [Quantity(run.points.point.nunique(), "count") for run in self.runs],
        }
        every = differing_facts(self.runs)
        most = [*every[every.name.isin(ALWAYS)].index, *self._most_apart(every)]
        for row in every.loc[most].to_dict("records"):
            rows[say(row["fact"])] = [self._fact(row[name], row["unit"]) for name in self.names]
        is_limit = self.points.study == LIMITS
        for said, part in ((TIMES, self.points[~is_limit]), (BOUNDS, self.points[is_limit])):
            means = [shared.mean_ratio(part[part.pair == pair]) for pair, _, _ in self.pairs]
            rows[say(said)] = [Quantity(1), *means]
        made = pd.DataFrame.from_dict(rows, orient="index", columns=self.names)
        return made.rename_axis("what").reset_index()

    def ratios(self) -> pd.DataFrame:
        """Return what points take on other runs, over the first: a column for each placement.

        Of the levels those are told that most points of a study do not have.
        """
        known = self.points.dropna(subset=["ratio", "low", "high"])
        ends = known[["ratio", "low", "high"]].astype(float).to_numpy()
        cells = [Quantity(ratio, "1", low, high) for ratio, low, high in ends]
        told = known.groupby("study").levels.transform(_telling).map(levels_as_text)
        known = known.assign(cell=pd.Series(cells, known.index, dtype=object), levels=told)
        index = [*(["pair"] if len(self.pairs) > 1 else []), "study", "op", "backend", "size_bytes"]
        return known.pivot(index=[*index, "levels"], columns="placement", values="cell")

    def differences(self) -> pd.DataFrame:
        """Return the facts that differ, by what they affect: a column for each run."""
        every = differing_facts(self.runs)
        rows = every[~every.same.astype(bool)]
        for name in self.names:
            cells = zip(rows[name], rows.unit, strict=True)
            rows = rows.assign(**{name: [self._fact(*cell)[:LONGEST] for cell in cells]})
        said = {name: rows[name].map(self.lab.words.translate) for name in ("affects", "fact")}
        rows = rows.assign(**said)[["affects", "fact", *self.names]]
        return rows.assign(affects=rows.affects.mask(rows.affects.duplicated(), ""))

    def _most_apart(self, every: pd.DataFrame) -> list[Any]:
        """Return the places of the facts that differ most: numbers by their ratio, then others."""
        listed = {fact.name for fact in FACTS if fact.shown} - {*ALWAYS}
        rows = every[~every.same.astype(bool) & every.name.isin(listed)]
        apart = {place: _times(row) for place, row in rows[self.names].iterrows()}
        return sorted(apart, key=lambda place: -apart[place])[:MOST_APART]

    def _fact(self, value: Any, unit: str) -> str:
        return self.lab.words.translate(told_fact(self.lab, value, unit))


def _telling(levels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return levels without those that most points of the study have."""
    every = pd.DataFrame([*levels]).astype(str)
    usual = {name: every[name].mode().iloc[0] for name in every}
    return levels.map(
        lambda each: {name: level for name, level in each.items() if str(level) != usual[name]}
    )


def _ends(way: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the points with the least and the most difference one way, as a finding has them."""
    if rows.empty:
        return {}
    made = {}
    for name, row in zip(("least", "most"), rows.iloc[[0, -1]].to_dict("records"), strict=True):
        ratio = Quantity(row["ratio"], "1", row["low"], row["high"])
        made[f"{way}_{name}"] = [{key: row[key] for key in NAMING if row[key]}, as_data(ratio)]
    return made


def _called(name: str, run: ComparedRun) -> str:
    """Return a run's name with its processor, without the signs of its maker's rights."""
    model = str(run.about["machine"]["facts"].get("cpu_model") or "")
    return f"{name} ({re.sub(r'[(](R|TM)[)]', '', model)})" if model else name


def _times(values: "pd.Series[Any]") -> float:
    """Return the factor between the least and the most of numbers; 0 of what is none."""
    if not all(isinstance(value, int | float) and value > 0 for value in values):
        return 0
    return float(max(values) / min(values))


def machines(runs: Sequence[str], quantile: float = MEDIAN, lang: str = SOURCE) -> Machines:
    """Open two or more runs (folders or bundles; empty: the two that are committed).

    Of each launch its `quantile` is compared. Raises what `runs_to_compare` and `compared_run` do.

    >>> both = ipclab.machines([])
    >>> both.lab.finding(*(both.effect(pair, both.points) for pair, _, _ in both.pairs))
    """
    folders = runs_to_compare(checkout(), runs)
    compared = [compared_run(run, quantile) for run in folders]
    lab = Lab.open(run=str(folders[0].path), lang=lang)
    return Machines(lab, folders, compared, shared.shared_points(compared))
