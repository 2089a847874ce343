"""Mutate run folders and bundles, use each as ipclab would, and count tracebacks and what was taken
wrongly.

    .venv/bin/python benchmarks/mutations.py [MUTATIONS] [SEED] [SEALED]

Half are run folders, half bundles, and SEALED more are run folders that a report is made of. Bytes
are cut, flipped, doubled and dropped; values of `run.json`, of a point's metadata and of
`bundle.json` become others of another type or none, with and without all digests made to agree
again. Expected: 0 tracebacks and 0 taken wrongly of 500. Wrong is what was placed although no
program wrote it so: other bytes under the old digests, a value of another type where the type is
fixed, or a file where none belongs.

A sealed run has all its digests made to fit after something of it was altered: frames, samples that
no clock gives, types, names, and results that no copy can reach. Expected of 300: each is refused,
named, or derived again, 0 rendered. Numbers that could have been measured are not among them: who
alters samples to such, and every digest, is not found.
"""

import copy
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
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
from ipclab.frames.points import VALUES, frame, launch_rows, point_rows
from ipclab.paths import Paths, checkout
from ipclab.store import archive
from ipclab.store import run as folder
from ipclab.store.archive import INDEX_OF_BUNDLE
from ipclab.store.bundle import opened, pack, unpack
from ipclab.store.files import sealed, sha256, unsealed
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.samples import METADATA, decode, encode

POINTS = 2  # of each study: a mutation is used in some 30 ms
VALUES_TRIED: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -5,
        1.5,
        10**30,
        float("nan"),
        float("inf"),
        "",
        "x",
        "../x",
        "\0",
        [],
        {},
        [None],
        {"x": []},
    ),
    *([[]], "2026-02-30T00:00:00+00:00", "0" * 64),
)
# more types, or any
FREE = "notes", "facts", "conditions", "conditions_end", "sizes", "backends", "finished", "ended"
Place = tuple[str | int, ...]
Frames = dict[tuple[str, str], pd.DataFrame]  # by study and kind
Used = Callable[[Path, random.Random], bool]


def small(paths: Paths, top: Path) -> RunFolder:
    """Return a run of a few points of each study, as an import would place it."""
    whole = opened(checkout(), checkout().compared)
    kept: dict[str, int] = {}
    run = RunFolder(
        top / "made" / whole.about["machine"]["digest"] / whole.id, copy.deepcopy(whole.about)
    )
    for name in sorted(whole.about["files"], key=lambda name: (whole.path / name).stat().st_size):
        group = name.rpartition("/")[0]
        kept[group] = kept.get(group, 0) + 1
        if kept[group] > POINTS:
            del run.about["files"][name]
            continue
        (run.path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(whole.path / name, run.path / name)
    run.save()
    return run


def leaves(value: Any, at: Place = ()) -> list[Place]:
    """Return the place of every value in a JSON document, the document itself excepted."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [place for key, inner in items for place in ((*at, key), *leaves(inner, (*at, key)))]


def mutated(document: Any, chance: random.Random) -> tuple[Any, bool]:
    """Return a copy with one value replaced or removed, and whether a reader must refuse that."""
    made = copy.deepcopy(document)
    at = chance.choice(leaves(made))
    holder = made
    for key in at[:-1]:
        holder = holder[key]
    before = holder[at[-1]]
    if chance.random() < 0.2:  # noqa: PLR2004
        del holder[at[-1]]
        return made, False  # an entry of a table may be gone
    value = holder[at[-1]] = chance.choice(VALUES_TRIED)
    number = isinstance(value, float) and value not in (1.5,)  # not JSON
    other = type(value) is not type(before) and not (
        isinstance(before, float) and type(value) is int
    )
    return made, number or (other and not any(key in FREE for key in at))


def bytes_mutated(content: bytes, chance: random.Random) -> bytes:
    """Return other bytes: cut, flipped, doubled, dropped or put in."""
    start = chance.randrange(len(content))
    end = min(len(content), start + chance.randint(1, 64))
    some = chance.randbytes(end - start)
    flipped = (
        content[:start]
        + bytes([content[start] ^ (1 << chance.randrange(8))])
        + content[start + 1 :]
    )
    kinds = [
        content[:start],
        flipped,
        content[:end] + content[start:],
        content[:start] + content[end:],
    ]
    return chance.choice([*kinds, content[:start] + some + content[start:]])


def point_mutated(file: Path, chance: random.Random) -> bool:
    """Mutate the metadata of a point's file; tell whether a reader must refuse it."""
    table = pq.read_table(file)
    about, refused = mutated(json.loads(table.schema.metadata[METADATA]), chance)
    pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(about)}), file)
    return refused


