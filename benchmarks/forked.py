"""How much faster is a round trip whose ends were forked from one interpreter than one of programs
started one by one?

usage: python benchmarks/forked.py [rounds]

Each round launches each point three times: both ends from one fork server, as from two (as every
launch is), and with a server end that is a fresh interpreter. Prints the medians of the launches'
medians in us. The last two should agree.
"""

import statistics
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ipclab.backends.installed import backends
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.launcher import Launcher
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import profile
from ipclab.studies.round_trip import RoundTripStudy

ROUNDS, SECONDS = 6, 30.0
ARMS, SIZES = ("main", "published"), (100, 10_000)
ONE, TWO, FRESH = "one server", "two servers", "fresh"


def main(rounds: int) -> None:
    """Measure and print the table."""
    study, effort, placed = RoundTripStudy(), profile("quick"), placements(Topology.read(Source()))
    # they are no forks of ours
    ranked = [name for name, backend in backends().items() if backend.ranks]
    every = study.points(effort, Sweep(sizes=SIZES))
    points = [
        each for each in every if each.levels["arm"] in ARMS and each.placement in ("same", "cross")
    ]
    points = [
        each
        for each in points
        if study.missing(each, Path()) is None and each.backend not in ranked
    ]
    found = defaultdict[tuple[object, ...], list[float]](list)
    with tempfile.TemporaryDirectory() as ledger, Launcher(Path(ledger)) as launcher:
        for _ in range(rounds):
            launcher.renew()
            two = launcher.servers
            for point in points:
                roles = study.roles(point, effort, placed[point.placement], 1)
                fresh = [replace(role, fresh=place == 0) for place, role in enumerate(roles)]
                ways = ((ONE, roles, (two[0], two[0])), (TWO, roles, two), (FRESH, fresh, two))
                for way, asked, launcher.servers in ways:
                    (times,) = launcher.launch(asked, SECONDS)["client"].samples.values()
                    levels = point.placement, point.levels["arm"], point.size_bytes, point.backend
                    found[*levels, way].append(statistics.median(times) / 1e3)
            launcher.servers = two
    table = pd.Series({key: statistics.median(values) for key, values in found.items()}).unstack()
    print(table[[ONE, TWO, FRESH]].to_string(float_format=lambda us: f"{us:.1f}"))
    ratios = table[TWO] / table[FRESH], table[ONE] / table[FRESH]
    print(
        "median ratio to fresh: two servers {:.2f}, one server {:.2f}".format(
            *map(statistics.median, ratios)
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
