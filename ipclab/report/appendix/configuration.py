"""What a run was measured with, beside what judged and rendered it."""

from functools import cache
from typing import Any

import pandas as pd

from ipclab.lab.data import Data
from ipclab.machine.facts import collect
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

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
UNRECORDED = N_("not recorded in this run")
COMMIT = 12  # letters that name one


def about_configuration(lab: Data) -> pd.DataFrame:
    """Return what the run was measured with, and what judged and rendered it (item, measured, judged)."""
    here = judging()
    rows = [
        (
            lab.say(what),
            _version(lab, fact, lab.run.facts),
            _version(lab, fact, here) if judges else DASH,
        )
        for fact, (what, judges) in SOFTWARE.items()
    ]
    return pd.DataFrame(rows, columns=["item", "measured", "judged"])


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
