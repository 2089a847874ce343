"""The index of a folder of bundles: a few Parquet files, to which only new bundles are added.

They lie in `data/gathered`, apart from the bundles. The first row group of a file holds the heads
of some bundles: file, run, node and facts, or why one cannot be taken. The others hold their ops.
What was removed or replaced is left out.
"""

import gc
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ipclab.errors import LabError
from ipclab.frames.run_table import RUN
from ipclab.paths import checkout
from ipclab.spawn.exits import die_with_parent
from ipclab.store.files import locked, write_whole
from ipclab_more.gather import files_in, require_bundles
from ipclab_more.gather.reading import bundle_rows, key_of

FORMAT = 3  # of the index; another one is made anew
KEY = ["file", "bytes", "mtime_ns", "ctime_ns"]
TEXTS = ["file", *RUN, "facts", "conditions", "why"]
HEAD = [*TEXTS, *KEY[1:]]
WORDS = ["study", "point", "backend", "placement", "levels", "op"]
NUMBERS = ("ns", "low", "high", "over_limit")
COUNTS = ["size_bytes", "launches"]
VALUE = ["file", *WORDS, *NUMBERS, *COUNTS, "plain"]
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in (*TEXTS, *WORDS)),
        *((name, pa.float64()) for name in NUMBERS),
        *((name, pa.int64()) for name in (*KEY[1:], *COUNTS)),
        ("plain", pa.bool_()),
    ]
)
AT_ONCE = 200  # bundles that one file holds: a kill loses no more
MOST_SMALL = 32  # files of fewer bundles, after which they are made one
PATIENCE = 60.0  # seconds that another process may take: pages in several languages ask at once
HELD = "the index of these bundles is being made by another process"


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
    """Return what all bundles below `folder` say of `study`, by the index in folder `top`.

    It lies below `data/gathered` where no `top` is given. Bundles that it does not have are read
    and added. Raises `UsageError` when there is no bundle, and `LabError` when a process that reads
    them is killed or the index cannot be written.
    """
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own keeps what decoding took
    top = top or _place(folder, study)
    require_bundles(folder)
    files = {}
    for file in sorted(files_in(folder)):
        files[str(file.relative_to(folder))] = file
    try:
        top.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = "choose another IPCLAB_DATA"
        raise LabError(f"cannot write {top}", error.strerror or "", fix) from error
    taken_by_another = LabError(HELD, "", "wait for it or end it")
    with locked(top, taken_by_another, patience=PATIENCE):
        keys = [key_of(file, name) for name, file in files.items()]
        present = pd.DataFrame(keys)
        already_read = set(_heads(top, present, KEY).file)
        new = [name for name in files if name not in already_read]
        for rows in _read(folder, new, study):
            _add(top, rows)
        if new:
            _join_small(top, present)
        bundles = _heads(top, present, HEAD)
        values = _values(top, bundles)
    pa.default_memory_pool().release_unused()  # what decoding took
    texts = dict.fromkeys(TEXTS, "")
    bundles = bundles.drop(columns="part").fillna(texts)
    return Index(bundles, values, len(new))


def _place(folder: Path, study: str) -> Path:
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
    name = digest[:16]
    return checkout().data / "gathered" / f"{name}-{FORMAT}" / f"study={study}"


def _parts(top: Path) -> list[Path]:
    """Return the files of the index, the oldest first."""
    return sorted(top.glob("*.parquet"))


