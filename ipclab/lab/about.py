"""What every report says of its run: how much was measured, on what machine, and what the hardware allows."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.frames import calibration as own_calibration
from ipclab.frames import derived
from ipclab.frames.limits import floors
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH
from ipclab.machine import shown
from ipclab.measure.calibration import read, rows
from ipclab.stats.quantity import Quantity
from ipclab.store.archive import CALIBRATION
from ipclab.studies.installed import study
from ipclab.studies.limits import MEMCPY_SIZES
from ipclab.studies.profile import profile

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

GIB = 1 << 30
MOST_TOLD = 3  # results that a notice names
LIMITS = labels.SAID["limits"]


def run(lab: "Lab") -> pd.DataFrame:
    """Return how much was measured in how many sessions, how it ended, and what disturbed it (item, value)."""
    about = lab.run.about
    held = derived.measured(lab.run)
    medians = _together([lab.points(study, metric="p50") for study in held], ["point", "op", "samples", "flags"])
    medians = medians[~medians.op.astype(str).str.contains(".", regex=False)]
    points = medians.drop_duplicates("point")
    launches = _together([lab.launches(study) for study in held], ["point", "launch", "flags"]).drop_duplicates()
    disturbed = float((launches["flags"] != "").mean()) if len(launches) else None
    ended = points["flags"].astype(str).str.split(";").str[0].value_counts()
    begun, last = about["sessions"][:1], [each.get("conditions_end") or {} for each in about["sessions"][-1:]]
    loads = [
        each["load_1"] for each in (*(one["conditions"] for one in begun), *last) if each.get("load_1") is not None
    ]
    stolen = [_during(each, "steal_ns") for each in about["sessions"]]
    items = {
        N_("Run"): lab.run.id,
        N_("Begun"): Quantity(about["begun"], "date"),
        N_("Profile"): about["parameters"]["profile"],
        N_("Seed of all orders and intervals"): str(about["seed"]),
        N_("Sessions"): _count(len(about["sessions"])),
        N_("Points measured"): _count(len(points)),
        N_("Launches"): _count(len(launches)),
        N_("Timed operations"): _count(medians.samples.sum()),
        N_("Why points ended"): lab.joined(f"{lab.level('', why)} {number}" for why, number in ended.items()),
        N_("Launches that were disturbed (flagged and kept)"): Quantity(disturbed, "share"),
        N_("Points with fewer undisturbed launches than their profile asks for"): _count(_short(lab, held)),
        N_("Points whose launches drift"): _flagged(medians, "drift:"),
        N_("Points with more than one mode"): _flagged(medians, "modes:"),
        N_("Points that cannot be measured here"): _count(len(about["points"])),
        N_("Points that failed"): _count(len(about["failures"])),
        N_("Load at the start, at the end"): lab.joined(lab.numbers.number(load, 2) for load in loads),
        N_("CPU time that the host took away"): Quantity(sum(stolen), "ns"),
    }
    return pd.DataFrame({"item": [lab.translate(item) for item in items], "value": list(items.values())})


def machine(lab: "Lab") -> pd.DataFrame:
    """Return the facts of the machine that reports show (fact, value); a star marks those that identify it."""
    stored = lab.run.about["machine"]
    rows = [
        (lab.translate(fact.label) + (" *" if fact.identifies else ""), told(lab, value, fact.unit, reason))
        for fact, value, reason in shown(stored["facts"], stored["reasons"])
    ]
    return pd.DataFrame(rows, columns=["fact", "value"])


def limits(lab: "Lab") -> pd.DataFrame:
    """Return what the hardware allows: of each limit the best launch and the second best, by placement.

    memcpy stands as a bandwidth, echoes at their least and largest size.
    """
    points = lab.points("limits", metric="p50")
    echoes = points.backend.astype(str).str.startswith("echo-")
    ends = [points[echoes].size_bytes.min(), points[echoes].size_bytes.max()]
    shown = points.size_bytes.isin(MEMCPY_SIZES).where(
        points.backend == "memcpy", ~echoes | points.size_bytes.isin(ends)
    )
    rows = pd.concat([points[shown & (points.backend == name)].sort_values("size_bytes") for name in LIMITS])
    best, found = floors(lab.launches("limits")).medians, rows.to_dict("records")
    cells: list[Any] = [_best(best[row["backend"], row["size_bytes"], row["placement"]], row) for row in found]
    what = [_limit(lab, *each) for each in zip(rows.backend, rows.size_bytes, strict=True)]
    table = rows.assign(what=what, cell=cells).pivot(index="what", columns="placement", values="cell")
    return table.reindex(list(dict.fromkeys(what)))


def notice(lab: "Lab") -> str:
    """Return what the first page must say of the run's limits; nothing when no result beat one."""
    found = lab.beaten()
    if found.empty:
        return ""
    told = N_(
        "In this run {count} results are faster than the hardware limit that they are read against: {which}. "
        "Such a limit was measured too slow; do not rely on “× limit” there."
    )
    said = lab.say(told, count=len(found), which=_which(lab, found.sort_values("over_limit")))
    return f"**{said}**"


