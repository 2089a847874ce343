"""What is flagged of a study, by which criterion, what was done about it; and how quiet it was."""

from typing import Any

import pandas as pd

from ipclab.bounds.points import CUT
from ipclab.frames.metrics import DRIFT_P
from ipclab.lab.data import Data
from ipclab.machine.conditions import PRESSURE_SHARE, QUEUE_SHARE, STEAL_SHARE
from ipclab.report.appendix.about import short, spent
from ipclab.report.appendix.limits import beaten
from ipclab.report.appendix.trust import DISTURBED_MOST, each_launch
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_

WAITING_MOST = 0.10  # of the 10 s before the first launch
LOAD_MOST = 1.0  # processes that run or wait, a CPU, in the minute before it
CRITERIA = {  # by name: what it is of, the most that it may be, and its unit
    "waiting": (
        N_("time in which a process waited for a CPU, of the last seconds before the start"),
        WAITING_MOST,
        "share",
    ),
    "load_1": (N_("load at the start, for each CPU"), LOAD_MOST, "1"),
    "steal": (N_("CPU time that the host took, of that in use"), STEAL_SHARE, "share"),
    "disturbed": (N_("launches that were disturbed"), DISTURBED_MOST, "share"),
}
DISTURBED = N_(
    "steal above {steal:pct,int} of a launch, waits for memory above {memory:pct,int}, for the disk above"
    " {disk:pct,int}, for a CPU above {queue:pct,int}, or CPUs slowed down"
)
# A flag by what it says, by which criterion, and its disposition.
FLAGS = {
    "disturbed": (
        N_("launches that were disturbed (disturbed:k/n)"),
        DISTURBED,
        N_("proposed: accept; none is dropped, and they are repeated where there is time"),
    ),
    "short": (
        N_("points with few undisturbed launches"),
        N_("fewer than the profile asks for"),
        N_("proposed: accept; all launches are in their intervals"),
    ),
    "drift": (
        N_("points whose launches drift (drift)"),
        N_("Kendall's test against time, p below {drift:pct,int}"),
        N_("proposed: accept; launches lie apart in time, so that drift is in their scatter"),
    ),
    "modes": (
        N_("points with several modes (modes:k)"),
        N_("valleys between the modes of all samples"),
        N_(
            "proposed: accept; a value is over all modes; what wins in one state alone is no conclusion"
        ),
    ),
    "cut": (
        N_("intervals that begin at the limit (cut)"),
        N_("launches do not rule out less than the native program takes"),
        N_("proposed: accept; nothing is below the limit"),
    ),
    "beaten": (
        N_("results that beat their limit"),
        N_("their quotient is below one, whatever its interval"),
        N_("proposed: exclude from what is said of limits; their times stand"),
    ),
}


def quiet(lab: Data, study: str) -> pd.DataFrame:
    """Return the criteria of the environment: the `bound`, what was `found`, whether it was `kept`."""
    rows = {}
    for name, found in _found(lab, study).items():
        what, most, unit = CRITERIA[name]
        rows[lab.say(what)] = {
            "bound": lab.say(N_("≤ {bound}"), bound=Quantity(most, unit)),
            "found": Quantity(found, unit),
            "kept": lab.say(N_("held") if found <= most else N_("not held")),
        }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["bound", "found", "kept"])


def all_held(lab: Data, study: str) -> bool:
    """Tell whether every criterion of the environment that is known held."""
    return all(found <= CRITERIA[name][1] for name, found in _found(lab, study).items())


def _found(lab: Data, study: str) -> dict[str, float]:
    """Return what was found of each criterion that the run tells of.

    The load is a mean of minutes, in which what the machine was set up for has a part: it is asked
    only of a kernel that does not tell who waited.
    """
    about = lab.run.about
    first = about["sessions"][0]["conditions"] if about["sessions"] else {}
    waiting, load = first.get("pressure_cpu_percent"), first.get("load_1")
    busy = spent(about, "busy_ns")
    found = {
        "waiting": None if waiting is None else waiting / 100,
        "load_1": None if load is None or waiting is not None else load / (first.get("cpus") or 1),
        "steal": spent(about, "steal_ns") / busy if busy else None,
        "disturbed": _disturbed(lab, study),
    }
    return {name: share for name, share in found.items() if share is not None}


def flagged(lab: Data, study: str) -> pd.DataFrame:
    """Return a row for each kind of flag: what, criterion, how many of `study`, and the disposition."""
    counts = _counts(lab, study)
    values = {
        "steal": Quantity(STEAL_SHARE, "share"),
        "memory": Quantity(PRESSURE_SHARE["memory"], "share"),
        "disk": Quantity(PRESSURE_SHARE["io"], "share"),
        "queue": Quantity(QUEUE_SHARE, "share"),
        "drift": Quantity(DRIFT_P, "share"),
    }
    rows = [
        (lab.say(what), lab.say(criterion, **values), counts[name], lab.say(done))
        for name, (what, criterion, done) in FLAGS.items()
        if counts[name] and (name != "disturbed" or counts[name].value)
    ]
    return pd.DataFrame(rows, columns=["what", "criterion", "count", "disposition"])


def _counts(lab: Data, study: str) -> dict[str, Any]:
    medians = lab.points(study, metric="p50")
    flags = medians["flags"].astype(str)
    return {
        "disturbed": Quantity(_disturbed(lab, study), "share"),
        "short": short(lab.run, each_launch(lab, study)),
        "drift": medians.point[flags.str.contains("drift:")].nunique(),
        "modes": medians.point[flags.str.contains("modes:")].nunique(),
        "cut": int(flags.str.split(";").map(lambda each: CUT in each).sum()),
        "beaten": len(beaten(lab, study)),
    }


def _disturbed(lab: Data, study: str) -> float | None:
    flags = each_launch(lab, study)["flags"]
    return float(flags.ne("").mean()) if len(flags) else None
