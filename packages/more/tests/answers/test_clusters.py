"""Many nodes: an index of bundles at any depth that reads only new ones, and who differs from its
equals.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.commands.bundles import pack
from ipclab.stats.intervals import statistic_estimate
from ipclab_more.gather import equals, nodes, tables
from ipclab_more.gather import index as of_index
from ipclab_more.gather.index import NUMBERS, Index, index
from tests.support.bundled import make_run

NODES, OPS, LAUNCHES = 100, 12, 8
SESSION, LAUNCH = 0.02, 0.02  # how sessions and launches scatter


def cluster(seed: int, slow: float = 1.0, odd: dict[str, Any] | None = None) -> Index:
    """Return the index of a hundred equal nodes; node 7 takes `slow` times as long and has the
    facts `odd`.
    """
    random = np.random.default_rng(seed)
    bundles, values = [], []
    for number in range(NODES):
        file = f"n{number:03}.ipclab"
        facts = {"frequency_governor": "performance", "kernel_release": "6.1.0"} | (
            (odd or {}) if number == 7 else {}
        )
        bundles.append(
            {
                "file": file,
                "run": str(number),
                "begun": "2026-11-23",
                "machine": "m",
                "label": file[:4],
            }
            | {
                "profile": "quick",
                "facts": json.dumps(facts),
                "conditions": json.dumps({"load_1": 0.1}),
                "why": "",
            }
        )
        session = random.normal(0, SESSION, OPS)
        for op in range(OPS):
            own = 1e4 * (op + 1) * (slow if number == 7 else 1) * np.exp(session[op])
            launches = own * np.exp(random.normal(0, LAUNCH, LAUNCHES))
            found = statistic_estimate(list(launches), LAUNCHES).for_sessions()
            values.append(
                {
                    "file": file,
                    "study": "round_trip",
                    "point": f"p{op}",
                    "backend": f"b{op}",
                    "placement": "same",
                }
                | {
                    "levels": "{}",
                    "op": "round-trip",
                    "ns": found.value,
                    "low": found.low,
                    "high": found.high,
                    "over_limit": 1.5,
                }
                | {"size_bytes": 100, "launches": LAUNCHES, "plain": True}
            )
    return Index(pd.DataFrame(bundles), pd.DataFrame(values), NODES)


@pytest.mark.slow
def test_of_equal_nodes_nobody_is_named_in_twenty_clusters() -> None:
    assert [len(equals.differing(cluster(seed))) for seed in range(20)] == [0] * 20


@pytest.mark.slow
def test_a_node_that_is_ten_percent_slower_is_named_with_its_ratio_and_nobody_else() -> None:
    named = 0
    for seed in range(20):
        found = equals.differing(cluster(100 + seed, 1.1))
        assert set(found.label) <= {"n007"}
        whole = found[found.point == equals.ALL]
        named += len(whole) == 1 and bool((whole.low < 1.1).all() and (whole.high > 1.05).all())
    assert named >= 19


def test_the_fact_that_differs_stands_beside_the_node() -> None:
    found = equals.differing(cluster(1, 1.2, {"frequency_governor": "powersave"}))
    assert list(found.fact) == ["frequency_governor powersave (others performance)"]
    line = next(iter(tables.differing_nodes(found)))
    assert line.startswith("differs: n007 all 1.") and " of its equals (" in line


def test_a_node_of_one_launch_has_no_interval_and_is_not_named() -> None:
    held = cluster(5)
    one = held.values.file == "n007.ipclab"
    wild = held.values.assign(
        ns=held.values.ns.where(~one | (held.values.op != "round-trip"), held.values.ns * 2),
        low=held.values.low.mask(one, -np.inf),
        high=held.values.high.mask(one, np.inf),
    )
    wild = wild[~one | (wild.point == "p0")]  # a single op, so that ops are judged one by one
    assert equals.differing(Index(held.bundles, wild, NODES)).empty


def test_too_few_nodes_are_compared_with_nobody() -> None:
    held = cluster(3, 2.0)
    few = held.bundles[held.bundles.file.isin(["n007.ipclab", "n008.ipclab"])]
    assert equals.differing(Index(few, held.values, 2)).empty


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three equal nodes, deep in folders of their own, and another machine."""
    top = tmp_path_factory.mktemp("rack")
    for name, machine in (
        ("a", "0123456789ab"),
        ("b", "0123456789ab"),
        ("c", "0123456789ab"),
        ("d", "ba9876543210"),
    ):
        run = make_run(top / "runs" / name, machine)
        run.about["parameters"]["label"] = f"node-{name}"
        run.save()
        (top / "bundles" / name / "deep").mkdir(parents=True)
        pack(run, top / "bundles" / name / "deep" / "run.ipclab")
    return top / "bundles"