def _heads(top: Path, present: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return `columns` of the bundles that are `present`, each with the `part` that holds it.

    A part that cannot be read is removed, so that its bundles are read again.
    """
    part_name = pa.field("part", pa.string())
    none = COLUMNS.append(part_name).empty_table()
    tables = [none.select([*columns, "part"])]
    for part in _parts(top):
        try:
            with pq.ParquetFile(part, pre_buffer=False) as file:
                if not file.schema_arrow.equals(COLUMNS):
                    raise ValueError("it has other columns")
                rows = file.read_row_group(0, columns=columns, use_threads=False)
                rows = rows.select(columns)
        except (OSError, ValueError, LookupError):
            part.unlink()
            continue
        names = pa.repeat(part.name, len(rows))
        tables.append(rows.append_column(part_name, names))
    heads: pd.DataFrame = pa.concat_tables(tables).to_pandas(use_threads=False)
    heads = heads.merge(present, on=KEY)
    heads = heads.drop_duplicates("file")
    return heads.sort_values("file", ignore_index=True, kind="stable")


def _read(folder: Path, names: Sequence[str], study: str) -> Iterator[pa.Table]:
    """Yield the rows of bundles, of `AT_ONCE` at a time; processes on all CPUs read them."""
    if not names:
        return
    cpus = len(os.sched_getaffinity(0))
    workers = min(len(names), cpus)
    pool = ProcessPoolExecutor(workers, get_context("fork"), _alone, (os.getpid(),))
    files = [folder / name for name in names]
    read = partial(_rows, study=study)
    try:
        tables = pool.map(read, files, names, chunksize=4)
        while some := list(islice(tables, AT_ONCE)):
            yield pa.concat_tables(some)
    except BrokenProcessPool as error:
        what = f"the bundles in {folder} were not read"
        why = "a process that reads them was killed, as happens without memory"
        raise LabError(what, why, "gather fewer at a time") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _alone(parent: int) -> None:
    """Prepare a process that has a CPU for itself: no threads, no look at what it inherits.

    It ends with process `parent`.
    """
    die_with_parent(parent)
    pa.set_cpu_count(1)
    gc.freeze()


def _rows(file: Path, name: str, study: str) -> pa.Table:
    return pa.Table.from_pylist(bundle_rows(file, name, study), COLUMNS)


def _add(top: Path, rows: pa.Table) -> None:
    """Add a file to the index: its heads, which have no point, then the ops."""
    is_head = pc.is_null(rows["point"])
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, COLUMNS, compression="zstd") as writer:
        writer.write_table(rows.filter(is_head))
        writer.write_table(rows.filter(pc.invert(is_head)))
    write_whole(top / f"{time.time_ns():020}.parquet", sink.getvalue().to_pybytes())


def _join_small(top: Path, present: pd.DataFrame) -> None:
    """Make many small files one, which appears before they go."""
    small = []
    for part in _parts(top):
        heads_of_part = pq.read_metadata(part).row_group(0)
        if heads_of_part.num_rows < AT_ONCE:
            small.append(part)
    if len(small) < MOST_SMALL:
        return
    heads = _heads(top, present, KEY)
    live = []
    for part in small:
        with pq.ParquetFile(part, pre_buffer=False) as file:
            rows = file.read(use_threads=False)
        files = heads.file[heads.part == part.name]
        live.append(_of_files(rows, files))
    _add(top, pa.concat_tables(live))
    for part in small:
        part.unlink()


def _of_files(rows: pa.Table, files: pd.Series) -> pa.Table:
    is_one = pc.is_in(rows["file"], pa.array(files, pa.string()))
    return rows.filter(is_one)


def _values(top: Path, heads: pd.DataFrame) -> pd.DataFrame:
    """Return the ops of the bundles that have one of these `heads`; texts are categories."""
    texts = ["file", *WORDS]
    number_of_text = pa.dictionary(pa.int32(), pa.string())
    fields = []
    for name in VALUE:
        kind = number_of_text if name in texts else COLUMNS.field(name).type
        fields.append(pa.field(name, kind))
    tables = [pa.schema(fields).empty_table()]
    for part, live in heads.groupby("part"):
        with pq.ParquetFile(top / str(part), read_dictionary=texts, pre_buffer=False) as file:
            groups = range(1, file.num_row_groups)
            rows = file.read_row_groups(groups, columns=VALUE, use_threads=False)
            count = file.metadata.row_group(0).num_rows
        rows = rows.select(VALUE)
        if len(live) < count:
            rows = _of_files(rows, live.file)
        tables.append(rows)
    table = pa.concat_tables(tables).unify_dictionaries()
    values: pd.DataFrame = table.to_pandas(use_threads=False, self_destruct=True, split_blocks=True)
    return values