def calibration(lab: "Lab") -> pd.DataFrame:
    """Return what the run's own calibration says, and `ipclab calibrate` on its machine, by placement; may be empty.

    Of identical code compared, a share was called slower, at most `upper` with 95 % confidence; a column for each
    planted slow-down says in how many of the contests (or trials) it was found.
    """
    beside = rows(read(lab.run.path.parent / CALIBRATION))
    own = own_calibration.rows(lab.contests(own_calibration.STUDY))
    told = [(N_("in this run"), row) for row in own] + [(N_("by ipclab calibrate"), row) for row in beside]
    table = pd.DataFrame([_calibrated(lab, source, row) for source, row in told])
    return table.set_index(["measured", "placement"]) if told else table


def _calibrated(lab: "Lab", source: str, row: Mapping[str, Any]) -> dict[str, Any]:
    rate = row["false_alarms"] / row["comparisons"] if row["comparisons"] else None
    share, upper = Quantity(rate, "share"), Quantity(row["upper"], "share")
    head = {"measured": lab.translate(source), "placement": row["placement"], "comparisons": row["comparisons"]}
    found = {
        lab.say(N_("{share:pct,int} slower, found"), share=Quantity(float(planted), "share")):
            lab.say(N_("{count} of {trials}"), count=count, trials=row["trials"])
        for planted, count in row["found"].items()
    }  # fmt: skip
    return {**head, "false_alarms": share, "upper": upper, **found}


ABOUT: dict[str, Callable[["Lab"], pd.DataFrame]] = {
    "run": run, "machine": machine, "limits": limits, "calibration": calibration
}  # fmt: skip


def _together(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(columns=columns), *(frame[columns] for frame in frames)])


def _during(session: dict[str, Any], name: str) -> float:
    first, last = (session.get(when) or {} for when in ("conditions", "conditions_end"))
    return float((last.get(name) or 0) - (first.get(name) or 0)) if name in last else 0.0


def _short(lab: "Lab", held: Sequence[str]) -> int:
    """Return how many points have fewer undisturbed launches than the effort that their study takes of the profile."""
    asked, short = profile(lab.run.about["parameters"]["profile"]), 0
    for name in held:
        launches = lab.launches(name).drop_duplicates(["point", "launch"])
        undisturbed = launches["flags"].eq("").groupby(launches.point).sum()
        short += int((undisturbed < study(name).effort(asked).least_launches).sum())
    return short


def _flagged(medians: pd.DataFrame, flag: str) -> Quantity:
    return _count(medians.point[medians["flags"].astype(str).str.contains(flag, regex=False)].nunique())


def _count(number: Any) -> Quantity:
    return Quantity(int(number), "count")


def _best(times: Sequence[float], row: Mapping[Any, Any]) -> Quantity:
    """Return the best launch of a limit, up to the second best; of memcpy the bandwidth."""
    best, second = times[0], times[min(1, len(times) - 1)]
    source = "/".join(str(row[name]) for name in ("study", "point", "op", "metric"))
    if row["backend"] != "memcpy":
        return Quantity(best, "ns", best, second, f"{len(times)}", sources=(source,))
    speed = row["size_bytes"] * 1e9
    return Quantity(speed / best, "B/s", speed / second, speed / best, f"{len(times)}", sources=(source,))


def _which(lab: "Lab", found: pd.DataFrame) -> str:
    told = []
    for row in found.head(MOST_TOLD).to_dict("records"):
        words = [lab.level(name, row[name]) for name in ("op", "backend", "size_bytes", "placement")]
        told.append(lab.joined([*words, f"× {lab.numbers.number(row['over_limit'], 2)}"]))
    return lab.joined([*told, *[DASH] * (len(found) > MOST_TOLD)], N_("; "))


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
        return str(value) or "–"
    if unit == "ns":
        return lab.numbers.format(Quantity(value, "ns"))
    if unit == "bytes":
        return lab.numbers.format(Quantity(value, "B"), "GiB" if value >= GIB else "")
    number = lab.numbers.number(value, 0 if isinstance(value, int) else None)
    return f"{number}\u00a0{unit}" if unit else number
