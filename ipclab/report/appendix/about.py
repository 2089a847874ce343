"""What every report says of its run: how much was measured, and on what machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow.parquet as pq

from ipclab.frames import derived
from ipclab.frames.derived import run_digest
from ipclab.frames.digests import frames_digest
from ipclab.frames.remembered import remembered
from ipclab.lab.data import Data
from ipclab.report.appendix.thin import THINNED
from ipclab.spawn.proof import PROVED
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.stats.sessions import LEAST_SESSIONS
from ipclab.stats.units import BINARY
from ipclab.store.run import RunFolder, read_run
from ipclab.store.samples import METADATA
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

GIB = BINARY["GiB"]


def about_run(lab: Data) -> pd.DataFrame:
    """Return how much was measured, how it ended, and what disturbed it (item, value).

    The index has the items in English, whatever the reader's language.
    """
    about = lab.run.about
    words = lab.words
    ended, counts = _counts(lab.run.path, run_digest(lab.run))
    reasons = [
        lab.say("{word} {count}", word=lab.level("", why), count=words.numbers.number(number, 0))
        for why, number in ended.items()
    ]
    items = {
        N_("Run"): lab.run.id,
        N_("Begun"): Quantity(about["begun"], "date"),
        N_("Profile"): lab.run.profile,
        N_("Seed of all orders and intervals"): str(about["seed"]),
        N_("Sessions"): lab.run.last_session,
        N_("Points measured"): counts["points"],
        N_("Launches"): counts["launches"],
        N_("Timed operations"): counts["operations"],
        **({N_("Times kept of each launch at most"): about[THINNED]} if THINNED in about else {}),
        N_("Why points ended"): words.joined(reasons),
        N_("Launches that were disturbed (flagged and kept)"): of(counts["disturbed"]).as_unit(
            "share"
        ),
        N_("Points with fewer undisturbed launches than their profile asks for"): counts["short"],
        N_("Points whose launches drift"): counts["drift:"],
        N_("Points with more than one mode"): counts["modes:"],
        N_("Points that cannot be measured here"): len(about["points"]),
        N_("Points that failed"): len(about["failures"]),
        N_("Load at the start, at the end"): words.joined(loads(lab)),
        N_("CPU time that the host took away"): Quantity(spent(about, "steal_ns"), "ns"),
    }
    names = [words.translate(item) for item in items]
    return pd.DataFrame({"item": names, "value": list(items.values())}, index=list(items))


@remembered
def _counts(folder: Path, _digest: str) -> tuple[dict[Any, int], dict[str, Any]]:
    """Return how often each reason ended a point, and how much there is, once for all readers."""
    run = read_run(folder)
    medians = _together(run, "points", ("point", "op", "metric", "samples", "flags"))
    medians = medians[medians.metric == "p50"]
    medians = medians[~medians.op.astype(str).str.contains(".", regex=False)]
    points = medians.drop_duplicates("point")
    launches = _together(run, "launches", ("study", "point", "launch", "flags")).drop_duplicates()
    counts = {
        "points": len(points),
        "launches": len(launches),
        "operations": int(medians.samples.sum()),
        "disturbed": launches["flags"].ne("").mean(),
        "short": short(run, launches),
    }
    for flag in ("drift:", "modes:"):
        is_flagged = medians["flags"].astype(str).str.contains(flag, regex=False)
        counts[flag] = int(medians.point[is_flagged].nunique())
    return points["flags"].astype(str).str.split(";").str[0].value_counts().to_dict(), counts


def sessions(lab: Data) -> tuple[int, Quantity]:
    """Return how many whole sessions the run has, and that number where intervals are between them.

    Of fewer they are over launches.
    """
    count = lab.run.last_session
    return count, Quantity(count if count >= LEAST_SESSIONS else None, "count")


def short(run: RunFolder, launches: pd.DataFrame) -> int:
    """Return how many points of `launches` have fewer undisturbed ones than their profile asks for."""
    undisturbed = launches["flags"].eq("").groupby([launches.study, launches.point]).sum()
    wanted = undisturbed.index.get_level_values("study").map(run.questions.least_launches)
    return int((undisturbed < wanted).sum())


def loads(lab: Data) -> list[str]:
    """Return the load at the first session's start and at the last one's end, where known."""
    told = []
    if sessions := lab.run.about["sessions"]:
        ends = sessions[0]["conditions"], sessions[-1].get("conditions_end") or {}
        told = [reading.get("load_1") for reading in ends]
    return [lab.words.numbers.number(load, 2) for load in told if load is not None]


def spent(about: Mapping[str, Any], counter: str) -> float:
    """Return by how much a counter of the machine rose in all sessions.

    `steal_ns` is the CPU time that the host took away, `busy_ns` what was used.
    """
    rose = 0.0
    for session in about["sessions"]:
        first = session["conditions"]
        last = session.get("conditions_end") or first
        rose += (last.get(counter) or 0) - (first.get(counter) or 0)
    return rose


def _together(run: RunFolder, kind: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return some columns of the frames of a kind of all studies."""
    frames = [
        derived.read_frame(run, study, kind, columns) for study in derived.studies_measured(run)
    ]
    return pd.concat([pd.DataFrame(columns=columns), *frames])


def told_fact(lab: Data, value: Any, unit: str, reason: str = "") -> str:
    """Return a fact of a machine as text, for one that is absent its `reason`."""
    if reason or isinstance(value, bool):
        return lab.level("", reason or ("yes" if value else "no"))
    if isinstance(value, list):
        return lab.words.joined(map(str, value))
    if not isinstance(value, int | float):
        return str(value) or DASH
    if unit == "ns":
        return lab.words.numbers.format(Quantity(value, "ns"))
    if unit == "bytes":
        return lab.words.numbers.format(Quantity(value, "B"), _binary(value))
    number = lab.words.numbers.number(value, 0 if isinstance(value, int) else None)
    return f"{number}\u00a0{unit}" if unit else number


def _binary(size: float) -> str:
    """Return how bytes of hardware are printed: in the largest unit that they fill."""
    if size >= GIB:
        return "GiB"
    whole = (unit for unit in ("MiB", "KiB") if size and size % BINARY[unit] == 0)
    return next((f"{unit},int" for unit in whole), "")


def proved(lab: Data, study: str) -> tuple[Quantity, ...]:
    """Return how many messages of `study` were numbered, and how many of these compared whole.

    They are those of all launches. Runs that were measured before messages had numbers lack both.
    """
    totals = _proved(lab.run.path, study, frames_digest(lab.run, study))
    return tuple(missing("count") if total is None else of(total) for total in totals)


# Frames have what a launch, or session, has in the middle; so the launches are asked.
@remembered
def _proved(folder: Path, study: str, _digest: str) -> list[int | None]:
    counts: dict[str, list[int]] = {name: [] for name in PROVED}
    for file in read_run(folder).point_files(study):
        measured = msgspec.json.decode(pq.read_metadata(file).metadata[METADATA])
        for launch in measured["launches"]:
            for name in counts.keys() & launch["facts"].keys():
                counts[name].append(launch["facts"][name])
    return [sum(each) if each else None for each in counts.values()]
