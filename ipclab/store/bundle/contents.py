"""What a bundle holds: `bundle.json` first, which names every other file with its size and digest, then those files."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import LabError
from ipclab.store.bundle.archive import HostileError, Member
from ipclab.store.run import INDEX
from ipclab.store.schema import About, Count, Digest, FileName, MachineName, checked

FORMAT = 1
INDEX_OF_BUNDLE = "bundle.json"
CRATE = "ro-crate-metadata.json"
CALIBRATION = "calibration.json"
BESIDE = (INDEX, CRATE, CALIBRATION)  # what a bundle holds and the run's own index does not name
LARGEST_INDEX = 64 << 20
BOMB_RATIO, BOMB_SLACK = 200, 64 << 20  # samples hardly shrink; a machine's texts shrink some twenty times
RUN_NAME = "[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}"


class Entry(Struct, frozen=True):
    """One file of a bundle: its size in bytes and its SHA-256."""

    name: str
    size: Count
    sha256: Digest


class Contents(Struct, frozen=True, kw_only=True):
    """A bundle's own index: the run's name and machine, and its files in their order in the archive."""

    format: int = FORMAT
    run: Annotated[str, Meta(pattern=rf"\A{RUN_NAME}\Z")]
    machine: MachineName
    files: list[Entry]

    def by_name(self) -> Mapping[str, Entry]:
        """Return the files by their names."""
        return {entry.name: entry for entry in self.files}


def parse(first: Member | None, packed: int) -> Contents:
    """Return what the archive's first file says, `bundle.json`; `packed` is the size of the whole bundle in bytes.

    Raises `LabError` for a newer format and `HostileError` for names, sizes or digests that no bundle has.
    """
    if first is None or first.name.rpartition("/")[2] != INDEX_OF_BUNDLE:
        raise HostileError(f"it does not begin with {INDEX_OF_BUNDLE}")
    if first.size > LARGEST_INDEX:
        raise HostileError(f"its index has {first.size:,} bytes")
    text = b"".join(first.chunks)
    try:
        version = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if type(version) is int and version > FORMAT:
            raise LabError(f"the bundle has format {version}", f"this ipclab knows {FORMAT}", "use a newer ipclab")
        contents = msgspec.json.decode(text, type=Contents)
    except (ValueError, RecursionError) as error:
        raise HostileError(f"{INDEX_OF_BUNDLE} cannot be read ({error})") from error
    if contents.format != FORMAT:
        raise HostileError(f"its format is {contents.format}")
    files, total = contents.by_name(), sum(entry.size for entry in contents.files)
    for name in files.keys() - set(BESIDE):
        try:
            msgspec.convert(name, FileName)
        except ValueError as error:
            raise HostileError(f"{name!r} is no file of a run") from error
    if len({name.lower() for name in files}) < len(contents.files):
        raise HostileError("two files have one name")
    if total > BOMB_RATIO * packed + BOMB_SLACK:
        raise HostileError(f"{total:,} bytes in a file of {packed:,}")
    if large := [name for name in BESIDE if name in files and files[name].size > LARGEST_INDEX]:
        raise HostileError(f"its {large[0]} has {files[large[0]].size:,} bytes")
    return contents


def check_run(contents: Contents, text: bytes) -> None:
    """Raise `LabError` unless `text`, the run's index, is of a schema known here, complete, and names these files."""
    about = checked(text, f"the bundle's {INDEX}", About)
    if about["machine"]["digest"] != contents.machine or not about["finished"]:
        raise HostileError(f"{INDEX} is of another machine, or of a run that is not finished")
    listed = {entry.name: entry.sha256 for entry in contents.files if entry.name not in BESIDE}
    if listed != about["files"]:
        odd = sorted(listed.items() ^ about["files"].items())[0][0]
        raise HostileError(f"{INDEX} and {INDEX_OF_BUNDLE} do not agree on {odd!r}")
