"""How faithful a run is to the text of a study: a row a parameter, as the text and as here.

What a text did stands as data in `text.toml` beside its study; what was done here is taken from the
run: levels, counters and samples of its points, file sets, facts of its machine.

An experiment is one of all its `arms` together, or, where it is `one_of` them, of the first that a run has.

A row of `text.toml` has `what` (its name), `text` (a number, a word, or a list of levels; without it the text does
not say) and one of

* `here`: what the code does by construction; `how` names another way (rebuilt);
* `level`: a factor whose levels hold those of the text, or lack some; `begins` is what numbers among them begin with,
  `shown` as which factor they are written;
* `metric` (`op.metric`, over `share` or `times` another one), `column`, `each` (samples of an op in a launch) or `set`
  (`of` a file set): a number of each point, which may be so many times the text's (enough when `more`);
* `fact`: of the machine; `least` where the text names the least version.

`effect` names what was measured both ways: see `[effects]` there.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.frames.derived import run_digest
from ipclab.frames.remembered import remembered
from ipclab.frames.rows import narrowed
from ipclab.lab.data import Data
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity
from ipclab.store.run import read_run
from ipclab.studies.installed import studies
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab.words.catalogue import N_, SOURCE
from ipclab.words.words import Words

FILE = "text.toml"
SAME, TIMES, LACKING, OTHER, UNSTATED = "same", "times", "lacking", "other", "unstated"
ALMOST = 1e-9  # by which two numbers may differ that are the same
OF_MACHINE = N_("Machine")
LINUX = "Linux"  # what every run was measured on, whatever its system is called
MACHINE = {
    "os_name": N_("Operating system"),
    "kernel_release": N_("Kernel"),
    "cpu_model": N_("Processor"),
    "threads": N_("CPUs"),
}


@dataclass(frozen=True)
class Faithfulness:
    """A parameter of a published experiment: as the text, here, and how these relate.

    `times` are the least and the most that a number here is of the text's; `lacking` the text's
    levels that were not run; `effect` the quotients of values measured both ways; `arms` those that
    run the experiment.
    """

    experiment: str
    what: str
    text: Any
    here: Any
    how: str
    unit: str = ""
    times: tuple[float, float] = (1.0, 1.0)
    lacking: tuple[Any, ...] = ()
    why: str = ""
    factor: str = ""
    more: bool = False
    effect: list[Quantity] = field(default_factory=list)
    arms: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Tell whether it is known to be another one here than in the text."""
        enough = self.more and self.times[0] >= 1
        return self.how not in (SAME, UNSTATED) and not enough


def faithfulness(lab: Data, study: str, points: Collection[str] = ()) -> list[Faithfulness]:
    """Return the parameters of what the text of `study` did; none for a study without a text.

    Of an experiment that is `one_of` its arms these are those of given `points`, whose numbers and
    single levels are then looked at.
    """
    if not _table(study):
        return []
    return [*_of_run(lab.run.path, lab.paths, study, tuple(points), run_digest(lab.run))]


def has_another(study: str, arm: str) -> bool:
    """Tell whether another arm can stand for an arm of the text of `study`."""
    experiments = _table(study).get("experiment", [])
    return any(arm in each["arms"] and each.get("one_of") for each in experiments)


def _table(study: str) -> dict[str, Any]:
    """Return what stands of the text of a study, nothing of one without a text."""
    known = studies().get(study)
    return known.table(FILE) if known else {}


@remembered
def _of_run(
    folder: Path, paths: Paths, study: str, points: tuple[str, ...], _digest: str
) -> tuple[Faithfulness, ...]:
    lab = Data(read_run(folder), Words.load(SOURCE), paths)
    told, frame = _table(study), lab.points(study)
    chosen = frame[frame.point.isin(points)] if points else frame
    there = set(chosen.get("arm", ()))
    made = list[Faithfulness]()
    for experiment in told.get("experiment", []):
        name, where = experiment["name"], experiment.get("where", {})
        arms = [arm for arm in experiment["arms"] if arm in there]
        if experiment.get("one_of") and not points:
            arms = arms[:1]
        for row in experiment["row"]:
            if "fact" in row:
                one = _fact(lab, name, row)
            elif not arms:
                one = _of_text(name, row)
            else:
                effect = _effect(lab, frame, told.get("effects", {}).get(row.get("effect"), {}))
                arm, of_arm = (rows[rows.arm.isin(arms)] for rows in (frame, chosen))
                one = _compared(lab, name, row, arm, of_arm, None if points else where)
                one = replace(one, effect=effect)
            made.append(replace(one, arms=tuple(experiment["arms"])))
    of_text = told.get("machine", {})
    for fact, what in MACHINE.items():
        row = {"what": what, "fact": fact, "text": of_text.get(fact, "")}
        made.append(_fact(lab, OF_MACHINE, row))
    return tuple(made)


def _of_text(name: str, row: Mapping[str, Any]) -> Faithfulness:
    """Return a parameter as the text has it, until it is seen here."""
    factor, unit = row.get("shown", row.get("level", "")), row.get("unit", "")
    return Faithfulness(name, row["what"], row.get("text", ""), "", LACKING, unit, factor=factor)


