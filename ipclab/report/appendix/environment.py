"""On what machine and when a run was made, what it was measured with, and what judged it."""

from functools import cache
from itertools import zip_longest
from typing import Any

import pandas as pd

from ipclab.lab.data import Data
from ipclab.machine.facts import collect
from ipclab.report.appendix.about import loads, spent, told_fact
from ipclab.report.appendix.signing import minute
from ipclab.report.facts import shown_facts
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

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
# The facts of a run by what reports call them, and whether they judge and render, too.
SOFTWARE = {
    "ipclab": ("ipclab", True),
    "git_commit": (N_("commit"), True),
    "lock_digest": (N_("lock file (SHA-256, its beginning)"), True),
    "python": ("Python", True),
    "numpy": ("NumPy", True),
    "posix_ipc": ("posix_ipc", False),
    "native_digest": (N_("native package (SHA-256, its beginning)"), False),
    "libc": (N_("C library"), False),
}
CHANGED = N_("{commit}, with changes that no commit holds")
KINDS = {"none": N_("no virtual machine"), None: N_("whether a virtual machine is not known")}
VIRTUAL = N_("virtual machine")
UNRECORDED = N_("not recorded in this run")
COMMIT = 12  # letters that name one


def environment(lab: Data) -> pd.DataFrame:
    """Return the facts of machine and run that a signed document names, in two pairs of columns.

    Columns: fact, value, further, of_it.
    """
    about, stored = lab.run.about, lab.run.about["machine"]
    known = {
        fact.name: (lab.say(fact.label), told_fact(lab, value, fact.unit, reason))
        for fact, value, reason in shown_facts(stored["facts"], stored["reasons"])
    }
    clock = next((name for name in CLOCK if stored["facts"].get(name)), CLOCK[0])
    known["clock"] = known[clock]
    moments = [minute(about[name]) for name in ("begun", "finished") if about.get(name)]
    run = {
        N_("Digest of what identifies the machine"): lab.run.machine,
        N_("Run"): lab.run.id,
        N_("Begun, finished"): lab.words.joined(moments),
        N_("Profile"): lab.level("profile", lab.run.profile),
        N_("Seed of all orders and intervals"): str(about["seed"]),
        N_("Load at the start, at the end"): lab.words.joined(loads(lab)),
        N_("CPU time that the host took away"): told_fact(lab, spent(about, "steal_ns"), "ns"),
    }
    rows = [known[name] for name in OF_MACHINE if name in known]
    rows += [(lab.say(item), said) for item, said in run.items()]
    half = (len(rows) + 1) // 2
    pairs = zip_longest(rows[:half], rows[half:], fillvalue=("", ""))
    columns = ["fact", "value", "further", "of_it"]
    return pd.DataFrame([(*one, *other) for one, other in pairs], columns=columns)


def about_configuration(lab: Data) -> pd.DataFrame:
    """Return what the run was measured with, and what judged and rendered it (item, measured, judged)."""
    rows = []
    for fact, (what, judges) in SOFTWARE.items():
        judged = _version(lab, fact, judging()) if judges else DASH
        rows.append((lab.say(what), _version(lab, fact, lab.run.facts), judged))
    return pd.DataFrame(rows, columns=["item", "measured", "judged"])


def kind_of_machine(lab: Data) -> str:
    """Return whether the run was measured on a virtual machine (a msgid)."""
    return KINDS.get(lab.run.facts.get("virtualisation"), VIRTUAL)


@cache
def judging() -> dict[str, Any]:
    """Return the facts of what judges and renders here."""
    return dict(collect().facts)


def judged_by_another(lab: Data) -> bool:
    """Tell whether another version, or commit, judges than the one that measured."""
    names = ("ipclab", "git_commit")
    return any(lab.run.facts.get(name) != judging().get(name) for name in names)


def _version(lab: Data, fact: str, facts: Any) -> str:
    said = str(facts.get(fact) or lab.say(UNRECORDED))
    if fact == "git_commit" and facts.get(fact):
        said = said[:COMMIT]
        if facts.get("git_dirty"):
            return lab.say(CHANGED, commit=said)
    return said
