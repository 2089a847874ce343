"""One calibration: its launches."""

import datetime as dt
import secrets
import statistics
import time
from collections.abc import Callable
from typing import Any

import msgspec

from ipclab.errors import UsageError
from ipclab.machine import Source, Topology, collect
from ipclab.machine.placement import Placement, placements
from ipclab.measure.calibration import result
from ipclab.measure.calibration.result import ARMS, ROUNDS, Tally
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.spawn.launcher import Launcher
from ipclab.store.files import dump_json, write_whole
from ipclab.studies.calibration import EXCHANGES, OP, SIZE, roles
from ipclab.studies.profile import profile

PLACEMENTS = ("same", "cross")
EFFORT = "quick"  # the profile of which a launch is one
LAUNCH_SECONDS = 10.0
FIRST_LAUNCHES = 15  # they give the time of a launch
OVERRUN = 1.25
SEED_BITS = 31

Launch = Callable[[int], float]


def calibrate(paths: Paths, seconds: float, seed: int | None, progress: Progress) -> dict[str, Any]:
    """Measure for about `seconds`, write `calibration.json` beside the machine's runs and return its content.

    Raises `UsageError` when the time is too short for one trial in each placement.
    """
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    placed = placements(Topology.read(Source()))
    chosen = [placed[name] for name in PLACEMENTS if name in placed]
    machine = collect(Source(), root=paths.root).digest
    found: dict[str, dict[str, Any]] = {}
    with Launcher(paths.ledger) as launcher:
        for placement in chosen:
            found[placement.name] = measure(launching(launcher, placement), seconds / len(chosen), seed, progress)
            found[placement.name] |= {"relation": placement.relation, "cpus": [min(placement.role(k)) for k in (0, 1)]}
    content = {
        "schema": result.SCHEMA,
        "machine": machine,
        "made": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "seconds": seconds,
        "size_bytes": SIZE,
        "planted": dict(ARMS),
        "false_alarms": result.false_alarms([Tally(**each["tally"]) for each in found.values()]),
        "placements": found,
    }
    write_whole(result.file(paths, machine), dump_json(content))
    return content


def launching(launcher: Launcher, placement: Placement) -> Launch:
    """Return what makes one launch of operations of so many exchanges, and returns their median in ns."""
    effort = profile(EFFORT)

    def launch(exchanges: int) -> float:
        outcomes = launcher.launch(roles(exchanges, effort, placement), LAUNCH_SECONDS)
        return float(statistics.median(outcomes["client"].samples[OP]))

    return launch


def measure(
    launch: Launch, seconds: float, seed: int, progress: Progress, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """Make as many rounds of launches as fit into `seconds` and return them with what follows from them.

    `launch` gets a number of exchanges. Raises `UsageError` when not even one trial fits.
    """
    start = clock()
    base = statistics.median(launch(EXCHANGES) for _ in range(FIRST_LAUNCHES))
    each = (clock() - start) / FIRST_LAUNCHES
    rounds = int((seconds - (clock() - start)) / (each * len(ARMS))) // ROUNDS * ROUNDS
    if rounds < ROUNDS:
        least = each * (FIRST_LAUNCHES + len(ARMS) * ROUNDS)
        raise UsageError(f"{seconds:.0f} s are too short", "", f"one placement needs at least {least:.0f} s here")
    medians: result.Medians = {arm: [] for arm in ARMS}
    ordered: list[list[str]] = []
    progress.start("calibrate", rounds * len(ARMS))
    try:
        for order in result.orders(rounds, seed):
            if clock() - start > OVERRUN * seconds:
                break  # the machine became slower: whole trials of what there is
            ordered.append(order)
            for arm in order:
                medians[arm].append(launch(round((1 + ARMS[arm]) * EXCHANGES)))
                progress.step()
    finally:
        progress.end()
    tally = msgspec.to_builtins(result.tally(medians))
    return {"base_ns": base, "tally": tally, "medians_ns": medians, "orders": ordered}
