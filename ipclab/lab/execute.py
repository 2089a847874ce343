"""Execution by papermill: a notebook with parameters becomes an executed notebook, whole or not at all."""

import io
import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab import parameters as parameter_cells
from ipclab.store.files import write_whole

_VIEW = "application/vnd.jupyter.widget-view+json"
_LONGEST_TEMP = 75  # the path of a Unix socket has about 100 characters
_OUR_ERRORS = {LabError.__name__, UsageError.__name__}


def execute(
    notebook: Path,
    parameters: Mapping[str, Any],
    output: Path,
    *,
    timeout_s: float,
    metadata: Mapping[str, Any] | None = None,
    stream: bool = False,
) -> None:
    """Execute `notebook` with `parameters` into `output`, which appears by rename when all cells are done.

    `timeout_s` is for the notebook as a whole; `metadata` becomes `nb.metadata.ipclab`, which exporters read (lang, title,
    date, run, attachments). The kernel is this interpreter, in the notebook's folder; with `stream` what it prints (the
    progress of a sweep) appears here. Raises UsageError for wrong parameters, before a kernel starts, and LabError when
    a cell fails or time runs out.
    """
    import nbformat

    values = parameter_cells.check(notebook, parameters)
    executed = normalise(_run(notebook, values, timeout_s, stream))
    executed.metadata["ipclab"] = dict(metadata or {})
    write_whole(output, nbformat.writes(executed).encode())  # type: ignore[no-untyped-call]


def normalise(notebook: Any) -> Any:
    """Return the executed notebook without what differs from run to run: ids, times, paths, progress."""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for stamp in ("papermill", "execution"):
            cell.metadata.pop(stamp, None)
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if o.output_type != "stream" and _VIEW not in o.get("data", {})]
    for stamp in ("widgets", "papermill"):
        notebook.metadata.pop(stamp, None)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def _run(notebook: Path, values: dict[str, Any], timeout_s: float, stream: bool) -> Any:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError

    parent = None if len(tempfile.gettempdir()) < _LONGEST_TEMP else "/tmp"
    with tempfile.TemporaryDirectory(prefix="ipclab-", dir=parent) as folder:
        said = io.StringIO()
        try:
            return _papermill(notebook, values, timeout_s, Path(folder), None if stream else said)
        except PapermillExecutionError as error:
            raise _cell_error(notebook, error, said.getvalue()) from error
        except CellTimeoutError as error:
            raise LabError(f"{notebook.name} did not end", f"{timeout_s:g} s are over", "give it more time") from error
        except (DeadKernelError, RuntimeError) as error:
            why = (said.getvalue().strip() or str(error)).split("\n")[-1]
            raise LabError(f"the kernel of {notebook.name} died", why) from error


def _papermill(notebook: Path, values: dict[str, Any], timeout_s: float, folder: Path, said: io.StringIO | None) -> Any:
    import sys

    from papermill import execute_notebook
    from traitlets.config import Config

    deadline = time.monotonic() + timeout_s
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # every error becomes one line of ours
    # Unix sockets in a folder of its own: kernels that run at the same time clash over ports.
    config = Config(KernelManager={"transport": "ipc", "ip": str(folder / "k"), "connection_file": str(folder / "k.json")})
    return execute_notebook(
        str(notebook),
        None,
        values,
        kernel_name="python3",
        language="python",
        progress_bar=False,
        autosave_cell_every=0,
        request_save_on_cell_execute=False,
        start_timeout=60,
        stderr_file=said or sys.stderr,
        config=config,
        cwd=str(notebook.parent.resolve()),
        timeout_func=_left(deadline),
    )


def _left(deadline: float) -> Callable[[Any], int]:
    return lambda cell: max(1, round(deadline - time.monotonic()))


def _cell_error(notebook: Path, error: Any, stderr: str) -> LabError:
    """Return the line of a LabError as it is, any other exception with its cell and last line."""
    if error.ename in _OUR_ERRORS and error.evalue:
        return LabError(error.evalue)
    # IPython prints an unknown magic to stderr, with no exception.
    line = f"{error.ename}: {error.evalue}" if error.evalue else stderr or error.ename
    where = f"{notebook.name}, cell {error.cell_index}, which begins {error.source.split(chr(10))[0][:60]!r}"
    return LabError(where, line.strip().split("\n")[-1])