def _fact(lab: Data, name: str, row: Mapping[str, Any]) -> Faithfulness:
    here = lab.run.about["machine"]["facts"].get(row["fact"]) or ""
    text = row.get("text", "")
    if not text or not here:
        how = UNSTATED
    elif row.get("least"):
        how = SAME if _version(str(here)) >= _version(text.rstrip("+")) else OTHER
    else:
        whole = f"{LINUX} {here}" if row["fact"] == "os_name" else str(here)
        how = SAME if text.lower() in whole.lower() else OTHER
    return Faithfulness(name, row["what"], text, here, how)


def _version(text: str) -> list[int]:
    return [int(part) for part in text.split(".") if part.isdecimal()]


def _compared(
    lab: Data,
    name: str,
    row: Mapping[str, Any],
    arm: pd.DataFrame,
    chosen: pd.DataFrame,
    where: Mapping[str, Any] | None,
) -> Faithfulness:
    """Return a parameter with what was done here, in rows of an arm.

    Numbers and single levels are those of the `chosen` rows, `where` levels are so; without it
    they are what was chosen, be it of the text or not.
    """
    one = _of_text(name, row)
    if "here" in row:
        how = SAME if one.text == row["here"] else OTHER
        return replace(one, here=row["here"], how=row.get("how", how))
    if "level" in row:
        own = {key: level for key, level in (where or {}).items() if key != row["level"]}
        rows = _narrowed(arm if len(one.text) > 1 else chosen, own)
        levels = [*dict.fromkeys(rows[row["level"]].dropna())]
        if begins := row.get("begins", ""):
            levels = [int(each.removeprefix(begins)) for each in levels if each.startswith(begins)]
        lacking = tuple(level for level in one.text if level not in levels)
        ran = [level for level in one.text if level in levels]
        if not ran and where is None:
            ran = levels
        why = _reason(lab, row, arm, lacking)
        return replace(one, here=ran, how=LACKING if lacking else SAME, lacking=lacking, why=why)
    rows = _narrowed(chosen, {**(where or {}), **row.get("only", {})})
    numbers = [float(number) for number in _numbers(lab, row, rows)]
    if not numbers:
        return one
    low, high = min(numbers), max(numbers)
    one = replace(one, here=(low, high), more=row.get("more", False))
    if one.text == "":
        return replace(one, how=UNSTATED)
    same = all(abs(end - one.text) <= ALMOST * one.text for end in (low, high))
    return replace(one, how=SAME if same else TIMES, times=(low / one.text, high / one.text))


def _reason(lab: Data, row: Mapping[str, Any], arm: pd.DataFrame, lacking: Iterable[Any]) -> str:
    """Return why the machine could not run the levels that are lacking, "" where it was not asked to."""
    noted = lab.run.about["points"]
    words = {f"{row.get('begins', '')}{level}" for level in lacking}
    arms = set(arm.arm)
    if not (words and noted and lab.run.profile in PROFILES):
        return ""
    points = studies()[str(arm.study.iloc[0])].points(PROFILES[lab.run.profile], Sweep())
    mine = (point for point in points if point.levels["arm"] in arms and point.id in noted)
    return next((noted[p.id] for p in mine if str(p.key()[row["level"]]) in words), "")


def _numbers(lab: Data, row: Mapping[str, Any], rows: pd.DataFrame) -> Iterable[Any]:
    """Return what each point has of a parameter that is a number."""
    if "set" in row:
        made = lab.run.about["notes"].get("file_io", {}).get("sets", {}).get(row["set"])
        return [made[row.get("of", "count")]] if made else []
    if "column" in row:
        return list(rows.drop_duplicates("point")[row["column"]].dropna())
    if "each" in row:
        timed = rows[(rows.op == row["each"]) & (rows.metric == "p50")]
        return list((timed.samples / timed.launches).dropna())
    by_name = rows.set_index(rows.op + "." + rows.metric)

    def values(name: str) -> "pd.Series[float]":
        return by_name[by_name.index == name].set_index("point").value

    made = values(row["metric"]) / row.get("share", 1)
    if "times" in row:
        made *= values(row["times"])
    return list(made.dropna())


def _narrowed(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows with all `levels`; none where a factor is none of the frame."""
    return narrowed(frame, levels) if levels.keys() <= set(frame) else frame.iloc[:0]


def _effect(lab: Data, frame: pd.DataFrame, told: Mapping[str, Any]) -> list[Quantity]:
    """Return how many times `under` the values of `over` are, by what both have in common."""
    if not told:
        return []
    over, under = (
        _narrowed(frame, {"op": told["op"], "metric": "p50", **told[side]})
        for side in ("over", "under")
    )
    common = [*over.columns.intersection(told["by"])]
    keys: list[Any] = over[common].merge(under[common]).drop_duplicates().to_dict("records")
    made = [lab.value(over, **key) / lab.value(under, **key) for key in keys]
    return [one for one in made if one]
