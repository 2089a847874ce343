"""A course of six exercises: predict a ratio, measure it, compare; predictions are judged by the student's own run."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ipclab.errors import UsageError
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH
from ipclab.lab.lab import Lab
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

SMALL = "arm=main,size_bytes=min"
TRIP = f"round_trip.round-trip[{SMALL},backend=%s,placement=%s]"
EXERCISES = (  # the question, and the rule that answers it on any run: a ratio of measured values
    (
        N_("How many times as long as over a Unix socket does a small round trip take over TCP, on one CPU?"),
        f"{TRIP} / {TRIP}" % ("tcp", "same", "unix", "same"),
    ),
    (
        N_("And over a Unix socket on two CPUs: how many times as long as on one?"),
        f"{TRIP} / {TRIP}" % ("unix", "cross", "unix", "same"),
    ),
    (
        N_("And the largest round trip over shared memory, on two CPUs: how many times as long as over a Unix socket?"),
        f"{TRIP} / {TRIP}".replace("min", "max") % ("posix-shm", "cross", "unix", "cross"),
    ),
    (
        N_("How many CPUs do both ends keep busy that spin over shared memory, on two CPUs?"),
        f"{TRIP}.cpu_ns / {TRIP}.mean" % ("shm-spin", "cross", "shm-spin", "cross"),
    ),
    (
        N_("How many messages go one way over a Unix socket in the time of one small round trip, on two CPUs?"),
        f"{TRIP} / stream.received[{SMALL},backend=unix,placement=cross]" % ("unix", "cross"),
    ),
    (
        N_("How many times as long as its median is the p99 of that round trip?"),
        f"{TRIP}.p99 / {TRIP}" % ("unix", "cross", "unix", "cross"),
    ),
)
SAID = {
    **{judge.INSIDE: N_("your range holds"), judge.BELOW: N_("it is less"), judge.ABOVE: N_("it is more")},
    **{judge.UNDECIDED: N_("undecided: measure more launches, or give a wider range")},
    **{judge.NOT_TESTED: N_("too few launches to tell"), judge.MISSING: N_("not measured in this run")},
}


def judged(lab: Lab, predictions: Sequence[str]) -> pd.DataFrame:
    """Return each exercise with its prediction, what the run measured, and what the judge says of the two.

    `predictions` are ranges of ratios such as `1.5-3`, in order; what has none yet shows no result. Raises `UsageError`
    for a range that is none.
    """
    rows = []
    for number, (question, rule) in enumerate(EXERCISES):
        told = predictions[number].strip() if number < len(predictions) else ""
        found = replace(lab.judged(lab.compute(rule)), sources=()) if told else Quantity(None)  # of two studies
        verdict = lab.say(SAID[judge.within(found, *_range(told))]) if told else DASH
        rows.append((number + 1, lab.say(question), told or DASH, found if told and found else None, verdict))
    heads = (N_("Exercise"), N_("Question"), N_("Your range"), N_("This run"), N_("Verdict"))
    return pd.DataFrame(rows, columns=[lab.say(head) for head in heads])


def _range(told: str) -> tuple[float, float]:
    try:
        low, high = map(float, told.replace("–", "-").split("-"))
        if not low <= high:
            raise ValueError("it ends before it begins")
    except ValueError as error:
        raise UsageError(f"{told!r} is no range", str(error), "write two numbers such as 1.5-3") from error
    return low, high