def test_each_node_is_a_row_and_only_new_bundles_are_read(rack: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(rack, tmp_path / "bundles"))
    data = tmp_path / "data"
    first = index(mine, data)
    assert first.read == 4 and list(first.bundles.file) == [
        f"{name}/deep/run.ipclab" for name in "abcd"
    ]
    assert list(nodes.nodes(first).label) == ["node-a", "node-b", "node-c", "node-d"]
    assert index(mine, data).read == 0
    shutil.copy(mine / "a/deep/run.ipclab", mine / "e.ipclab")
    (mine / "d/deep/run.ipclab").unlink()
    again = index(mine, data)
    assert (
        again.read == 1 and list(again.bundles.file)[-1] == "e.ipclab" and len(again.bundles) == 4
    )
    replaced = mine / "b/deep/run.ipclab"
    time = replaced.stat().st_mtime_ns
    os.truncate(replaced, 100)  # by a damaged one, within the tick of its time
    os.utime(replaced, ns=(time, time))
    damaged = index(mine, data)
    assert damaged.read == 1 and list(damaged.bundles[damaged.bundles.why != ""].file) == [
        "b/deep/run.ipclab"
    ]
    assert set(damaged.values.file.astype(str)) == {
        "a/deep/run.ipclab",
        "c/deep/run.ipclab",
        "e.ipclab",
    }


def test_a_replaced_bundle_of_the_same_size_and_time_is_read_again(
    rack: Path, tmp_path: Path
) -> None:
    mine = Path(shutil.copytree(rack, tmp_path / "bundles"))
    data = tmp_path / "data"
    index(mine, data)
    replaced = mine / "b/deep/run.ipclab"
    about = replaced.stat()
    replaced.write_bytes(bytes(about.st_size))
    os.utime(replaced, ns=(about.st_atime_ns, about.st_mtime_ns))
    again = index(mine, data)
    assert again.read == 1 and "b/deep/run.ipclab" not in set(again.values.file)


def test_many_small_files_of_an_index_are_made_one(
    rack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_index, "MOST_SMALL", 3)
    mine = Path(shutil.copytree(rack, tmp_path / "bundles"))
    data = tmp_path / "data"
    index(mine, data)
    shutil.copy(mine / "a/deep/run.ipclab", mine / "e.ipclab")
    before = index(mine, data)
    kept = {file.name: file.read_bytes() for file in data.glob("*.parquet")}
    assert len(kept) == 2
    shutil.copy(mine / "a/deep/run.ipclab", mine / "f.ipclab")
    (mine / "d/deep/run.ipclab").unlink()
    joined = index(mine, data)
    assert len(list(data.glob("*.parquet"))) == 1 and joined.read == 1
    assert set(joined.values.file) == set(joined.bundles.file)
    for name, content in kept.items():  # as if a kill came before they went
        (data / name).write_bytes(content)
    monkeypatch.setattr(of_index, "MOST_SMALL", 99)
    again = index(mine, data)
    assert again.read == 0 and len(again.values) == len(joined.values)
    assert len(again.values) == len(before.values)  # one more, one less


def test_an_index_that_cannot_be_read_is_made_anew(rack: Path, tmp_path: Path) -> None:
    first = index(rack, tmp_path)
    for file in tmp_path.glob("*.parquet"):
        file.write_bytes(b"torn")
    again = index(rack, tmp_path)
    assert again.read == 4
    pd.testing.assert_frame_equal(again.values[list(NUMBERS)], first.values[list(NUMBERS)])


@pytest.mark.slow
def test_tables_for_other_programs(
    ipclab: Callable[..., "CompletedProcess[str]"], rack: Path, tmp_path: Path
) -> None:
    done = ipclab("gather", str(rack), "--format", "csv", "--out", str(tmp_path / "csv"))
    assert (
        done.returncode == 0
        and done.stdout.splitlines()[-1] == "4 of 4 bundles taken, 4 of them new"
    )
    assert len([line for line in done.stdout.splitlines() if line.startswith("machine ")]) == 4
    done = ipclab("gather", str(rack), "--format", "parquet", "--out", str(tmp_path / "parquet"))
    assert (
        done.returncode == 0
        and done.stdout.splitlines()[-1] == "4 of 4 bundles taken, 0 of them new"
    )
    for name in ("bundles", "values", "answers", "matrix"):
        text, packed = (
            pd.read_csv(tmp_path / f"csv/{name}.csv"),
            pd.read_parquet(tmp_path / f"parquet/{name}.parquet"),
        )
        assert len(text) == len(packed) >= 4 and list(text.columns) == list(packed.columns), name
        assert packed.filter(nodes.NODE).select_dtypes("category").empty, name
    assert set(text.label) == {"node-a", "node-b", "node-c", "node-d"}
    assert not list((tmp_path / "csv").rglob("*.html"))


@pytest.mark.slow
def test_the_page_names_a_slow_node_with_its_ratio(
    ipclab: Callable[..., "CompletedProcess[str]"], rack: Path, tmp_path: Path
) -> None:
    mine = Path(shutil.copytree(rack, tmp_path / "bundles"))
    run = make_run(tmp_path / "runs", "0123456789ab", 2.0)
    run.about["parameters"]["label"] = "node-slow"
    run.save()
    pack(run, mine / "slow.ipclab")
    done = ipclab("gather", str(mine), "--lang", "en,zh", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("differs: ")]
    assert line.startswith("differs: node-slow all 2.0") or line.startswith(
        "differs: node-slow all 1.9"
    )
    for lang, said in (
        ("en", "nodes differ from the other nodes"),
        ("zh", "个节点与同一机器的其他节点不同"),
    ):
        page = (tmp_path / "out" / lang / "gathered.html").read_text("utf-8")
        assert said in page and page.count("node-slow") >= 2
        assert len(list((tmp_path / "out" / "figures").glob(f"gathered-*.{lang}.svg"))) == 1
