"""How faithful a run is to the text of a study: a row a parameter, as the text and as here.

What a text did stands as data in `text.toml` beside its study; what was done here is taken from the
run: levels, counters and samples of its points, file sets, facts of its machine.

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

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE
from ipclab.claims.words_of_texts import WORDS
from ipclab.frames.derived import stamps
from ipclab.frames.remembered import remembered
from ipclab.lab.data import Data
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity
from ipclab.store.run import read_run
from ipclab.studies.arms import table
from ipclab.studies.installed import studies
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab.words.catalogue import N_, SOURCE
from ipclab.words.words import Words

FILE = "text.toml"
SAME, TIMES, LACKING, OTHER, UNSTATED = "same", "times", "lacking", "other", "unstated"
ALMOST = 1e-9  # by which two numbers may differ that are the same
SAID = {
    SAME: N_("the same"),  # "same" alone is a level
    TIMES: N_("× {k}"),
    LACKING: N_("not run here: {levels} ({why})"),
    OTHER: N_("other"),
    UNSTATED: N_("not stated"),
}
NOT_RUN, NONE_RUN = N_("not run here"), N_("not run here ({why})")
NOT_OF_TEXT = N_("not run by the text")
LEFT_OUT = N_("not of the profile {profile}")
OF_MACHINE = N_("Machine")
RANGE = N_("{low} to {high}")
CHANGES = N_("{k} of {n} values, {low} to {high} times")
BUT = N_("identical but for: {rows}")
DECIDED = N_("Decided: {m} of the {n} statements that this machine can test.")
IDENTICAL = N_("identical in all {n} parameters")
OF_COUNT, OF_WORD = N_("{here} of {text}"), N_("{here} instead of {text}")
OF_TEXT = N_("{what} ({parts})")
EVERY_ARM = 2  # an experiment of more arms is one of all of them together
COLUMNS = {
    "experiment": N_("Experiment"),
    "what": N_("Parameter"),
    "text": N_("As the text"),
    "here": N_("Here"),
    "how": N_("Faithful"),
    "effect": N_("Changes the result"),
}
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


def faithfulness(lab: Data, study: str) -> list[Faithfulness]:
    """Return the parameters of what the text of `study` did; none for a study without a text."""
    if not _table(study):
        return []
    return [*_of_run(lab.run.path, lab.paths, study, stamps(lab.run))]


def _table(study: str) -> dict[str, Any]:
    """Return what stands of the text of a study, nothing of one without a text."""
    known = studies().get(study)
    return table(Path(inspect.getfile(type(known))).with_name(FILE)) if known else {}


@remembered
def _of_run(folder: Path, paths: Paths, study: str, _stamps: str) -> tuple[Faithfulness, ...]:
    lab = Data(read_run(folder), Words.load(SOURCE), paths)
    told, frame = _table(study), lab.points(study)
    made = [
        replace(one, arms=tuple(experiment["arms"]))
        for experiment in told.get("experiment", [])
        for one in _of(lab, frame, experiment, told)
    ]
    machine = [
        _fact(
            lab,
            OF_MACHINE,
            {"what": what, "fact": fact, "text": told.get("machine", {}).get(fact, "")},
        )
        for fact, what in MACHINE.items()
    ]
    return *made, *machine


def _of(
    lab: Data, frame: pd.DataFrame, experiment: Mapping[str, Any], told: Mapping[str, Any]
) -> Iterator[Faithfulness]:
    """Yield the parameters of one experiment, of the first of its arms that the run has."""
    name = experiment["name"]
    arms = [arm for arm in experiment["arms"] if arm in set(frame.get("arm", ()))]
    arm = (
        frame[frame.arm.isin(arms if len(experiment["arms"]) > EVERY_ARM else arms[:1])]
        if arms
        else None
    )
    for row in experiment["row"]:
        if "fact" in row:
            yield _fact(lab, name, row)
        elif arm is None:
            factor, unit = row.get("shown", row.get("level", "")), row.get("unit", "")
            text = row.get("text", "")
            yield Faithfulness(name, row["what"], text, "", LACKING, unit, factor=factor)
        else:
            effect = _effect(lab, frame, told.get("effects", {}).get(row.get("effect"), {}))
            yield _compared(lab, name, row, arm, experiment.get("where", {}), effect)


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
    where: Mapping[str, Any],
    effect: list[Quantity],
) -> Faithfulness:
    text, what, unit = row.get("text", ""), row["what"], row.get("unit", "")
    if "here" in row:
        same = SAME if text == row["here"] else OTHER
        return Faithfulness(
            name, what, text, row["here"], row.get("how", same), unit, effect=effect
        )
    if "level" in row:
        factor = row["level"]
        own = {key: level for key, level in where.items() if key != factor}
        levels = [*dict.fromkeys(_narrowed(arm, own)[factor].dropna())]
        if begins := row.get("begins"):
            levels = [
                int(level.removeprefix(begins)) for level in levels if level.startswith(begins)
            ]
        lacking = tuple(level for level in text if level not in levels)
        ran = [level for level in text if level in levels]
        how = LACKING if lacking else SAME
        why = _reason(lab, row, arm, lacking)
        factor = row.get("shown", factor)
        return Faithfulness(
            name, what, text, ran, how, unit, lacking=lacking, why=why, factor=factor, effect=effect
        )
    rows = _narrowed(arm, {**where, **row.get("only", {})})
    numbers = [float(number) for number in _numbers(lab, row, rows)]
    if not numbers:
        return Faithfulness(name, what, text, "", LACKING, unit, effect=effect)
    low, high = min(numbers), max(numbers)
    if text == "":
        return Faithfulness(name, what, text, (low, high), UNSTATED, unit, effect=effect)
    same = abs(low - text) <= ALMOST * text and abs(high - text) <= ALMOST * text
    how, times = (SAME if same else TIMES), (low / text, high / text)
    more = row.get("more", False)
    return Faithfulness(name, what, text, (low, high), how, unit, times, more=more, effect=effect)


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
    values = _metric(rows, row["metric"]) / row.get("share", 1)
    if "times" in row:
        values *= _metric(rows, row["times"])
    return list(values.dropna())


def _metric(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of `op.metric`, by point."""
    op, _, metric = name.rpartition(".")
    return rows[(rows.op == op) & (rows.metric == metric)].set_index("point").value


