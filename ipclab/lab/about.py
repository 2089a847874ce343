"""What every report says of its run: how much was measured, on what machine, and what the hardware allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import Markdown

from ipclab.frames import calibration as own_calibration
from ipclab.frames.address import quantity
from ipclab.frames.limits import floors
from ipclab.frames.thin import THINNED
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH
from ipclab.lab.table import Table
from ipclab.machine import shown
from ipclab.measure import calibration as machine_calibration
from ipclab.plugins import chosen
from ipclab.stats.quantity import Quantity
from ipclab.store.archive import CALIBRATION
from ipclab.store.run import RunFolder
from ipclab.studies.installed import study
from ipclab.studies.limits import MEMCPY_SIZES
from ipclab.studies.profile import profile

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

GIB = 1 << 30
MOST_TOLD = 3  # results that a notice names
LIMITS = labels.SAID["limits"]


def about(lab: "Lab", what: str) -> pd.DataFrame:
    """Return what every report says of its run, to be shown as a table: "run", "machine", "limits", "calibration".

    >>> lab.table(lab.about("run"), _("The run behind this report"), name="run")
    """
    return chosen("item of a report", what, ABOUT)(lab)


def run(lab: "Lab") -> pd.DataFrame:
    """Return how much was measured in how many sessions, how it ended, and what disturbed it (item, value)."""
    about, held = lab.run.about, lab.studies
    medians = _together((lab.points(name, metric="p50") for name in held), ["point", "op", "samples", "flags"])
    medians = medians[~medians.op.astype(str).str.contains(".", regex=False)]
    points = medians.drop_duplicates("point")
    columns = ["study", "point", "launch", "flags"]
    launches = _together((lab.launches(name) for name in held), columns).drop_duplicates()
    asked = profile(about["parameters"]["profile"])
    least = {name: study(name).effort(asked).least_launches for name in held}
    undisturbed = launches["flags"].eq("").groupby([launches.study, launches.point]).sum()
    short = int((undisturbed < undisturbed.index.get_level_values("study").map(least)).sum())
    disturbed = float((launches["flags"] != "").mean()) if len(launches) else None
    ended = points["flags"].astype(str).str.split(";").str[0].value_counts()
    drift, modes = (
        medians.point[medians["flags"].astype(str).str.contains(flag, regex=False)].nunique()
        for flag in ("drift:", "modes:")
    )
    sessions = [(each["conditions"], each.get("conditions_end") or {}) for each in about["sessions"]]
    ends = [*(first for first, _ in sessions[:1]), *(last for _, last in sessions[-1:])]
    loads = [lab.numbers.number(each["load_1"], 2) for each in ends if each.get("load_1") is not None]
    stolen = [(last.get("steal_ns") or 0) - (first.get("steal_ns") or 0) for first, last in sessions if last]
    items = {
        N_("Run"): lab.run.id,
        N_("Begun"): Quantity(about["begun"], "date"),
        N_("Profile"): about["parameters"]["profile"],
        N_("Seed of all orders and intervals"): str(about["seed"]),
        N_("Sessions"): len(sessions),
        N_("Points measured"): len(points),
        N_("Launches"): len(launches),
        N_("Timed operations"): int(medians.samples.sum()),
        **({N_("Times kept of each launch at most"): about[THINNED]} if THINNED in about else {}),
        N_("Why points ended"): lab.joined(f"{lab.level('', why)} {number}" for why, number in ended.items()),
        N_("Launches that were disturbed (flagged and kept)"): Quantity(disturbed, "share"),
        N_("Points with fewer undisturbed launches than their profile asks for"): short,
        N_("Points whose launches drift"): drift,
        N_("Points with more than one mode"): modes,
        N_("Points that cannot be measured here"): len(about["points"]),
        N_("Points that failed"): len(about["failures"]),
        N_("Load at the start, at the end"): lab.joined(loads),
        N_("CPU time that the host took away"): Quantity(float(sum(stolen)), "ns"),
    }
    return pd.DataFrame({"item": [lab.translate(item) for item in items], "value": list(items.values())})


def machine(lab: "Lab") -> pd.DataFrame:
    """Return the facts of the machine that reports show (fact, value); a star marks those that identify it."""
    stored = lab.run.about["machine"]
    rows = [
        (lab.translate(fact.label) + " *" * fact.identifies, told(lab, value, fact.unit, reason))
        for fact, value, reason in shown(stored["facts"], stored["reasons"])
    ]
    return pd.DataFrame(rows, columns=["fact", "value"])


def limits(lab: "Lab") -> pd.DataFrame:
    """Return what the hardware allows: of each limit the best launch and the second best, by placement.

    memcpy stands as a bandwidth, echoes at their least and largest size.
    """
    points = lab.points("limits", metric="p50")
    echoes = points.backend.astype(str).str.startswith("echo-")
    sizes = points.size_bytes.isin([points[echoes].size_bytes.min(), points[echoes].size_bytes.max()])
    kept = points.size_bytes.isin(MEMCPY_SIZES).where(points.backend == "memcpy", ~echoes | sizes)
    rows = pd.concat([points[kept & (points.backend == name)].sort_values("size_bytes") for name in LIMITS])
    best = floors(lab.launches("limits")).medians
    cells = [_best(best[row.backend, row.size_bytes, row.placement], row) for row in rows.itertuples()]
    what = [_limit(lab, *each) for each in zip(rows.backend, rows.size_bytes, strict=True)]
    found: pd.DataFrame = rows.assign(what=what, cell=pd.Series(cells, rows.index, dtype=object))
    return found.pivot(index="what", columns="placement", values="cell").reindex(list(dict.fromkeys(what)))


def notice(lab: "Lab", *runs: RunFolder) -> Any:
    """Return what the first page must say of the limits of `runs` (this one when none is named), else nothing."""
    said = N_(
        "In this run {count} results are faster than the hardware limit that they are read against: {which}. "
        "Such a limit was measured too slow; do not rely on “× limit” there."
    )
    told = []
    for each in runs or (lab.run,):
        found = replace(lab, run=each).beaten()
        if len(found):
            which = _which(lab, found.sort_values("over_limit"))
            told.append(f"**{lab.say(said, count=len(found), which=which)}**")
    return Markdown("\n\n".join(told)) if told else None  # type: ignore[no-untyped-call]


def calibration(lab: "Lab") -> pd.DataFrame:
    """Return what the run's own calibration says, and `ipclab calibrate` on its machine, by placement; may be empty.

    Of identical code compared, a share was called slower, at most `upper` with 95 % confidence; a column for each
    planted slow-down says in how many of the contests (or trials) it was found.
    """
    own = own_calibration.rows(lab.contests(own_calibration.STUDY))
    beside = machine_calibration.rows(machine_calibration.read(lab.run.path.parent / CALIBRATION))
    told = [(N_("in this run"), row) for row in own] + [(N_("by ipclab calibrate"), row) for row in beside]
    table = pd.DataFrame([_calibrated(lab, source, row) for source, row in told])
    return table.set_index(["measured", "placement"]) if told else table


def calibration_table(lab: "Lab") -> Table:
    """Return what the run's judge was seen to do with identical code and with planted slow-downs, as a table."""
    note = N_("Found: of so many contests, those in which the slower one was called slower.")
    before = N_("This run was made before calibration was part of a run.")
    caption = N_("Calibration: identical code and planted slow-downs, judged as the contests of the run are")
    told, lacking = calibration(lab), [] if own_calibration.STUDY in lab.studies else [before]
    notes = [note, *lacking] if len(told) else []
    return lab.table(told, caption, spec="pct", notes=notes, name="calibration", empty=before)


