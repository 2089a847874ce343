"""The compiled Go program as the study's bench: cells in turns in one process; published apart."""

import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ipclab.spawn.failures import LaunchError
from ipclab.spawn.heat import Contestant, HeatOutcomes, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.studies.multiplexer import output

NAME = "program"  # the role
PUBLISHED = "published"  # the arm that is measured as published, by Go's own benchmarks
PATIENCE = 3  # deadlines of a step, after which the program is killed: it ends by itself when one step takes as long


@dataclass
class Program:
    """The `binary`, and in `raw` all that it said that could be used."""

    launcher: Launcher
    binary: Path
    raw: list[str] = field(default_factory=list)

    def run(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        """Run a heat: published arms one after the other, the others of the same CPUs in turns."""
        ended: HeatOutcomes = {}
        together: dict[frozenset[int], dict[str, Contestant]] = {}
        for name in schedule.order([*heat], 0):
            contestant = heat[name]
            if contestant.point.levels["arm"] != PUBLISHED:
                together.setdefault(contestant.roles[0].cpus, {})[name] = contestant
                continue
            try:
                ended[name] = {NAME: self._benchmark(contestant, schedule.seconds)}
            except LaunchError as error:
                ended[name] = error
        for contestants in together.values():
            ended |= self._in_turns(contestants, schedule)
        return ended

    def _benchmark(self, contestant: Contestant, seconds: float) -> Outcome:
        """Run one cell as `go test -bench` does."""
        arguments = contestant.roles[0].arguments
        given = [
            "-test.benchmem",
            "-test.run=^$",
            "-test.bench=^BenchmarkCell$",
            "-test.count=1",
            f"-test.benchtime={arguments['benchtime']}",
            # Go's own deadline comes first: it says where the benchmark hung.
            f"-test.timeout={seconds:g}s",
        ]
        cell = arguments["cell"]
        said = self._said(contestant.roles[0], given, {"IPCLAB_CELL": cell}, seconds + 1)
        made = output.cell_outcome(said, cell, contestant.point.primary[0])
        self.raw.append(said)
        return made

    def _in_turns(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        """Run contestants in turns, in one process; when one ends it, the others begin anew."""
        ended: HeatOutcomes = {}
        while going := [name for name in heat if name not in ended]:
            roles = [heat[name].roles[0] for name in going]
            asked = _asked([role.arguments for role in roles], schedule)
            try:
                said = self._said(roles[0], [], {"IPCLAB_HEAT": asked}, PATIENCE * schedule.seconds)
                ops = [heat[name].point.primary[0] for name in going]
                outcomes = dict(
                    zip(going, output.cell_ends(said, ops, schedule.turns), strict=True)
                )
                self.raw += [asked, "\n", said]
            except LaunchError as error:
                failures = output.failures(error.said)
                if not failures:
                    return ended | dict.fromkeys(going, error)
                outcomes = {going[number]: why for number, why in failures.items()}
            for name, end in outcomes.items():
                if isinstance(end, str):
                    ended[name] = _failed(end, heat[name].roles[0])
                else:
                    ended[name] = {NAME: end}
        return ended

    def _said(self, role: Role, given: Sequence[str], more: dict[str, str], seconds: float) -> str:
        """Run the program and return what it said; `LaunchError` has its first message."""
        # The person's settings of Go's runtime would make it another one.
        unset = dict.fromkeys([name for name in os.environ if name.startswith("GO")])
        program = replace(role, command=(str(self.binary), *given), env={**unset, **more})
        try:
            done = self.launcher.launch([program], seconds)
        except LaunchError as error:
            what = error.what.replace(f"worker {NAME!r}", "the Go benchmark")
            failed = _failed(output.failure_reason(error.said), role, what)
            failed.said = error.said
            raise failed from error
        return str(done[NAME].facts["said"])


def _asked(cells: Sequence[Mapping[str, Any]], schedule: Schedule) -> str:
    """Return the heat of `cells` as the Go program takes it, in JSON; times are in ns."""
    asked = {
        "cells": [{name: cell[name] for name in ("cell", "cpus")} for cell in cells],
        "turns": schedule.turns,
        "warm": schedule.warm_ns,
        "turn": cells[0]["turn_ns"],
        "least": cells[0]["least"],
        "patience": round(schedule.seconds * 1e9),
        "seed": random.Random(str(schedule.seed)).getrandbits(63),
    }
    return json.dumps(asked)


def _failed(why: str, role: Role, what: str = "the Go benchmark failed") -> LaunchError:
    fix = (
        f"see it alone, in ipclab/native/multiplexer: IPCLAB_CELL={role.arguments['cell']} go test -run"
        " '^$' -bench Cell ."
    )
    if "Permission denied" in why:
        fix = "set TMPDIR to a folder whose files may be executed"
    return LaunchError(what, why, fix)
