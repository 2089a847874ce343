"""The table of docs/cheats.md: which cheats there are in a study, and how each must be told."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ipclab.errors import LabError
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from ipclab.studies.installed import study
from ipclab.studies.interface import Study, Sweep
from ipclab.studies.profile import PROFILES
from tests.support.commands import ROOT
from tests.support.measured import FREE

# A cheat in each 20th message is missed where none of those is looked at: there are too many for that.
SMOKE = replace(PROFILES["smoke"], turn_ns=10_000_000, least_samples=400, most_samples=400)
GENUINE = ["Base"] * 5
NUMBER = r"-?[\d,]+"


def _rows(head: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the table whose first column is called `head`, by column."""
    lines = iter((ROOT / "docs" / "cheats.md").read_text().splitlines())
    names = next(_cells(line) for line in lines if line.startswith(f"| {head} "))
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield dict(zip(names, _cells(line), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


TOLD = {row["word"]: row["is told as"].split("; ") for row in _rows("word")}


def said(study: str) -> dict[str, str]:
    """Return by cheat the pattern of what must be said of it in a `study`, as the table calls it."""
    patterns = {}
    for row in _rows("cheat"):
        messages = [said for word in row[study].split(", ") if word for said in TOLD[word]]
        if messages:
            several = (re.escape(said).replace("N", NUMBER) for said in messages)
            patterns[row["cheat"].strip("`")] = "|".join(several)
    assert len(patterns) >= 20, "the table has another form"
    return patterns


def refused(
    launcher: Launcher,
    name: str,
    size: int,
    cheats: Iterable[str],
    backend: str = "unix",
    arm: str = "main",
) -> list[str]:
    """Return for each of `cheats`, which take turns in a heat of the study `name`, why it is
    refused; nothing where it is not.
    """
    asked = study(name)
    effort = asked.effort(SMOKE)
    points = asked.points(effort, Sweep((size,), (backend,)))
    point = next(point for point in points if point.levels["arm"] == arm)
    roles = asked.roles(point, effort, FREE, 9)
    heat = {}
    for number, cheat in enumerate(cheats):
        lying = [
            replace(
                role,
                target="tests.support.cheats:run",
                arguments={**role.arguments, "target": role.target, "cheat": cheat},
            )
            for role in roles
        ]
        heat[str(number)] = Contestant(point, lying)
    ended = Heat(launcher, Schedule(turns=3, warm_turns=1, seconds=30)).run(heat)
    return [_refusal(asked, point, ended[number]) for number in heat]


def _refusal(asked: Study, point: Point, ended: dict[str, Outcome] | LabError) -> str:
    if isinstance(ended, LabError):
        return str(ended)
    try:
        asked.collect(point, ended, 9)
    except PayloadError as error:
        return str(error)
    return ""


def mistold(
    cheats: Mapping[str, str],
    launcher: Launcher,
    name: str,
    size: int,
    backend: str = "unix",
    arm: str = "main",
) -> dict[str, str]:
    """Return what is said of those of `cheats` of which it is not what their pattern says."""
    told = refused(launcher, name, size, cheats, backend, arm)
    return {
        cheat: why
        for cheat, why in zip(cheats, told, strict=True)
        if not re.search(cheats[cheat], why)
    }
