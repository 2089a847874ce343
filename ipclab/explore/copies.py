"""Working copies of the notebooks: what a reader changes while exploring never becomes part of the reports."""

import json
import sys

from ipclab.paths import Paths, checkout
from ipclab.store.files import dump_json, sha256, write_whole

NOTED = ".sources.json"  # in the folder of the copies: the digest of the source that each was taken from


def refresh(paths: Paths) -> list[str]:
    """Copy every notebook into `notebooks/work`, changed copies excepted; return the names of those that are behind."""
    folder = paths.notebooks / "work"
    file = folder / NOTED
    noted = json.loads(file.read_text()) if file.is_file() else {}
    behind = []
    for source in sorted(paths.notebooks.glob("*.ipynb")):
        copy, digest = folder / source.name, sha256(source)
        if not copy.is_file() or sha256(copy) == noted.get(source.name):
            write_whole(copy, source.read_bytes())
            noted[source.name] = digest
        elif noted.get(source.name) != digest:
            behind.append(source.name)
    write_whole(file, dump_json(noted))
    return behind


if __name__ == "__main__":
    for name in refresh(checkout()):
        line = f"notebooks/work/{name} is yours and older than its source; remove it to get the new one"
        print(f"ipclab: {line}", file=sys.stderr)
