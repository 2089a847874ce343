"""Is every report still what data, code, words and lock would give? Digests decide, never file times."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ipclab.paths import Paths
from ipclab.store.bundle.contents import CALIBRATION
from ipclab.store.files import dump_json, sha256, write_whole
from ipclab.store.run import INDEX, RunFolder

MANIFEST = "manifest.json"


def inputs(paths: Paths, runs: Sequence[Path], claims: Path | None = None) -> dict[str, dict[str, str]]:
    """Return the digest of every file that a report on `runs` follows from, by kind: data, code, words, lock, claims.

    `claims` is the file of a person's own claims, where one was given.
    """
    code = [file for file in paths.package.rglob("*") if file.suffix in (".py", ".toml", ".html", ".css", ".typ")]
    measured: dict[str, str] = {}
    for run in runs:
        top = run.parent if len(runs) == 1 else run.parent.parent  # calibrations of two machines have one name
        measured |= _digests(top, [*_run_files(run), run.parent / CALIBRATION])
    return {
        "data": measured | _digests(paths.root, sorted(paths.published.iterdir())),
        "code": _digests(paths.root, sorted([*code, *paths.notebooks.glob("*.ipynb")])),
        "words": _digests(paths.root, sorted(paths.locale.glob("*/LC_MESSAGES/*.po"))),
        "lock": _digests(paths.root, [paths.lock]),
        "claims": _digests(claims.parent, [claims]) if claims else {},
    }


def _run_files(run: Path) -> list[Path]:
    return [run / INDEX, *sorted((run / "points").rglob("*.parquet")), *sorted((run / "raw").rglob("*"))]


def _digests(root: Path, files: Iterable[Path]) -> dict[str, str]:
    return {str(file.relative_to(root)): sha256(file) for file in files if file.is_file()}


def write_manifest(
    paths: Paths, runs: Sequence[RunFolder], out: Path, made: Sequence[Path], claims: Path | None = None
) -> None:
    """Note beside the reports in `out` what they were made from."""
    folders = [run.path for run in runs]
    about: dict[str, Any] = {"runs": [str(run) for run in folders], "inputs": inputs(paths, folders, claims)}
    about["made"] = _digests(out, sorted(made))
    if claims:
        about["claims"] = str(claims)
    write_whole(out / MANIFEST, dump_json(about))


def stale(paths: Paths, out: Path) -> list[str]:
    """Return one line for each cause why reports in `out` are not what they should be; none when all is well."""
    file = out / MANIFEST
    if not file.is_file():
        return [f"no reports in {out}: make report"]
    about = _read(file)
    if about is None:
        return [f"report: {file} cannot be read: make report"]
    runs = [Path(run) for run in about["runs"]]
    if gone := [run for run in runs if not (run / INDEX).is_file()]:
        return [f"data: the run {gone[0]} is gone"]
    causes = []
    now = inputs(paths, runs, Path(about["claims"]) if "claims" in about else None)
    for kind, before in about["inputs"].items():
        for name in sorted(before.keys() | now[kind].keys()):
            if before.get(name) != now[kind].get(name):
                causes.append(f"{kind}: {name} {_change(before.get(name), now[kind].get(name))} since the report")
    present = _digests(out, [out / name for name in about["made"]])
    for name, digest in about["made"].items():
        if present.get(name) != digest:
            causes.append(f"report: {name} {_change(digest, present.get(name))} since it was made")
    return causes


def current(paths: Paths, runs: Sequence[RunFolder], out: Path, wanted: Sequence[Path], claims: Path | None) -> bool:
    """Tell whether the `wanted` reports on `runs` lie in `out` as data, code, words, lock and claims give them."""
    file = out / MANIFEST
    about = _read(file) if file.is_file() else None
    if about is None:
        return False
    same = about["runs"] == [str(run.path) for run in runs] and about.get("claims") == (str(claims) if claims else None)
    return same and {str(name.relative_to(out)) for name in wanted} <= about["made"].keys() and not stale(paths, out)


class _Manifest(msgspec.Struct):
    runs: list[str]
    inputs: dict[Literal["data", "code", "words", "lock", "claims"], dict[str, str]]
    made: dict[str, str]
    claims: str | msgspec.UnsetType = msgspec.UNSET


def _read(file: Path) -> dict[str, Any] | None:
    """Return what a manifest says; None when it is none, or cannot be read."""
    try:
        return dict(msgspec.to_builtins(msgspec.json.decode(file.read_bytes(), type=_Manifest)))
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _change(before: str | None, after: str | None) -> str:
    return "was added" if before is None else "was removed" if after is None else "changed"
