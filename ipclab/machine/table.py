"""What a run tells of its machine: the table of facts in `facts.csv`, and its words."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from ipclab.paths import table_beside

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None
WORDS = table_beside(__file__, "labels.toml")


@dataclass(frozen=True)
class Fact:
    """A line of the table of facts; `group` and `label` are msgids.

    It says whether the machine's digest holds the fact, and whether reports list it.

    It is the text of `file`, of a `kind`, or of the first of the fields `key` that the file has;
    where there is no file, a reader of its name tells it (`ipclab.machine.facts`).
    """

    group: str
    name: str
    file: str
    kind: str
    unit: str
    identifies: bool
    shown: bool
    affects: str
    label: str
    key: str = ""


def _read_facts() -> tuple[Fact, ...]:
    topics = {"": "", **WORDS["affects"]}
    with Path(__file__).with_name("facts.csv").open(encoding="utf-8", newline="") as table:
        rows = [{**row, "affects": topics[row["affects"]]} for row in csv.DictReader(table)]
    return msgspec.convert(rows, tuple[Fact, ...], strict=False)


FACTS = _read_facts()
