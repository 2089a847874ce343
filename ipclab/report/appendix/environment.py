"""On what machine and when a run was made, in one table of facts."""

from itertools import zip_longest

import pandas as pd

from ipclab.lab.data import Data
from ipclab.report.appendix.about import loads, spent, told_fact
from ipclab.report.appendix.signing import minute
from ipclab.report.facts import shown_facts
from ipclab.words.catalogue import N_

CLOCK = "frequency_max", "frequency_seen"  # the first that the machine tells
OF_MACHINE = (
    "cpu_model",
    "clock",
    "cores",
    "threads_per_core",
    "cache_l2",
    "cache_l3",
    "memory_installed",
    "page_size",
    "os_name",
    "kernel_release",
    "virtualisation",
    "clocksource",
    "clock_resolution",
)
COLUMNS = ["fact", "value", "further", "of_it"]


def environment(lab: Data) -> pd.DataFrame:
    """Return the facts of machine and run that a signed document names, in two pairs of columns.

    Columns: fact, value, further, of_it.
    """
    about, stored = lab.run.about, lab.run.about["machine"]
    known = {
        fact.name: (lab.say(fact.label), told_fact(lab, value, fact.unit, reason))
        for fact, value, reason in shown_facts(stored["facts"], stored["reasons"])
    }
    clocks = [known[name] for name in CLOCK if stored["facts"].get(name)] or [known[CLOCK[0]]]
    known["clock"] = clocks[0]
    run = {
        N_("Digest of what identifies the machine"): lab.run.machine,
        N_("Run"): lab.run.id,
        N_("Begun, finished"): lab.words.joined(
            filter(None, (minute(about.get(name)) for name in ("begun", "finished")))
        ),
        N_("Profile"): lab.level("profile", lab.run.profile),
        N_("Seed of all orders and intervals"): str(about["seed"]),
        N_("Load at the start, at the end"): lab.words.joined(loads(lab)),
        N_("CPU time that the host took away"): told_fact(lab, spent(about, "steal_ns"), "ns"),
    }
    rows = [known[name] for name in OF_MACHINE if name in known]
    rows += [(lab.say(item), said) for item, said in run.items()]
    half = (len(rows) + 1) // 2
    pairs = zip_longest(rows[:half], rows[half:], fillvalue=("", ""))
    return pd.DataFrame([(*one, *other) for one, other in pairs], columns=COLUMNS)
