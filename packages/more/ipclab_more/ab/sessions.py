"""Answers of several sessions together: what each saved, and what all of them show.

One session's verdict may be that session's luck: another virtual machine often takes it back. So
slower is said only where every session showed it. From three sessions on the ratio has an interval
of what sessions differ by, as those of a run of several sessions have.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from ipclab.errors import UsageError
from ipclab.stats.compare import FASTER, SAME, UNDECIDED
from ipclab.stats.intervals import LEVEL, exp
from ipclab.stats.paired import interval
from ipclab.stats.quantity import Quantity
from ipclab.stats.sessions import LEAST as LEAST_OF_INTERVAL
from ipclab.store.files import write_whole
from ipclab.store.textfile import file_text
from ipclab_more.ab.report import QUANTITIES, TrialReport, ratio, with_ends
from ipclab_more.ab.trial import A, B

LEAST = 2  # sessions that confirm each other
Positive = Annotated[float, msgspec.Meta(gt=0)]


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One session's answer: `verdict` of B over A with its ratio and interval."""

    session: str
    a: str
    b: str
    unit: Literal["ns", "", "1/"]
    bound: Positive
    verdict: Literal["faster", "slower", "same", "undecided"]
    reason: str
    ratio: Positive | None
    low: Positive | None
    high: Positive | None
    rounds: int
    format: Literal[1] = 1

    def shown(self) -> str:
        """Return verdict, reason, ratio and interval, without those that it has not."""
        why = f" ({self.reason})" if self.reason else ""
        measured = f" {ratio(self)}" if self.ratio else ""
        return f"{self.verdict}{why}{measured}"


@dataclass(frozen=True)
class Combined:
    """What all `sessions` show together."""

    sessions: Sequence[Saved]

    @property
    def verdict(self) -> str:
        """Return what every session showed; the same where none showed more than faster."""
        verdicts = {session.verdict for session in self.sessions}
        if len(verdicts) == 1:
            return self.sessions[0].verdict
        return SAME if verdicts == {SAME, FASTER} else UNDECIDED

    @property
    def between(self) -> Quantity | None:
        """Return the mean ratio with the interval between sessions; None of fewer than three."""
        logs = np.log([session.ratio for session in self.sessions if session.ratio])
        if len(logs) < LEAST_OF_INTERVAL:
            return None
        low, high = interval(logs, 1 - LEVEL)
        return Quantity(exp(float(logs.mean())), "1", exp(low), exp(high))

    def line(self) -> str:
        """Return the verdict, the ratio between sessions if there is one, and each session's."""
        first = self.sessions[0]
        why = ": sessions" if self.verdict == UNDECIDED else ""
        over = f"{QUANTITIES[first.unit]} of {first.b} over {first.a}"
        shown = [session.shown() for session in self.sessions]
        if mean := self.between:
            shown.insert(0, with_ends(mean.value, mean.low, mean.high))
        return f"{self.verdict}{why}, {len(self.sessions)} sessions: {over}: {'; '.join(shown)}"


def save(report: TrialReport, file: Path) -> None:
    """Write the answer of this session into `file`."""
    answer = report.answer
    compared = answer.compared
    saved = Saved(
        secrets.token_hex(8),
        report.labels[A],
        report.labels[B],
        report.unit,  # type: ignore[arg-type]
        answer.bound,
        answer.verdict,  # type: ignore[arg-type]
        report.reason,
        compared.ratio,
        compared.low,
        compared.high,
        len(answer.rounds),
    )
    write_whole(file, msgspec.json.format(msgspec.json.encode(saved)) + b"\n")


def combined(files: Sequence[Path]) -> Combined:
    """Return what the saved answers show together; raises `UsageError` for others."""
    if len(files) < LEAST:
        fix = "give what 'ipclab ab --save' wrote in two sessions or more"
        raise UsageError(f"{len(files)} answers are given", "", fix)
    sessions = [_loaded(file) for file in files]
    if len({session.session for session in sessions}) < len(sessions):
        fix = "give each session's answer once"
        raise UsageError("a session confirms itself", "it is given twice", fix)
    questions = {(answer.a, answer.b, answer.unit, answer.bound) for answer in sessions}
    if len(questions) > 1:
        why = "arms, unit or --bound differ"
        raise UsageError("the answers are of different questions", why, "give alike ones")
    return Combined(sessions)


def _loaded(file: Path) -> Saved:
    try:
        return msgspec.json.decode(file_text(file), type=Saved)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        why = getattr(error, "strerror", "") or str(error)
        fix = "give what 'ipclab ab --save' wrote"
        raise UsageError(f"{file} is no saved answer", why, fix) from error
