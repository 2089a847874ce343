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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from sealed_runs import content_or, files_below, sealed_runs

from ipclab.errors import LabError
from ipclab.frames.points import VALUES, frame, launch_rows, point_rows
from ipclab.paths import Paths, checkout
from ipclab.store import archive
from ipclab.store import run as folder
from ipclab.store.archive import INDEX_OF_BUNDLE
from ipclab.store.bundle import opened, pack, unpack
from ipclab.store.files import sealed, sha256, unsealed
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.samples import METADATA, decode

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
                (name, content_or(path / name.partition("/")[2], old)) for name, old in found[1:]
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
        file
        for file in files_below(placed.path)
        if file != INDEX and file not in placed.about["files"]
    ]
    same = (
        {name: (placed.path / name).read_bytes() for name in whole.about["files"]}
        if kind == 0
        else {}
    )
    altered = [name for name, content in same.items() if content != (path / name).read_bytes()]
    return refused or bool(strange or altered) or placed.path.parents[1] != paths.imported.resolve()


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
                placed = [file for file in files_below(each / "data") if file != "calibration.json"]
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
