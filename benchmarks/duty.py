"""Where does the time of a launch go? By study, of heats as a quick run makes them.

usage: python benchmarks/duty.py [rounds [study ...]]

Prints for each study (all whose contestants take turns, unless some are named) what a launch takes
in ms: until its contestant parks for the first time (`begin`), in turns that are not recorded, in
those that are, and until it is gone (`end`). `timed` is how long its samples last together. `user`
and `system` are the CPU time of its processes, `faults` their page faults (minor ones), all as the
fork servers were told of them when these ended, and `servers` the CPU time that these took
themselves. Each heat is made `rounds` times (2) on an idle machine.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import sysconf
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import pandas as pd
from parts.heat_fields import fields

from ipclab.spawn.heat import Contestant, Heat, HeatOutcomes
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Turn
from ipclab.studies import interface

STUDIES = ("calibration", "limits", "multiplexer", "objects", "payload", "round_trip", "stream")
PHASES = ("begin", "unrecorded", "recorded", "end")
TICKS = sysconf("SC_CLK_TCK") / 1000  # in a millisecond
# the place of a number in /proc/PID/stat behind the name of the program: proc(5)
STAT = {"faults": 8, "user": 13, "system": 14}
OWN = (11, 12)

spent = Counter[str]()  # of one study: ms by phase, and how many launches


@contextmanager
def clocked(phase: str) -> Iterator[None]:
    """Add the time of the block to `phase`."""
    began = perf_counter()
    yield
    spent[phase] += 1000 * (perf_counter() - began)  # type: ignore[assignment]


class ClockedHeat(Heat):
    """A heat that counts the time of each phase, and of what was timed in it."""

    def run(self, contestants: Mapping[str, Contestant]) -> HeatOutcomes:
        """Run the heat and count its launches."""
        outcomes = super().run(contestants)
        for name, ended in outcomes.items():
            if isinstance(ended, dict):
                spent["launches"] += 1
                ops = contestants[name].point.primary
                for outcome in ended.values():
                    timed = sum(sum(times) for op, times in outcome.samples.items() if op in ops)
                    spent["timed"] += timed / 1e6  # type: ignore[assignment]
        return outcomes

    def _begin(self, name: str, roles: Sequence[Role]) -> None:
        with clocked("begin"):
            super()._begin(name, roles)

    def _go_on(self, name: str, turn: Turn) -> None:
        turns = "recorded" if turn.recorded else "unrecorded"
        with clocked(turns if turn.roles is not None else "end"):
            super()._go_on(name, turn)


def counted(launcher: Launcher) -> Counter[str]:
    """Return what the fork servers and the processes that ended below them have taken so far."""
    sums = Counter[str]()
    for server in launcher._every_server():
        told = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        for name, place in STAT.items():
            sums[name] += int(told[place])
        sums["servers"] += sum(int(told[place]) for place in OWN)
    return sums


def measured(rounds: int, studies: Sequence[str]) -> pd.DataFrame:
    """Return a row for each study: what a launch takes."""
    rows = {}
    with patch.object(interface, "Heat", ClockedHeat), fields(studies, {}) as (launcher, made):
        for field in made:
            spent.clear()
            for names in field.heats() * rounds:
                launcher.renew_old()
                before = counted(launcher)
                field.in_heat(names)
                after = counted(launcher)
                after.subtract(before)
                spent.update(after)
            count = max(1, spent["launches"])
            row = {"launches": spent["launches"], **{name: spent[name] / count for name in PHASES}}
            row["all"] = sum(row[name] for name in PHASES)
            row["timed"] = spent["timed"] / count
            row |= {name: spent[name] / TICKS / count for name in ("user", "system", "servers")}
            rows[field.study.name] = {**row, "faults": spent["faults"] / count}
    return pd.DataFrame(rows).T


if __name__ == "__main__":
    times, *names = sys.argv[1:] or ["2"]
    print(measured(int(times), names or STUDIES).round(1).to_string())
