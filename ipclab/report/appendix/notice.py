"""What the first page must say of a run: how far it is as its text ran it, and what of it is no limit."""

from ipclab.claims.differences import identical_but
from ipclab.lab import shell
from ipclab.lab.notes import Notes
from ipclab.report.appendix import limits
from ipclab.store.run import RunFolder
from ipclab.tables.table import Table
from ipclab.words.catalogue import N_

AS_TEXT = N_("Against the experiments of the text: {but}.")
MOST_TOLD = 4  # parameters that differ


def notice(lab: Notes, *runs: RunFolder, study: str = "") -> Table | None:
    """Say what the first page must say of `runs` (or this one), if anything.

    With `study` only its results count, and what of its text was not run as the text did is named.
    Returns a table of the worst that took less time than their limit, with the states of both.
    """
    said = {
        of.words.lang: identical_but(of, study, MOST_TOLD) for of in (lab, *lab.others) if study
    }
    if all(said.values()) and said:
        texts = {
            of.words.lang: of.say(AS_TEXT, but=said[of.words.lang]) for of in (lab, *lab.others)
        }
        shell.show(shell.Text(texts))
    return limits.notice(lab, *runs, study=study)