def mutate_run(path: Path, chance: random.Random) -> bool:
    """Mutate one file of the run in `path`; tell whether a reader must refuse it."""
    index = path / INDEX
    about = unsealed(json.loads(index.read_text()))
    points = sorted(path.glob("points/*/*.parquet"))
    kind, file = chance.randrange(6), chance.choice([index, *points])
    if kind == 0:
        before = file.read_bytes()
        file.write_bytes(bytes_mutated(before, chance))
        return file != index and file.read_bytes() != before
    if kind == 1:
        file.unlink()
        if chance.random() < 0.5:  # noqa: PLR2004
            file.mkdir()
        return True
    if kind == 2:  # noqa: PLR2004
        about, _ = mutated(about, chance)
        index.write_text(json.dumps({**about, "digest": "0" * 64}))
        return True
    if kind == 3:  # noqa: PLR2004
        file = chance.choice(points)
        refused = point_mutated(file, chance)
        about["files"][str(file.relative_to(path))] = sha256(file)
    else:
        about, refused = mutated(about, chance)
    index.write_bytes(sealed(about))
    return refused


def use_run(path: Path, chance: random.Random) -> bool:
    """Mutate the run in `path` and read it whole; tell whether it was taken wrongly."""
    refused = mutate_run(path, chance)
    folder.newest(path.parent.parent, lambda run: run.complete)
    run = folder.read(path)
    measured = [decode(file) for file in run.point_files()]
    frame([row for each in measured for row in point_rows(each)], VALUES)
    frame([row for each in measured for row in launch_rows(each)], VALUES)
    return refused


def use_bundle(path: Path, chance: random.Random) -> bool:
    """Mutate the run in `path`, its bundle or both, and import it; tell whether it was taken
    wrongly.
    """
    whole = folder.read(path)
    bundle, refused = path.parent / "run.ipclab", False
    kind = chance.randrange(3)
    pack(whole, bundle)
    found = [(member.name, b"".join(member.chunks)) for member in archive.read(bundle)]
    if kind == 0:
        bundle.write_bytes(bytes_mutated(bundle.read_bytes(), chance))
    else:
        if kind == 1:
            refused = mutate_run(path, chance)
            gone = not all((path / name).is_file() for name in (INDEX, *whole.about["files"]))
            refused = refused and not gone  # then the bundle is as it was
            found = [found[0]] + [
                (name, _content(path / name.partition("/")[2], old)) for name, old in found[1:]
            ]
        told = json.loads(found[0][1])
        for entry, (_, content) in zip(told["files"], found[1:], strict=True):
            entry |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if kind == 2:  # noqa: PLR2004
            told, refused = mutated(told, chance)
        found[0] = (f"{whole.id}/{INDEX_OF_BUNDLE}", json.dumps(told).encode())
        with bundle.open("wb") as out:
            archive.write(out, found)
    paths = Paths(checkout().root)
    placed = unpack(paths, bundle)
    strange = [
        file for file in _files(placed.path) if file != INDEX and file not in placed.about["files"]
    ]
    same = (
        {name: (placed.path / name).read_bytes() for name in whole.about["files"]}
        if kind == 0
        else {}
    )
    altered = [name for name, content in same.items() if content != (path / name).read_bytes()]
    return refused or bool(strange or altered) or placed.path.parents[1] != paths.imported.resolve()


