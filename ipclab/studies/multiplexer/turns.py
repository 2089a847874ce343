"""A heat of the Go program: what it is asked, and its lines, one for each turn, read exactly."""

import json
import random
from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta

from ipclab.spawn.heat import Schedule
from ipclab.spawn.proof import PROVED
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.studies.multiplexer.output import LENGTH, PER, wrong

Whole = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]
# counted where the sender is, to which the receiver's are added
BOTH_ENDS = "allocations", "bytes_allocated"
FAIRNESS = "fairness"  # of a turn, not of an operation
FIGURES = (*BOTH_ENDS, "receiver_allocations", "receiver_bytes_allocated", FAIRNESS)


class CellTurn(msgspec.Struct, tag_field="kind", tag="turn", forbid_unknown_fields=True):
    """One turn of cell number `cell` of a heat: its operations, and those of its receiver.

    Where there is a receiver every message is numbered, and so many were `compared` whole.
    """

    cell: Whole
    turn: Some
    operations: Some
    ns: Some
    allocations: Whole
    bytes_allocated: Whole
    receiver_allocations: Whole | None = None
    receiver_bytes_allocated: Whole | None = None
    fairness: Annotated[float, Meta(ge=1)] | None = None
    compared: Whole | None = None


class Failure(msgspec.Struct, tag_field="kind", tag="failure", forbid_unknown_fields=True):
    """Why cell number `cell` of a heat takes no further part."""

    cell: Whole
    why: str


LINES = msgspec.json.Decoder(CellTurn | Failure)


def heat(roles: Sequence[Role], schedule: Schedule) -> str:
    """Return the heat of `roles` as the Go program takes it, in JSON; times are in ns."""
    first = roles[0].arguments
    asked = {
        "cells": [
            {"cell": role.arguments["cell"], "cpus": role.arguments["cpus"]} for role in roles
        ],
        "turns": schedule.turns,
        "warm": schedule.warm_ns,
        "turn": first["turn_ns"],
        "least": first["least"],
        "patience": round(schedule.seconds * 1e9),
        "seed": random.Random(str(schedule.seed)).getrandbits(63),
    }
    return json.dumps(asked)


def cell_ends(said: str, ops: Sequence[str], turns: int) -> list[Outcome | str]:
    """Return how each cell of a heat ended, in the order of `ops`: measurements, or failure.

    Raises `LaunchError` when a cell that did not fail has not said exactly what it took in each of
    its `turns`.
    """
    taken = [list[CellTurn]() for _ in ops]
    why: dict[int, str] = {}
    for line in said.splitlines():
        try:
            parsed = LINES.decode(line)
        except msgspec.DecodeError as error:
            raise wrong(f"{error}: {line[:LENGTH]!r}") from error
        if parsed.cell >= len(ops):
            raise wrong(f"cell {parsed.cell} of {len(ops)}")
        if isinstance(parsed, Failure):
            why.setdefault(parsed.cell, parsed.why)
        else:
            taken[parsed.cell].append(parsed)
    outcomes: list[Outcome | str] = []
    for number, op in enumerate(ops):
        if number in why:
            outcomes.append(why[number])
            continue
        numbers = [turn.turn for turn in taken[number]]
        if numbers != [*range(1, turns + 1)]:
            raise wrong(f"turns {numbers} of cell {number} where {turns} were asked for")
        outcomes.append(_joined(taken[number], op))
    return outcomes


def failures(said: str) -> dict[int, str]:
    """Return why cells of a heat failed, by number, in what a program `said` that then ended."""
    reasons = {}
    for line in said.splitlines():
        with suppress(msgspec.DecodeError):
            parsed = LINES.decode(line)
            if isinstance(parsed, Failure):
                reasons[parsed.cell] = parsed.why
    return reasons


def _joined(taken: Sequence[CellTurn], op: str) -> Outcome:
    """Return the turns of a cell as one sample each, and what its ends allocated in all."""
    operations = sum(turn.operations for turn in taken)
    counted = dict[str, float]()
    for name in FIGURES:
        values = [getattr(turn, name) for turn in taken]
        missing = values.count(None)
        if missing == 0:
            counted[name] = sum(values) / (len(taken) if name == FAIRNESS else operations)
        elif missing < len(taken):
            raise wrong("figures that are missing in some turns")
    for name in BOTH_ENDS:
        counted[name] += counted.get(f"receiver_{name}", 0.0)
    samples = array("q", [round(turn.ns * PER / turn.operations) for turn in taken])
    turns = {op: [1] * len(taken)}
    facts = {"operations": operations}
    compared = [turn.compared for turn in taken if turn.compared is not None]
    if compared:
        facts |= dict(zip(PROVED, (operations, sum(compared)), strict=True))
    return Outcome({op: samples}, {op: counted}, facts=facts, turns=turns)
