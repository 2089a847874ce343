"""How long `ipclab gather` takes over many bundles, and what memory: python -m benchmarks.gather
[BUNDLES] [FOLDER].

The bundles are those of a quick run (data/compared.ipclab) with the identity of other machines, one
in a hundred cut off in the middle. All are gathered as tables, then again with one more.
"""

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ipclab.machine.facts import digest_of
from ipclab.paths import checkout
from ipclab.store.archive import INDEX_OF_BUNDLE, Contents, read, write
from ipclab.store.files import dump_json, sealed
from ipclab.store.run import INDEX


def made(number: int, members: dict[str, bytes], folder: Path) -> None:
    """Write the bundle of machine `number`, whose measurements are those of `members`."""
    contents = msgspec.json.decode(members[INDEX_OF_BUNDLE], type=Contents)
    about: dict[str, Any] = msgspec.json.decode(members[INDEX])
    about.pop("digest", None)
    facts = about["machine"]["facts"] | {"cpu_model": f"Made processor {number}"}
    about["machine"] |= {"facts": facts, "digest": digest_of(facts)}
    index = sealed(about)
    run = f"{contents.run[:-6]}{number:06x}"
    told = {"size": len(index), "sha256": hashlib.sha256(index).hexdigest()}
    files = [
        msgspec.structs.replace(each, **told) if each.name == INDEX else each
        for each in contents.files
    ]
    whole = msgspec.structs.replace(
        contents, run=run, machine=about["machine"]["digest"], files=files
    )
    changed = {**members, INDEX_OF_BUNDLE: dump_json(msgspec.to_builtins(whole)), INDEX: index}
    file = folder / f"{number:05}.ipclab"
    with file.open("wb") as out:
        write(out, [(f"{run}/{name}", content) for name, content in changed.items()])
    if number % 100 == 99:  # noqa: PLR2004
        os.truncate(file, file.stat().st_size // 2)


def took(command: list[str], env: dict[str, str]) -> str:
    """Run a command, and say what it took: its last line, seconds and memory."""
    begun = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return (
        f"{done.stdout.splitlines()[-1]}: {time.monotonic() - begun:.1f} s, at most {most:.0f} MiB"
        " a process"
    )


def main(count: int = 500, folder: str = "") -> None:
    """Make the bundles, gather them, add one and gather them again, and say what each took."""
    members = {
        each.name.partition("/")[2]: b"".join(each.chunks) for each in read(checkout().compared)
    }
    with tempfile.TemporaryDirectory(dir=folder or None) as top:
        bundles = Path(top) / "bundles"
        bundles.mkdir()
        make = partial(made, members=members, folder=bundles)
        with ProcessPoolExecutor() as pool:
            list(pool.map(make, range(count), chunksize=10))
        command = [
            sys.executable,
            "-m",
            "ipclab",
            "gather",
            str(bundles),
            "--format",
            "parquet",
            "--out",
            f"{top}/out",
        ]
        env = os.environ | {"IPCLAB_DATA": f"{top}/data"}
        print(took(command, env))
        make(count)
        print(took(command, env))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
