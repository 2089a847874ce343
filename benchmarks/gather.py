"""How long `ipclab gather` takes over many bundles, and what memory: python -m benchmarks.gather
[--folder FOLDER] [BUNDLES ...].

The bundles are those of a quick run (data/compared.ipclab) with the identity of other machines, one
in a hundred cut off in the middle. For each number of them all are gathered as tables, then again
with one more. Ten thousand take 24 GB below FOLDER while it runs.
"""

import argparse
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
    seconds = time.monotonic() - begun
    return f"{done.stdout.splitlines()[-1]}: {seconds:.1f} s, at most {most:.0f} MiB a process"


def gathered(counts: list[int], bundles: list[Path], top: Path) -> None:
    """Gather the first `counts` of all bundles, each time with one more, and say what it took."""
    for count in sorted(counts):
        folder = top / str(count)
        folder.mkdir()
        for file in bundles[:count]:
            (folder / file.name).hardlink_to(file)
        command = [sys.executable, "-m", "ipclab", "gather", str(folder)]
        command += ["--format", "parquet", "--out", str(top / f"{count}-out")]
        env = os.environ | {"IPCLAB_DATA": str(top / f"{count}-data")}
        print(took(command, env), flush=True)
        (folder / bundles[count].name).hardlink_to(bundles[count])
        print(took(command, env), flush=True)


def main() -> None:
    """Make the bundles, gather so many of them, add one and gather them again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", nargs="*", type=int, default=[500], metavar="BUNDLES")
    parser.add_argument("--folder", help="Where they are made [a temporary one].")
    given = parser.parse_args()
    members = {}
    for member in read(checkout().compared):
        members[member.name.partition("/")[2]] = b"".join(member.chunks)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        top = Path(name)
        every = top / "every"
        every.mkdir()
        make = partial(made, members=members, folder=every)
        with ProcessPoolExecutor() as pool:
            list(pool.map(make, range(max(given.counts) + 1), chunksize=10))
        gathered(given.counts, sorted(every.iterdir()), top)


if __name__ == "__main__":
    main()
