"""Many bundles as one page: machines by mechanisms, over their limits, and by rank."""

from pathlib import Path

from ipclab.errors import UsageError

SUFFIX = ".ipclab"


def files_in(folder: Path) -> list[Path]:
    """Return the bundles in `folder`, at any depth, sorted; raises `UsageError` without any."""
    files = sorted(folder.rglob(f"*{SUFFIX}")) if folder.is_dir() else []
    files = [file for file in files if file.is_file()]
    if not files:
        fix = "put there what 'ipclab bundle' wrote"
        raise UsageError(f"{folder} holds no bundle", f"no file ends in {SUFFIX}", fix)
    return files
