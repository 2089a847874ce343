"""Runs of which something was altered with all digests made to fit: whether a report takes them."""

import json
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ipclab.errors import LabError
from ipclab.frames import derived, suspects
from ipclab.frames.limits import with_limits
from ipclab.store import run as folder
from ipclab.store.files import sha256
from ipclab.store.run import RunFolder
from ipclab.store.samples import METADATA, decode, encode

Frames = dict[tuple[str, str], pd.DataFrame]  # by study and kind


def alter_samples(file: Path, chance: random.Random) -> None:
    """Give a point samples that no clock gives, or columns that none has."""
    table = pq.read_table(file)
    ns, some = (
        table["ns"].to_numpy().copy(),
        np.arange(table.num_rows) >= chance.randrange(table.num_rows),
    )
    columns = [
        -ns, ns * 0, np.where(some, -ns, ns), np.where(some, ns + 2**62, ns), np.where(some, ns / 1e300, ns),
        ns.astype(str), ns.astype(np.int32), ns > 0, ns.astype("datetime64[ns]"), [[int(each)] for each in ns],
        [None] * len(ns),
    ]  # fmt: skip
    values = pa.array(chance.choice(columns))
    if chance.random() < 0.2:  # noqa: PLR2004
        name = chance.choice(["op", "launch"])
        table = table.set_column(table.column_names.index(name), name, values)
    else:
        table = table.set_column(table.column_names.index("ns"), "ns", values)
    pq.write_table(table, file)


def alter_point(file: Path, files: list[Path], chance: random.Random) -> None:
    """Put another file in the place of a point's, or tell of a point what cannot be."""
    table = pq.read_table(file)
    about = json.loads(table.schema.metadata[METADATA])
    changes: list[Callable[[], Any]] = [
        lambda: about["point"].update(backend="another"),
        lambda: about["point"].update(study="another"),
        lambda: about["point"]["levels"].update(more=1),
        lambda: about["point"].update(size_bytes=about["point"]["size_bytes"] + 1),
        lambda: chance.choice(about["launches"]).update(order=-1),
        lambda: chance.choice(about["launches"]).update(counters={"x": {"count": -1.0}}),
        lambda: chance.choice(about["launches"]).update(per={"x": 2}),
        lambda: chance.choice(about["launches"]).update(turns={"x": [1]}),
        lambda: chance.choice(about["launches"]).update(facts={"round": "x"}),
        lambda: about["launches"].append(about["launches"][0]),
        about["launches"].clear,
    ]
    if chance.random() < 0.3:  # noqa: PLR2004
        shutil.copy(chance.choice([each for each in files if each != file]), file)
    else:
        chance.choice(changes)()
        pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(about)}), file)


def too_fast(file: Path) -> None:
    """Give every sample of a point one nanosecond."""
    measured = decode(file)
    for launch in measured.launches:
        launch.samples = {op: np.ones_like(times) for op, times in launch.samples.items()}
        launch.whole = {
            op: dict.fromkeys(told, 1.0) | {"samples": told["samples"], "sd": 0.0}
            for op, told in launch.whole.items()
        }
    file.write_bytes(encode(measured))


def use_sealed(path: Path, truth: Frames, chance: random.Random) -> str:
    """Alter the run in `path`, make its digests fit, and ask as a report does; tell what became of
    it.
    """
    run = folder.read(path)
    files = sorted(path.glob("points/*/*.parquet"))
    kind = chance.randrange(4)
    file = chance.choice(files)
    if kind == 0:
        alter_samples(file, chance)
    elif kind == 1:
        alter_point(file, files, chance)
    elif kind == 2:  # noqa: PLR2004
        file = chance.choice([path / name for name in limited(run)])
        too_fast(file)
    else:
        file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])
    if kind < 3 or chance.random() < 0.5:  # noqa: PLR2004
        run.about["files"][str(file.relative_to(path))] = sha256(file)
        run.save()
    if suspects.checked(run):
        return "named"
    shown = all(derived.read(run, *key).equals(frame) for key, frame in truth.items())
    return "recomputed" if shown else "rendered"


def limited(run: RunFolder) -> list[str]:
    """Return the files of the points of which a limit is known."""
    bounds = derived.read(run, "limits", "launches")
    found = []
    for study in derived.measured(run):
        points = with_limits(derived.read(run, study, "points"), bounds)
        found += [
            f"points/{study}/{name}.parquet"
            for name in points[points.over_limit.notna()].point.unique()
        ]
    return found


def sealed_runs(run: RunFolder, top: Path, mutations: int, seed: int) -> Counter[str]:
    """Return how many mutations of the sealed `run` were refused, named, derived again, or
    rendered.
    """
    counts: Counter[str] = Counter(rendered=0)
    truth = {
        (study, kind): derived.read(run, study, kind)
        for study in derived.measured(run)
        for kind in ("points", "launches", "contests")
    }
    for number in range(mutations):
        chance, each = random.Random(f"{seed} sealed {number}"), top / "sealed"
        shutil.copytree(run.path, path := each / "runs" / "m" / run.id)
        try:
            became = use_sealed(path, truth, chance)
        except LabError as error:
            became = "refused" if "\n" not in str(error) else "tracebacks"
        except Exception:
            became = "tracebacks"
            print(f"sealed {number}: {traceback.format_exc(limit=-3)}")
        counts[became] += 1
        if became == "rendered":
            print(f"sealed {number}: rendered")
        shutil.rmtree(each)
    return counts


def content_or(file: Path, before: bytes) -> bytes:
    """Return the content of a file, or what it was `before` where it is gone."""
    return file.read_bytes() if file.is_file() else before


def files_below(top: Path) -> list[str]:
    """Return the names of all files below a folder."""
    return [str(file.relative_to(top)) for file in top.rglob("*") if file.is_file()]
