"""Which mechanism is fastest: shown, undecided or the same, from a frame of launches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.backends.installed import keeps
from ipclab.frames import derived
from ipclab.frames.contests import CONTEST, contests
from ipclab.stats.compare import SLOWER
from ipclab.studies.questions import question
from tests.support.told import reference


def winners(compared: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each contest of a contest frame.

    Columns beside those of the contest: `fastest` by its median, `tied` (a list: it and all that
    were not shown to be slower), and `slower` (a list).
    """
    rows = []
    for key, part in compared.groupby(list(CONTEST)):
        fastest = str(part.fastest.iloc[0])
        slower = part.verdict == SLOWER
        tied = [fastest, *part.other[~slower & (part.other != "")]]
        rows.append((*key, fastest, tied, list(part.other[slower])))
    return pd.DataFrame(rows, columns=[*CONTEST, "fastest", "tied", "slower"])


def launches(study: str, op: str, medians: Mapping[str, float], **levels: Any) -> pd.DataFrame:
    """Return the launch frame of mechanisms with these medians, twelve launches each."""
    columns = ["backend", "point", "launch", "order", "value"]
    rows: list[tuple[Any, ...]] = []
    for backend, base in medians.items():
        random = np.random.Generator(np.random.PCG64([len(backend), int(base)]))
        values = enumerate(base * random.normal(1, 0.02, 12))
        rows += [(backend, backend, order, order, value) for order, value in values]
    common: dict[str, Any] = {"study": study, "op": op, "metric": "p50"}
    common |= {"size_bytes": 100, "placement": "same"}
    return pd.DataFrame(rows, columns=columns).assign(**common, **levels)


def trips(**levels: Any) -> pd.DataFrame:
    times = {"spin": 1_000, "a": 5_000, "b": 5_010, "slow": 9_000}
    found = launches("round_trip", "round-trip", times, **{"arm": "main", **levels})
    return found.assign(wait=found.backend.map({"spin": "spin"}).fillna("block"))


def test_the_fastest_and_what_cannot_be_told_from_it() -> None:
    found = contests(question("round_trip"), trips())
    every, sleeping = (
        winners(found[found.among == among]).iloc[0] for among in ("all", "sleeping")
    )
    assert (every.fastest, every.tied, set(every.slower)) == ("spin", ["spin"], {"a", "b", "slow"})
    assert (set(sleeping.tied), sleeping.slower) == ({"a", "b"}, ["slow"])
    ratio = found[(found.among == "sleeping") & (found.other == "slow")].ratio.iloc[0]
    assert 1.7 < ratio < 1.9


def test_who_spins_before_it_blocks_is_not_among_those_that_do_not_spin() -> None:
    found = trips()
    found["wait"] = found.backend.map({"spin": "spin", "a": "spin-then-block"}).fillna("block")
    sleeping = winners(contests(question("round_trip"), found).query("among == 'sleeping'")).iloc[0]
    assert (sleeping.fastest, sleeping.slower) == ("b", ["slow"])


def test_who_can_sleep_is_among_those_that_sleep_whatever_its_usual_wait() -> None:
    usual = trips()
    asleep = launches("round_trip", "round-trip", {"spin": 4_000}, arm="wait", wait="block")
    sleeping = winners(
        contests(question("round_trip"), pd.concat([usual, asleep], ignore_index=True))
    )
    assert list(sleeping.query("among == 'sleeping'").fastest) == ["spin"]
    assert list(sleeping.query("among == 'all'").fastest) == ["spin"]
    assert len(sleeping) == 2


def test_other_arms_take_no_part() -> None:
    assert contests(question("round_trip"), trips(arm="gap")).empty


def test_a_mechanism_alone_is_fastest_and_nothing_is_slower() -> None:
    alone = winners(contests(question("round_trip"), trips().query("backend == 'a'")))
    assert list(alone.tied.explode()) == ["a", "a"]
    assert alone.slower.map(len).sum() == 0


def test_who_reads_a_copy_of_its_own_is_not_fastest_at_reading() -> None:
    levels = {"arm": "read-many", "codec": "pickle", "nodes": 1, "sync": "none", "map": "none"}
    levels |= {"readers": 3, "entries": 10}
    times = {"zmq-pub": 1_000.0, "posix-shm": 5_000.0, "shared-memory": 9_000.0}
    read, write = (
        contests(question("shared_dict"), launches("shared_dict", op, times, **levels))
        for op in ("read", "write")
    )
    per_arm = [
        winners(found[found.question.str.startswith("arm=")]).iloc[0] for found in (read, write)
    ]
    assert [found.fastest for found in per_arm] == ["posix-shm", "zmq-pub"]
    assert [keeps(name) for name in (*times, "nobody")] == [False, True, True, False]


def test_what_scatters_is_compared_from_five_launches_on() -> None:
    free = trips().assign(placement="free")
    for kept in (4, 5):
        compared = contests(question("round_trip"), free[free.launch < kept])
        assert compared.empty == (kept == 4), kept
    # whoever has launches enough is compared without the others
    few = free[(free.backend != "b") | (free.launch < 4)]
    assert set(contests(question("round_trip"), few).query("among == 'all'").other) == {"a", "slow"}
    pinned = trips()
    assert len(contests(question("round_trip"), pinned[pinned.launch < 3]))


def test_a_ratio_is_the_quotient_of_the_two_values_beside_it() -> None:
    """In the digits that are shown, and in all others."""
    for study in derived.studies_measured(reference()):
        table = derived.read_frame(reference(), study, "contests")
        rows = table[table.ratio.notna()]
        assert (rows.value / rows.best).tolist() == pytest.approx(rows.ratio.tolist(), rel=1e-12)
