"""The index of a folder of bundles: one Parquet data set, to which only new bundles are added.

It lies in `data/gathered`, apart from the bundles. A row without a point is a bundle's head: its
file, run, node and facts, or why it cannot be taken. What was removed or replaced is left out.
"""

import hashlib
import os
import secrets
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ipclab.errors import LabError
from ipclab.paths import checkout
from ipclab.store.files import locked, write_whole
from ipclab_answers.gather import files_in
from ipclab_answers.gather.reading import Row, key_of, taken

FORMAT = 2  # of the data set; another one is made anew
TEXTS = ("file", "run", "begun", "machine", "label", "profile", "facts", "conditions")
WORDS = ("why", "study", "point", "backend", "placement", "levels", "op")
NUMBERS = ("ns", "low", "high", "over_limit")
COUNTS = ("bytes", "mtime_ns", "size_bytes", "launches")
SHARED = ("file", "study", "point", "backend", "placement", "levels", "op")  # repeated
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in (*TEXTS, *WORDS)),
        *((name, pa.float64()) for name in NUMBERS),
        *((name, pa.int64()) for name in COUNTS),
        ("plain", pa.bool_()),
    ]
)
# The same as it is read: what is repeated is a number of its text
ENCODED = pa.schema(
    [
        pa.field(field.name, pa.dictionary(pa.int32(), field.type))
        if field.name in SHARED
        else field
        for field in COLUMNS
    ]
)
AT_ONCE = 200  # bundles that one file of the data set holds: a kill loses no more
MOST_FILES = 64  # after which they are made one
PATIENCE = 60.0  # seconds that another process may take: pages in several languages ask at once
HELD = "the index of these bundles is being made by another process"
KEY = ["file", "bytes", "mtime_ns"]


@dataclass(frozen=True)
class Index:
    """What is known of a folder's bundles: a row for each, one for each op of whole ones."""

    bundles: pd.DataFrame
    values: pd.DataFrame
    read: int  # bundles that were new

    @property
    def whole(self) -> pd.DataFrame:
        """Return the bundles that could be taken."""
        return self.bundles[self.bundles.why == ""]


def index(folder: Path, top: Path | None = None, study: str = "round_trip") -> Index:
    """Return what all bundles below `folder` say of `study`, by the data set in folder `top`.

    It lies below `data/gathered` where no `top` is given. Bundles that it does not have are read
    and added. Raises `UsageError` when there is no bundle, and `LabError` when a process that reads
    them is killed or the data set cannot be written.
    """
    top = top or _place(folder, study)
    files = {str(file.relative_to(folder)): file for file in files_in(folder)}
    try:
        top.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose another IPCLAB_DATA"
        raise LabError(f"cannot write {top}", error.strerror or "", fix) from error
    taken_by_another = LabError(HELD, "", "wait for it or end it")
    with locked(top, taken_by_another, patience=PATIENCE):
        present = pd.DataFrame([key_of(file, name) for name, file in files.items()])
        known = _known(top)
        fresh = present.merge(known, "left", on=KEY, indicator=True)
        new = [files[name] for name in fresh[fresh["_merge"] == "left_only"].file]
        for start in range(0, len(new), AT_ONCE):
            rows = _rows(folder, new[start : start + AT_ONCE], study)
            _add(top, pa.Table.from_pylist(rows, COLUMNS))
        return _read(top, present, len(new))


def _place(folder: Path, study: str) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return checkout().data / "gathered" / f"{name}-{FORMAT}" / f"study={study}"


def _known(top: Path) -> pd.DataFrame:
    """Return the files that the data set tells of; one that cannot be read is made anew."""
    numbers = {"bytes": int, "mtime_ns": int}
    known = [pd.DataFrame(columns=KEY).astype(numbers)]
    for part in sorted(top.glob("*.parquet")):
        try:
            table = pq.read_table(part, columns=[*KEY, "point"], partitioning=None)
            if not pq.read_schema(part).equals(COLUMNS):
                raise ValueError("it has other columns")
        except (OSError, ValueError, LookupError):
            part.unlink()
            continue
        rows = table.to_pandas()
        known.append(rows[rows.point.isna()][KEY].astype(numbers))
    return pd.concat(known).drop_duplicates()


def _rows(folder: Path, files: Sequence[Path], study: str) -> list[Row]:
    names = [str(file.relative_to(folder)) for file in files]
    workers = min(len(files), len(os.sched_getaffinity(0)))
    try:
        alone = {
            "initializer": pa.set_cpu_count,
            "initargs": (1,),
        }  # each of them: Arrow without threads
        with ProcessPoolExecutor(workers, get_context("fork"), **alone) as pool:
            found = pool.map(partial(taken, study=study), files, names, chunksize=4)
            return list(chain.from_iterable(found))
    except BrokenProcessPool as error:
        what = f"the bundles in {folder} were not read"
        why = "a process that reads them was killed, as happens without memory"
        raise LabError(what, why, "gather fewer at a time") from error


def _add(top: Path, table: pa.Table) -> None:
    """Add a file to the data set; many are made one, which appears before they go."""
    old = sorted(top.glob("*.parquet"))
    if len(old) >= MOST_FILES:
        dataset = ds.dataset(old, schema=COLUMNS, format="parquet")
        table = pa.concat_tables([dataset.to_table(), table])
    else:
        old = []
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    write_whole(top / f"{secrets.token_hex(8)}.parquet", sink.getvalue().to_pybytes())
    for file in old:
        file.unlink()


def _read(top: Path, present: pd.DataFrame, count: int) -> Index:
    """Return the rows of the bundles that are `present`, each once."""
    parts = sorted(top.glob("*.parquet"))
    dataset = ds.dataset(parts, schema=COLUMNS, format="parquet")
    is_head = ds.field("point").is_null()
    heads = dataset.to_table(columns=[*TEXTS, "bytes", "mtime_ns", "why"], filter=is_head)
    recorded = heads.to_pandas().merge(present, on=KEY)
    bundles = recorded.drop_duplicates("file").sort_values("file", ignore_index=True)
    texts = bundles.select_dtypes(["object", "str"]).columns
    bundles[texts] = bundles[texts].fillna("")
    columns = [*SHARED, *NUMBERS, *COUNTS, "plain"]
    once = ds.ParquetReadOptions(dictionary_columns=set(SHARED))  # each text, however many bundles
    dataset = ds.dataset(parts, schema=ENCODED, format=ds.ParquetFileFormat(read_options=once))
    table = dataset.to_table(columns=columns, filter=~is_head).unify_dictionaries()
    values = table.to_pandas(self_destruct=True, split_blocks=True)
    values = _of_today(values, bundles)
    if len(bundles) < len(recorded):  # a kill came before the files that were made one went
        values = values.drop_duplicates(["file", "point", "op"])
    return Index(bundles, values.reset_index(drop=True), count)


def _of_today(values: pd.DataFrame, bundles: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `bundles` as they are now, not of those that they replaced."""
    today = bundles.set_index("file")[["bytes", "mtime_ns"]]
    today = today.reindex(values.file.cat.categories, fill_value=-1)
    codes = values.file.cat.codes.to_numpy()
    same = np.ones(len(values), bool)
    for name in today:
        same &= today[name].to_numpy()[codes] == values[name].to_numpy()
    return values[same].drop(columns=list(today))