def _calibrated(lab: "Lab", source: str, row: Mapping[str, Any]) -> dict[str, Any]:
    rate = row["false_alarms"] / row["comparisons"] if row["comparisons"] else None
    told = {"measured": lab.translate(source), "placement": row["placement"], "comparisons": row["comparisons"]}
    told |= {"false_alarms": Quantity(rate, "share"), "upper": Quantity(row["upper"], "share")}
    for planted, count in row["found"].items():
        head = lab.say(N_("{share:pct,int} slower, found"), share=Quantity(float(planted), "share"))
        told[head] = lab.say(N_("{count} of {trials}"), count=count, trials=row["trials"])
    return told


ABOUT: dict[str, Callable[["Lab"], pd.DataFrame]] = {
    "run": run, "machine": machine, "limits": limits, "calibration": calibration
}  # fmt: skip


def _together(frames: Iterable[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(columns=columns), *(frame[columns] for frame in frames)])


def _best(times: Sequence[float], row: Any) -> Quantity:
    """Return the best launch of a limit, up to the second best; of memcpy the bandwidth."""
    best, second = times[0], times[min(1, len(times) - 1)]
    found = replace(quantity(row), value=best, low=best, high=second, n=f"{len(times)}")
    if row.backend != "memcpy":
        return found
    speed = row.size_bytes * 1e9
    return replace(found, value=speed / best, unit="B/s", low=speed / second, high=speed / best)


def _which(lab: "Lab", found: pd.DataFrame) -> str:
    told = []
    for row in found.head(MOST_TOLD).to_dict("records"):
        words = [lab.level(name, row[name]) for name in ("op", "backend", "size_bytes", "placement")]
        told.append(lab.joined([*words, f"× {lab.numbers.number(row['over_limit'], 2)}"]))
    which, more = lab.joined(told, N_("; ")), len(found) - MOST_TOLD
    return lab.say(N_("{which} and {more} more"), which=which, more=more) if more > 0 else which


def _limit(lab: "Lab", backend: str, size: int) -> str:
    told = LIMITS[backend] if not size or "{" in LIMITS[backend] else N_("{what}, {size}")
    return lab.say(told, what=lab.translate(LIMITS[backend]), size=lab.level("size_bytes", size))


def told(lab: "Lab", value: Any, unit: str, reason: str = "") -> str:
    """Return a fact of a machine as text, for one that is absent its `reason`."""
    if reason or isinstance(value, bool):
        return lab.level("", reason or ("yes" if value else "no"))
    if isinstance(value, list):
        return lab.joined(map(str, value))
    if not isinstance(value, int | float):
        return str(value) or DASH
    if unit in ("ns", "bytes"):
        scaled = "GiB" if unit == "bytes" and value >= GIB else ""
        return lab.numbers.format(Quantity(value, "ns" if unit == "ns" else "B"), scaled)
    number = lab.numbers.number(value, 0 if isinstance(value, int) else None)
    return f"{number}\u00a0{unit}" if unit else number
