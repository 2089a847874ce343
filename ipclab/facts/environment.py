"""Named facts of the machine and of the run itself."""

from collections.abc import Iterator
from typing import Any

from ipclab.facts.fact import Fact
from ipclab.stats.intervals import LEVEL

UNITS = {"bytes": "B", "ns": "ns"}
RUN = "run.json"


def facts(about: dict[str, Any]) -> Iterator[Fact]:
    """Yield `machine.*` and `run.*` facts of the run that `about` (its run.json) describes."""
    for name, value in sorted(about["machine"]["facts"].items()):
        if value is None or isinstance(value, int | float | str):
            plain = int(value) if isinstance(value, bool) else value
            yield Fact(f"machine.{name}", plain, _unit(name), source=RUN)
    yield Fact("run.machine", about["machine"]["digest"], "text", source=RUN)
    yield Fact("run.date", about["begun"], "date", source=RUN)
    yield Fact("run.profile", about["parameters"]["profile"], "text", source=RUN)
    yield Fact("run.seed", str(about["seed"]), "text", source=RUN)
    yield Fact("run.failures", len(about["failures"]), "count", source=RUN)
    yield Fact("run.points", sum(name.startswith("points/") for name in about["files"]), "count", source=RUN)
    yield Fact("run.level", LEVEL, "share", kind="computed")
    yield Fact("run.impossible", len(about.get("impossible", [])), "count", source=RUN)
    yield Fact("run.sessions", len(about["sessions"]), "count", source=RUN)


def _unit(name: str) -> str:
    from ipclab.machine import FACTS

    units = {spec.name: spec.unit for spec in FACTS}
    return UNITS.get(units.get(name, ""), "text")
