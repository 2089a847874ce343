"""Are reports what data, code, words and lock would give? Digests decide, not times."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ipclab.paths import Paths, typed
from ipclab.plugins import code_files
from ipclab.report.notebooks import quotes
from ipclab.store.files import dump_json, sha256, write_whole
from ipclab.store.run import INDEX, RunFolder
from ipclab.words.catalogue import LOCALE

MANIFEST = "manifest.json"
# what a page is made with
CODE = (*quotes.CODE, ".css", ".j2", ".jinja", ".js", ".typ")
# digests of files by name, by kind
Inputs = dict[Literal["data", "code", "words", "lock", "claims"], dict[str, str]]


class _Manifest(msgspec.Struct, omit_defaults=True):
    runs: list[str]
    inputs: Inputs
    made: dict[str, str]
    claims: str = ""


def inputs(paths: Paths, runs: Sequence[Path], claims: Path | None = None) -> Inputs:
    """Return the digest of every file that a report on `runs` follows from, by kind.

    `claims` is the file of a person's own claims, where one was given.
    """
    code = digests(paths.root, paths.notebooks.glob("*.ipynb"))
    code |= digests(paths.home, [*paths.own.glob("*.ipynb"), *paths.own.glob("*.toml")])
    for package, sources in code_files(CODE).items():
        code |= digests(package.parent, sources)
    data = digests(paths.root, paths.published.iterdir())
    for run in runs:
        top = run.parent if len(runs) == 1 else run.parent.parent
        parts = [*(run / "points").rglob("*.parquet"), *(run / "raw").rglob("*")]
        data |= digests(top, [run / INDEX, *parts])
    stated = [paths.control, *([claims] if claims else [])]
    return {
        "data": data,
        "code": code,
        "words": digests(LOCALE.parent, LOCALE.glob("*/LC_MESSAGES/*.po")),
        "lock": digests(paths.root, [paths.lock]),
        "claims": {file.name: sha256(file) for file in stated if file.is_file()},
    }


def digests(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the digests of those `files` that are there, by their names below `root`."""
    return {str(file.relative_to(root)): sha256(file) for file in files if file.is_file()}


def write_manifest(
    paths: Paths,
    runs: Sequence[RunFolder],
    out: Path,
    made: Sequence[Path],
    claims: Path | None = None,
) -> None:
    """Note beside the reports in `out` what they were made from."""
    folders = [run.path for run in runs]
    made_from = inputs(paths, folders, claims)
    about = _Manifest([*map(str, folders)], made_from, digests(out, made), str(claims or ""))
    write_whole(out / MANIFEST, dump_json(msgspec.to_builtins(about)))


def stale(paths: Paths, out: Path) -> list[str]:
    """Return one line for each cause why reports in `out` are stale; none if all is well."""
    file = out / MANIFEST
    about = _manifest(out)
    if about is None:
        said = f"report: {file} cannot be read" if file.is_file() else f"no reports in {out}"
        return [f"{said}: {typed('report')}"]
    runs = [Path(run) for run in about.runs]
    gone = [run for run in runs if not (run / INDEX).is_file()]
    if gone:
        return [f"data: the run {gone[0]} is gone"]
    now = inputs(paths, runs, Path(about.claims) if about.claims else None)
    present = digests(out, [out / name for name in about.made])
    causes = []
    for kind, then in about.inputs.items():
        causes += _changes(kind, then, now[kind], "the report")
    return causes + _changes("report", about.made, present, "it was made")


def runs_of(out: Path) -> list[Path]:
    """Return the folders of the runs that reports in `out` came from, where still there."""
    about = _manifest(out)
    folders = map(Path, about.runs) if about else ()
    return [folder for folder in folders if (folder / INDEX).is_file()]


def is_current(
    paths: Paths, runs: Sequence[RunFolder], out: Path, wanted: Sequence[Path], claims: Path | None
) -> bool:
    """Tell whether the `wanted` reports on `runs` lie in `out`, none of them stale."""
    about = _manifest(out)
    asked = [str(run.path) for run in runs], str(claims or "")
    if about is None or (about.runs, about.claims) != asked:
        return False
    names = {str(file.relative_to(out)) for file in wanted}
    return names <= about.made.keys() and not stale(paths, out)


def _manifest(out: Path) -> _Manifest | None:
    """Return what the manifest in `out` says; None when there is none, or it cannot be read."""
    try:
        return msgspec.json.decode((out / MANIFEST).read_bytes(), type=_Manifest)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _changes(kind: str, before: dict[str, str], now: dict[str, str], since: str) -> list[str]:
    """Return a line for each file that differs, by its name."""
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            how = "changed" if name in before else "was added"
            how = how if name in now else "was removed"
            lines.append(f"{kind}: {name} {how} since {since}")
    return lines