def _narrowed(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    for name, level in levels.items():
        wanted = level if isinstance(level, list) else [level]
        frame = frame[frame[name].isin(wanted)] if name in frame else frame.iloc[:0]
    return frame


def _effect(lab: Data, frame: pd.DataFrame, told: Mapping[str, Any]) -> list[Quantity]:
    """Return how many times `under` the values of `over` are, by what both have in common."""
    if not told:
        return []
    ops = {"op": told["op"], "metric": "p50"}
    over, under = (_narrowed(frame, {**ops, **told[side]}) for side in ("over", "under"))
    common = [*over.columns.intersection(told["by"])]
    keys = over[common].merge(under[common]).drop_duplicates().to_dict("records")
    metric = {"metric": "p50"}
    made = [
        lab.value(over, **metric, **{str(name): level for name, level in key.items()})
        / lab.value(under, **metric, **{str(name): level for name, level in key.items()})
        for key in keys
    ]
    return [one for one in made if one]


def faithful(lab: Data, study: str) -> pd.DataFrame:
    """Return `faithfulness` in the reader's words, for `lab.table`: a row each, indexed by what."""
    rows = [
        {
            "experiment": _word(lab, one.experiment),
            "what": _word(lab, one.what),
            "text": _told(lab, one, one.text),
            "here": _told(lab, one, one.here) or _word(lab, NOT_RUN),
            "how": _how(lab, one),
            "effect": _changes(lab, one.effect),
        }
        for one in faithfulness(lab, study)
    ]
    heads = {name: lab.words.translate(head) for name, head in COLUMNS.items()}
    frame = pd.DataFrame(rows, columns=[*COLUMNS]).rename(columns=heads)
    return frame.set_index([heads["experiment"], heads["what"]])


def identical_but(lab: Data, study: str, most: int = 0) -> str:
    """Return in one line what differs from the text of `study`; "" for a study without a text.

    Of many the first are named, `most` of them, counts and levels before all else.
    """
    every = faithfulness(lab, study)
    counted_first = sorted(every, key=lambda one: not _is_counted(one)) if most else every
    if rows := _differing(lab, counted_first, most):
        return lab.say(BUT, rows=rows)
    stated = [one for one in every if one.how != UNSTATED]
    return lab.say(IDENTICAL, n=len(stated)) if every else ""


def less_of(lab: Data, study: str) -> dict[str, str]:
    """Return for each arm that the text of `study` ran what was run less of here, in a few words.

    That are its counts and levels, by which one claim is judged otherwise than another; programs
    and machines, which all of them share, are told by `identical_but`.
    """
    every = [one for one in faithfulness(lab, study) if one.arms]
    counted = [one for one in every if _is_counted(one)]
    by_arm = {arm: [one for one in counted if arm in one.arms] for one in every for arm in one.arms}
    return {arm: _differing(lab, rows) or _word(lab, SAID[SAME]) for arm, rows in by_arm.items()}


def _is_counted(one: Faithfulness) -> bool:
    """Tell whether a parameter is a number of the text, or several levels."""
    return isinstance(one.text, int | float | list)


def _differing(lab: Data, every: Iterable[Faithfulness], most: int = 0) -> str:
    """Return the parameters that differ, each with how, `most` of them; "" where none does."""
    differing = dict[str, dict[str, None]]()
    for one in (one for one in every if one.differs):
        differing.setdefault(one.what, {})[_briefly(lab, one)] = None
    rows = [
        lab.say(OF_TEXT, what=_word(lab, what), parts=lab.words.joined([*parts]))
        for what, parts in differing.items()
    ]
    said = lab.words.joined(rows[: most or None], N_("; "))
    more = len(rows) - most if most else 0
    return lab.say(N_("{which} and {more} more"), which=said, more=more) if more > 0 else said


def _briefly(lab: Data, one: Faithfulness) -> str:
    """Return how a parameter differs from the text in a few words, such as `578 of 50,000`."""
    if isinstance(one.text, list):
        return lab.say(OF_COUNT, here=str(len(one.here)), text=str(len(one.text)))
    here = _told(lab, one, one.here) or lab.words.translate(NOT_RUN)
    form = OF_COUNT if isinstance(one.text, int | float) and one.here else OF_WORD
    return lab.say(form, here=here, text=_told(lab, one, one.text))


def statements_decided(lab: Data, claims: pd.DataFrame) -> str:
    """Return how many of the statements in `claims` (as `audited`) the published method decides.

    They are those that the machine can test, be they measured in this run or not.
    """
    testable = claims[(claims.here != NOT_TESTABLE) | claims.unmeasured]
    count = int(testable.here.isin([HOLDS, FAILS]).sum())
    return lab.say(DECIDED, n=len(testable), m=count)


def _word(lab: Data, text: str) -> str:
    return lab.words.translate(WORDS.get(text, text)) if text else ""


def _told(lab: Data, one: Faithfulness, value: Any) -> str:
    """Return what a side of a parameter is, in words: levels, a range of numbers, a name."""
    if isinstance(value, list):
        return lab.words.joined(
            [lab.level(one.factor, level) if one.factor else str(level) for level in value]
        )
    if isinstance(value, tuple):
        low, high = (_number(lab, number, one.unit) for number in value)
        return low if low == high else lab.say(RANGE, low=low, high=high)
    if isinstance(value, int | float):
        return _number(lab, value, one.unit)
    return _word(lab, value)


def _number(lab: Data, number: float, unit: str) -> str:
    if unit:
        return lab.words.numbers.format(Quantity(number, unit), "")
    return lab.words.numbers.number(number, 0 if number >= 1 else None)


def _how(lab: Data, one: Faithfulness) -> str:
    if one.how == LACKING and not one.lacking:
        return lab.words.translate(NOT_RUN)
    levels = lab.words.joined([lab.level(one.factor, level) for level in one.lacking])
    low, high = (f"{times:.3g}" for times in one.times)
    k = low if low == high else lab.say(RANGE, low=low, high=high)
    if one.how not in SAID:
        return _word(lab, one.how)
    profile = lab.level("profile", lab.run.profile)
    why = one.why or lab.say(LEFT_OUT, profile=profile)
    said = SAID[one.how] if one.here else NONE_RUN
    return lab.say(said, k=k, levels=levels, why=why)


def _changes(lab: Data, effect: list[Quantity]) -> str:
    """Return of how many values measured both ways the quotient excludes 1, and its range."""
    if not effect:
        return ""
    changed = [one for one in effect if one.ends[0] > 1 or one.ends[1] < 1]
    low, high = (f"{extreme(float(one.value) for one in effect):.3g}" for extreme in (min, max))
    return lab.say(CHANGES, k=len(changed), n=len(effect), low=low, high=high)
