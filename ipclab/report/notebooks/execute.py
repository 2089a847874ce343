"""Execution by papermill: notebook and parameters to an executed notebook, if all works."""

import io
import logging
import os
import signal
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from ipclab.errors import LabError
from ipclab.lab import parameters as parameter_cells
from ipclab.lab.runs import HINT
from ipclab.paths import checkout
from ipclab.spawn.ledger import Session, close_session, open_session
from ipclab.spawn.processes import children
from ipclab.store.files import write_whole

_VIEW = "application/vnd.jupyter.widget-view+json"
# What a notebook leaves behind, such as imported packages, is not searched for garbage again, and
# its settings of matplotlib, or a person's own, are not the next one's.
FORGET = "%reset -f\nimport gc\nimport matplotlib\ngc.freeze()\nmatplotlib.rcdefaults()\ndel gc, matplotlib"
INJECTED = "injected-parameters"  # the tag of the cell that papermill puts between ours
LONGEST = 98  # characters of a kernel's folder: the path of a Unix socket has 107


def execute(
    notebook: Path,
    parameters: Mapping[str, Any],
    output: Path,
    *,
    timeout_s: float,
    kernel: "Kernel | None" = None,
    say: Any = None,
) -> list[str]:
    """Execute `notebook` with `parameters` into `output`, which appears when all is done.

    `timeout_s` is for the notebook as a whole. The kernel is this interpreter; one that is given is
    used again. What cells print to stderr, such as progress, goes to the file `say`; it is no
    content, and returned as lines that name their cells.

    Raises UsageError for wrong parameters and for a notebook of another language than Python,
    before a kernel starts, and LabError when a cell fails or time runs out.
    """
    from ipclab.report.notebooks.nb import nbformat

    parameter_cells.check_language(notebook)
    values = parameter_cells.checked_values(notebook, parameters)
    with nullcontext(kernel) if kernel else Kernel() as used:
        executed = used.run(notebook, values, timeout_s, say)
    asides = _settled(executed, notebook)
    write_whole(output, nbformat.writes(executed).encode())  # type: ignore[no-untyped-call]
    return asides


def _settled(executed: Any, notebook: Path) -> list[str]:
    """Take from an executed notebook what runs differ in, and stderr, which is returned as lines.

    Runs differ in ids that were made, times, paths.
    """
    ids = {cell.get("id") for cell in parameter_cells.read_notebook(notebook)["cells"]} - {None}
    asides = []
    number = 0
    for place, cell in enumerate(executed.cells):
        number += INJECTED not in cell.metadata.get("tags", [])
        if cell.get("id") not in ids:
            cell.id = f"made-{place}"
        for stamp in ("papermill", "execution"):
            cell.metadata.pop(stamp, None)
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        kept = []
        for shown in cell.outputs:
            if shown.get("name") == "stderr":
                said = "".join(shown["text"]).strip().splitlines()
                asides += [f"{notebook.name}, cell {number}: {line}" for line in said]
            elif HINT not in shown.get("metadata", {}):
                kept.append(shown)
            if "execution_count" in shown:
                shown.execution_count = None
            if _VIEW in shown.get("data", {}):
                shown.data[_VIEW] = {"model_id": ""}  # of a kernel that has ended
        cell.outputs = kept
    for stamp in ("widgets", "papermill"):
        executed.metadata.pop(stamp, None)
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    executed.metadata["kernelspec"] = spec
    return asides


class Kernel(AbstractContextManager["Kernel"]):
    """A kernel for several notebooks, names forgotten in between; it ends with its context.

    Its sockets are files in a folder of its own, written down in the ledger: kernels that run at
    the same time clash over ports. To start one and to import what notebooks need takes as long as
    to execute a notebook.
    """

    session: Session | None = None
    manager: Any = None

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the kernel's process and remove its folder; the next notebook starts a new one."""
        from jupyter_core.utils import run_sync

        if self.manager is not None and self.manager.has_kernel:
            run_sync(self.manager.shutdown_kernel)(now=True)
        if self.session is not None:
            close_session(checkout().ledger, self.session)
        self.manager = self.session = None

    def kill(self) -> None:
        """End as `end` does, in the middle of whatever is done, and with all that it has started.

        A kernel that has just begun is not known yet, and would make its folder anew.
        """
        for child in children():
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if self.session is not None:
            close_session(checkout().ledger, self.session)

    def run(
        self, notebook: Path, values: dict[str, Any], timeout_s: float, say: IO[str] | None = None
    ) -> Any:
        """Return the executed notebook; `LabError` when a cell or the kernel fails, or too late."""
        from papermill import execute_notebook

        from ipclab.report.notebooks.engine import ENGINE
        from ipclab.report.notebooks.nb import nbformat

        source = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
        for cell in source.cells:
            cell.metadata["tags"] = cell.metadata.get("tags") or []
        source.cells.insert(0, nbformat.v4.new_code_cell(FORGET))  # type: ignore[no-untyped-call]
        deadline = time.monotonic() + timeout_s
        # every error becomes one line of ours
        for name in ("papermill", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        said = io.StringIO()
        try:
            done = execute_notebook(
                source,
                None,
                values,
                engine_name=ENGINE,
                kernel_name="python3",
                language="python",
                km=self._managed(),
                start_timeout=60,
                progress_bar=False,
                autosave_cell_every=0,
                request_save_on_cell_execute=False,
                stderr_file=say or said,
                resources={"metadata": {"path": str(notebook.parent.resolve())}},
                timeout_func=lambda cell: max(1, round(deadline - time.monotonic())),
            )
        except BaseException as error:
            self.end()  # it may still be busy
            stderr = said.getvalue().strip()
            if failure := _lab_error(notebook, error, timeout_s, stderr, bool(values)):
                raise failure from error
            raise
        del done.cells[0]
        return done

    def _managed(self) -> Any:
        from jupyter_client.manager import AsyncKernelManager

        from ipclab.report.notebooks.engine import OwnSpecs

        if self.manager is None:
            self.session = open_session(checkout().ledger)
            folder = self.session.folder
            if len(folder) > LONGEST:
                fix = "set TMPDIR to a shorter one"
                raise LabError(f"{folder} is too long for a socket", "", fix)
            self.manager = AsyncKernelManager(
                kernel_name="python3",
                kernel_spec_manager=OwnSpecs(folder),
                transport="ipc",
                ip=f"{folder}/k",
                connection_file=f"{folder}/k.json",
            )
        return self.manager


def _lab_error(
    notebook: Path, error: BaseException, timeout_s: float, stderr: str, injected: bool
) -> LabError | None:
    """Return the line of a LabError, or of another error where it stands in the notebook.

    None for other exceptions. With parameters `injected`, papermill's own cell stands before it.
    """
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill import PapermillExecutionError

    match error:
        case PapermillExecutionError():  # IPython prints an unknown magic to stderr, with no exception
            line = f"{error.ename}: {error.evalue}" if error.evalue else stderr or error.ename
            if error.ename in ("LabError", "UsageError") and error.evalue:
                line = error.evalue
            begins = error.source.split("\n")[0][:60]
            number = error.cell_index - injected
            where = f"{notebook.name}, cell {number}, which begins {begins!r}"
            return LabError(where, line.strip().split("\n")[-1])
        case CellTimeoutError():
            why = f"{timeout_s:g} s are over"
            return LabError(f"{notebook.name} did not end", why, "give it more time")
        case DeadKernelError() | RuntimeError():
            why = (stderr or str(error)).split("\n")[-1]
            return LabError(f"the kernel of {notebook.name} died", why)
    return None
