"""A course of six exercises: predict a ratio, measure it, compare with the student's run."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ipclab.errors import UsageError
from ipclab.lab.computed import compute
from ipclab.lab.lab import Lab
from ipclab.lab.words import DASH
from ipclab.paths import table_beside
from ipclab.stats import judge

WORDS: dict[str, dict[str, str]] = table_beside(__file__, "labels.toml")


def _trip(backend: str, placement: str, size: str = "min") -> str:
    """Return the address of a round trip."""
    levels = f"arm=main,size_bytes={size},backend={backend},placement={placement}"
    return f"round_trip.round-trip[{levels}]"


SPIN = _trip("shm-spin", "cross")
SENT = "stream.received[arm=main,size_bytes=min,backend=unix,placement=cross]"
RULES = {  # what answers each question on any run
    "tcp": f"{_trip('tcp', 'same')} / {_trip('unix', 'same')}",
    "cross": f"{_trip('unix', 'cross')} / {_trip('unix', 'same')}",
    "memory": f"{_trip('posix-shm', 'cross', 'max')} / {_trip('unix', 'cross', 'max')}",
    "spin": f"{SPIN}.cpu_ns / {SPIN}.mean",
    "stream": f"{_trip('unix', 'cross')} / {SENT}",
    "tail": f"{_trip('unix', 'cross')}.p99 / {_trip('unix', 'cross')}",
}
EXERCISES = tuple(WORDS["questions"])


def judged(lab: Lab, predictions: Sequence[str]) -> pd.DataFrame:
    """Return each exercise with its prediction, its measurement, and the judge's verdict.

    `predictions` are ranges of ratios such as `1.5-3`, in order; what has none yet shows no result.
    Raises `UsageError` for a range that is none.
    """
    rows = []
    for number, name in enumerate(EXERCISES):
        prediction = predictions[number].strip() if number < len(predictions) else ""
        shown = None
        verdict = DASH
        if prediction:
            value = replace(compute(lab, RULES[name]), sources=())  # of two studies
            shown = value or None
            verdict = lab.say(WORDS["verdicts"][judge.within(value, *_range(prediction))])
        rows.append(
            (number + 1, lab.say(WORDS["questions"][name]), prediction or DASH, shown, verdict)
        )
    heads = map(lab.say, WORDS["heads"].values())
    return pd.DataFrame(rows, columns=list(heads))


def _range(prediction: str) -> tuple[float, float]:
    try:
        low, high = map(float, prediction.replace("–", "-").split("-"))
        if not low <= high:
            raise ValueError("it ends before it begins")
    except ValueError as error:
        fix = "write two numbers such as 1.5-3"
        raise UsageError(f"{prediction!r} is no range", str(error), fix) from error
    return low, high
