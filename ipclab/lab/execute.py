"""Execution: a notebook with parameters becomes an executed notebook, whole or not at all."""

import io
import logging
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab import parameters as parameter_cells

_VIEW = "application/vnd.jupyter.widget-view+json"
_LONGEST_TEMP = 75
_OUR_ERRORS = {LabError.__name__, UsageError.__name__}


@dataclass(frozen=True)
class Job:
    """One notebook to execute, with what `execute` takes."""

    notebook: Path
    parameters: Mapping[str, Any]
    output: Path
    timeout_s: float = 600.0
    metadata: Mapping[str, Any] = field(default_factory=dict)


def execute(
    notebook: Path,
    parameters: Mapping[str, Any],
    output: Path,
    *,
    timeout_s: float,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Execute `notebook` with `parameters` into `output`, which appears by rename when all cells are done.

    `timeout_s` is for the notebook as a whole; `metadata` becomes `nb.metadata.ipclab`, which exporters read
    (lang, title, date, run, attachments). The kernel is this interpreter, in the notebook's folder. Raises
    UsageError for wrong parameters, before a kernel starts, and LabError when a cell fails or time runs out.
    """
    import nbformat

    parameter_cells.check(notebook, parameters)
    executed = normalise(_run(notebook, dict(parameters), timeout_s))
    if metadata:
        executed.metadata["ipclab"] = dict(metadata)
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        nbformat.write(executed, partial)  # type: ignore[no-untyped-call]
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def execute_all(jobs: Sequence[Job], workers: int) -> None:
    """Execute all jobs, `workers` at a time, each with its own kernel.

    Raises LabError with all errors joined once the other jobs are finished.
    """
    with ThreadPoolExecutor(workers) as pool:
        try:
            errors = list(pool.map(_error_of, jobs))
        except BaseException:  # Ctrl-C: a kernel is in a session of its own and does not see it
            pool.shutdown(wait=False, cancel_futures=True)
            _kill_kernels()
            raise
    lines = [f"{job.output.name}: {error}" for job, error in zip(jobs, errors, strict=True) if error]
    if lines:
        raise LabError(f"{len(lines)} of {len(jobs)} notebooks failed", " | ".join(lines))


def normalise(notebook: Any) -> Any:
    """Return the executed notebook without what differs from run to run: ids, times, paths, progress."""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for stamp in ("papermill", "execution"):
            cell.metadata.pop(stamp, None)
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if not _is_progress(o)]
    for stamp in ("widgets", "papermill"):
        notebook.metadata.pop(stamp, None)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def _kill_kernels() -> None:
    from ipclab.report.kernel import InterpreterKernel

    for kernel in list(InterpreterKernel.alive):
        kernel.kill()


def _is_progress(output: Any) -> bool:
    return output.output_type == "stream" or _VIEW in output.get("data", {})


def _run(notebook: Path, values: dict[str, Any], timeout_s: float) -> Any:
    import nbformat
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError

    source = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    # The path of a Unix socket has about 100 characters.
    parent = None if len(tempfile.gettempdir()) < _LONGEST_TEMP else "/tmp"
    with tempfile.TemporaryDirectory(prefix="ipclab-", dir=parent) as folder:
        said = io.StringIO()
        try:
            return _papermill(source, values, timeout_s, folder=folder, cwd=notebook.parent.resolve(), stderr=said)
        except PapermillExecutionError as error:
            raise _cell_error(notebook, error, said.getvalue()) from error
        except CellTimeoutError as error:
            what = f"{notebook.name} did not end"
            raise LabError(what, f"{timeout_s:g} s are over", "give it more time") from error
        except (DeadKernelError, RuntimeError) as error:
            log = Path(folder, "log")
            last = log.read_text(errors="replace").strip() if log.exists() else ""
            why = (last or str(error)).split("\n")[-1]
            raise LabError(f"the kernel of {notebook.name} died", why) from error


def _papermill(
    source: Any, values: dict[str, Any], timeout_s: float, *, folder: str, cwd: Path, stderr: io.StringIO
) -> Any:
    from papermill import execute_notebook
    from traitlets.config import Config

    from ipclab.report.kernel import InterpreterKernel

    deadline = time.monotonic() + timeout_s
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # every error becomes one line of ours
    return execute_notebook(
        source,
        None,
        values,
        kernel_name="python3",
        language="python",
        progress_bar=False,
        autosave_cell_every=0,
        request_save_on_cell_execute=False,
        start_timeout=60,
        stderr_file=stderr,
        config=Config(InterpreterKernel={"folder": folder}),
        kernel_manager_class=InterpreterKernel,
        resources={"metadata": {"path": str(cwd)}},
        timeout_func=lambda cell: max(1, round(deadline - time.monotonic())),
    )


def _cell_error(notebook: Path, error: Any, stderr: str) -> LabError:
    """Return the line of a LabError as it is, any other exception with its cell and last line."""
    if error.ename in _OUR_ERRORS and error.evalue:
        return LabError(error.evalue)
    # IPython prints an unknown magic to stderr, with no exception.
    line = f"{error.ename}: {error.evalue}" if error.evalue else stderr or error.ename
    where = f"{notebook.name}, cell {error.cell_index}, which begins {error.source.split(chr(10))[0][:60]!r}"
    return LabError(where, line.strip().split("\n")[-1])


def _error_of(job: Job) -> str:
    try:
        execute(job.notebook, job.parameters, job.output, timeout_s=job.timeout_s, metadata=job.metadata)
    except LabError as error:
        return str(error)
    return ""
