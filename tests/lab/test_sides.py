"""What a finding tells of its sides: what the run varies, and not what follows from a mechanism."""

import pandas as pd
import pytest

from ipclab.lab.sides import parted

COLUMNS = ("study", "arm", "backend", "op", "metric", "wait", "size_bytes")
FACTORS = ("wait", "gap_ns", "backend", "size_bytes")
UNIX, TCP = {"backend": "unix"}, {"backend": "tcp"}


def row(backend: str, wait: str, metric: str = "p50", arm: str = "main") -> tuple[object, ...]:
    return "made", arm, backend, "write", metric, wait, 100


def told(*rows: tuple[object, ...], gap: int | None = None) -> dict[str, object]:
    """Return what is told of `unix`, of a study of these rows."""
    study = pd.DataFrame(rows, columns=COLUMNS)
    part = study[study.backend == "unix"][:1]
    shared, sides = parted([part if gap is None else part.assign(gap_ns=gap)], study, FACTORS)
    assert sides == [{}]
    about = {"op": "write", "backend": "unix", "size_bytes": 100}
    assert shared.items() >= about.items()
    return {name: level for name, level in shared.items() if name not in about}


def test_a_level_is_told_where_its_mechanism_has_others_in_the_main_arm() -> None:
    assert told(row("unix", "block"), row("unix", "spin")) == {"wait": "block"}
    assert told(row("unix", "block"), row("tcp", "spin")) == {}  # follows from the mechanism
    alone = row("unix", "block"), row("unix", "spin", arm="spins")
    assert told(*alone) == {}  # what the main arm has goes without saying
    assert told(*alone[::-1]) == {"wait": "spin"}


def test_what_the_study_does_not_know_is_told_and_the_median_is_not() -> None:
    assert told(row("unix", "block"), gap=5) == {"gap_ns": 5}
    assert told(row("unix", "block", "p99"), row("tcp", "block")) == {"metric": "p99"}
    assert told(row("unix", "block", "p50"), row("tcp", "block", "p99")) == {}


@pytest.mark.parametrize("varied", [True, False])
def test_of_two_mechanisms_what_both_have_alone_is_not_told(varied: bool) -> None:
    rows = [row("unix", "block"), row("tcp", "block"), row("pipe", "spin")]
    if varied:
        rows.append(row("tcp", "spin"))
    study = pd.DataFrame(rows, columns=COLUMNS)
    parts = [study[place : place + 1] for place in (0, 1)]
    shared, sides = parted(parts, study, FACTORS)
    assert sides == [UNIX, TCP]
    assert shared.get("wait") == ("block" if varied else None)
