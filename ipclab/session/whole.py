"""Whole sessions of a run: each measures all of it anew, hours or reboots after the one before."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line tells of `MOST` before it loads anything
    from ipclab.store.run import RunFolder

NUMBER = "number"  # among what `run.json` says of a session; one that goes on has that of before
MOST = 100  # of one run


def last_session(run: "RunFolder") -> int:
    """Return the number of the session that is going on, or was the last; 1 where none began."""
    return max((session.get(NUMBER, 1) for session in run.about.get("sessions", ())), default=1)
