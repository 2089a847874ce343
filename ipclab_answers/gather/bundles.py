"""What a table of machines needs of each bundle: one round trip by mechanism and placement."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ipclab.lab.runs import COARSE
from ipclab.studies.profile import PROFILES
from ipclab_answers.gather.index import Index

STUDY, OP = "round_trip", "round-trip"
PLACEMENTS = ("same", "cross")  # the others have no limit
FACTS = ("cpu_model", "threads", "kernel_release", "virtualisation")
COLUMNS = ["file", "machine", "backend", "placement", "ns", "over_limit"]


@dataclass(frozen=True)
class Gathered:
    """One bundle: its file, run and machine, and a row for each mechanism.

    The rows have backend, placement, ns and over_limit. Of a bundle that cannot be taken only the
    file is known, and `why`.
    """

    file: str
    run: str = ""
    begun: str = ""
    machine: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""
    profile: str = ""


def gathered(index: Index, size: int) -> list[Gathered]:
    """Return what every bundle of an `index` says of round trips of `size` bytes, by its name."""
    told = index.values
    told = told[told.plain.astype(bool) & (told.size_bytes == size) & (told.op == OP)]
    told = told[told.placement.isin(PLACEMENTS)]
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in told[["file", *COLUMNS[2:]]].to_dict("records"):
        over = row["over_limit"]
        row["over_limit"] = None if pd.isna(over) else over
        plain = {str(name): value for name, value in row.items() if name != "file"}
        rows.setdefault(str(row["file"]), []).append(plain)
    return [_of(head, rows, size) for head in index.bundles.to_dict("records")]


def _of(head: dict[Any, Any], rows: dict[str, list[dict[str, Any]]], size: int) -> Gathered:
    file = str(head["file"])
    if head["why"] or file not in rows:
        why = head["why"] or f"it holds no round trip of {size} bytes"
        return Gathered(file, why=why)
    known = json.loads(head["facts"])
    facts = {"label": head["label"] or None} | {name: known.get(name) for name in FACTS}
    named = head["run"], head["begun"], head["machine"]
    return Gathered(file, *named, facts, rows[file], profile=head["profile"])


def frame(bundles: Sequence[Gathered]) -> pd.DataFrame:
    """Return one row for each mechanism and placement of each bundle, with its `rank` by time."""
    rows = []
    for bundle in bundles:
        rows += [{"file": bundle.file, "machine": bundle.machine, **row} for row in bundle.rows]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"over_limit": float})
    ranks = table.groupby(["file", "placement"]).ns.rank(method="min")
    return table.assign(rank=ranks.astype(int))


def best(bundles: Sequence[Gathered]) -> list[Gathered]:
    """Return of each node the run that tells most at the highest profile, then the newest.

    A machine whose runs have no label is one node. They are in the order of processors, kernels,
    machines and labels.
    """

    def rank(bundle: Gathered) -> tuple[Any, ...]:
        profiles = list(PROFILES)
        place = profiles.index(bundle.profile) if bundle.profile in profiles else -1
        fine = bundle.profile != COARSE
        return fine, len(bundle.rows), place, bundle.begun, bundle.file

    def machine(bundle: Gathered) -> tuple[list[str], str, str]:
        return [str(bundle.facts[name]) for name in FACTS], *node(bundle)

    def node(bundle: Gathered) -> tuple[str, str]:
        return bundle.machine, str(bundle.facts.get("label") or "")

    last = {node(bundle): bundle for bundle in sorted(bundles, key=rank)}
    return sorted(last.values(), key=machine)
