"""A course of six exercises: predict a ratio, measure it, compare; predictions are judged by the student's own run."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ipclab.errors import UsageError
from ipclab.frames.judged import judged as as_judged
from ipclab.lab.audit import compute
from ipclab.lab.lab import Lab
from ipclab.lab.words import DASH
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

SAID: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))
SHORT = {  # what the rules leave out
    "trip[": "round_trip.round-trip[arm=main,size_bytes=min,",
    "largest[": "round_trip.round-trip[arm=main,size_bytes=max,",
    "sent[": "stream.received[arm=main,size_bytes=min,",
}
EXERCISES = tuple(SAID["questions"])


def judged(lab: Lab, predictions: Sequence[str]) -> pd.DataFrame:
    """Return each exercise with its prediction, what the run measured, and what the judge says of the two.

    `predictions` are ranges of ratios such as `1.5-3`, in order; what has none yet shows no result. Raises `UsageError`
    for a range that is none.
    """
    rows = []
    for number, name in enumerate(EXERCISES):
        told, rule = predictions[number].strip() if number < len(predictions) else "", SAID["plain"][name]
        for short, whole in SHORT.items():
            rule = rule.replace(short, whole)
        found = (
            replace(as_judged(lab.run, compute(lab, rule)), sources=()) if told else Quantity(None)
        )  # of two studies
        verdict = lab.say(SAID["verdicts"][judge.within(found, *_range(told))]) if told else DASH
        rows.append((number + 1, lab.say(SAID["questions"][name]), told or DASH, found if found else None, verdict))
    return pd.DataFrame(rows, columns=[lab.say(head) for head in SAID["heads"].values()])


def _range(told: str) -> tuple[float, float]:
    try:
        low, high = map(float, told.replace("–", "-").split("-"))
        if not low <= high:
            raise ValueError("it ends before it begins")
    except ValueError as error:
        raise UsageError(f"{told!r} is no range", str(error), "write two numbers such as 1.5-3") from error
    return low, high