def alter_frame(run: RunFolder, study: str, chance: random.Random) -> None:
    """Alter a kept frame of `study`: a cell, a column or rows of it."""
    kinds = [kind for kind in derived.KINDS if len(derived.read(run, study, kind))]
    file = run.path / derived.FOLDER / f"{study}-{chance.choice(kinds)}.parquet"
    made = pd.read_parquet(file)
    row, how = chance.randrange(len(made)), chance.randrange(5)
    if how == 0:
        made = made.drop(index=row)
    elif how == 1:
        made = pd.concat([made, made.iloc[[row]]])
    elif how == 2:  # noqa: PLR2004
        made = made.drop(columns=chance.choice(list(made)))
    else:
        numbers = [
            str(name) for name in made if made[name].notna()[row] and made[name].dtype.kind in "if"
        ]
        texts = [str(name) for name in made if isinstance(made[name][row], str)]
        name = chance.choice(numbers if how == 3 and numbers else texts)  # noqa: PLR2004
        other = made[name] * 2 + 1 if name in numbers else pd.Series("another", made.index)
        made[name] = made[name].where(made.index != row, other.astype(made[name].dtype))
    made.to_parquet(file, **derived.WRITTEN)
    note = json.loads(file.with_suffix(".json").read_text())
    file.with_suffix(".json").write_text(json.dumps(note | {"sha256": sha256(file)}))


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
    kind = chance.randrange(5)
    file = chance.choice(files)
    if kind == 0:
        alter_frame(run, file.parent.name, chance)
    elif kind == 1:
        alter_samples(file, chance)
    elif kind == 2:  # noqa: PLR2004
        alter_point(file, files, chance)
    elif kind == 3:  # noqa: PLR2004
        file = chance.choice([path / name for name in limited(run)])
        too_fast(file)
    else:
        file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])
    if kind < 4 or chance.random() < 0.5:  # noqa: PLR2004
        run.about["files"][str(file.relative_to(path))] = sha256(file)
        run.save()
    altered = derived.verify(run, [file.parent.name])
    if suspects.checked(run):
        return "named"
    shown = all(derived.read(run, *key).equals(frame) for key, frame in truth.items())
    return ("named" if altered else "recomputed") if shown else "rendered"


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
        for kind in derived.KINDS
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


def _content(file: Path, before: bytes) -> bytes:
    return file.read_bytes() if file.is_file() else before


def _files(top: Path) -> list[str]:
    return [str(file.relative_to(top)) for file in top.rglob("*") if file.is_file()]


def main(mutations: int = 500, seed: int = 1, sealed_ones: int = 300) -> int:
    """Print what was counted; the exit code is 1 when anything was."""
    counts = {"refused": 0, "taken": 0, "tracebacks": 0, "wrong": 0, "left": 0}
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        run = small(checkout(), top)
        for number in range(mutations):
            chance, each = random.Random(f"{seed} {number}"), top / "each"
            shutil.copytree(run.path, path := each / "runs" / "m" / run.id)
            os.environ["IPCLAB_DATA"] = str(each / "data")
            use: Used = use_run if number % 2 else use_bundle
            try:
                wrong = use(path, chance)
                counts["wrong" if wrong else "taken"] += 1
                if wrong:
                    print(f"{number}: taken wrongly")
            except LabError as error:
                counts["refused"] += 1
                if "\n" in str(error):
                    print(f"{number}: more than one line: {error}")
                placed = [file for file in _files(each / "data") if file != "calibration.json"]
                counts["left"] += bool(placed)
            except Exception:
                counts["tracebacks"] += 1
                print(f"{number}: {traceback.format_exc(limit=-3)}")
            shutil.rmtree(each)
        found = sealed_runs(run, top, sealed_ones, seed)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    print("sealed:", ", ".join(f"{count} {name}" for name, count in found.items()))
    bad = (
        counts["tracebacks"]
        + counts["wrong"]
        + counts["left"]
        + found["rendered"]
        + found["tracebacks"]
    )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
