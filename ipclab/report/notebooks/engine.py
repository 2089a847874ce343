"""What reports are executed with: papermill's own engine, and a kernel that nobody has set up."""

import sys
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from papermill.engines import NBClientEngine, papermill_engines

ENGINE = "ipclab"
ALLOWED = "raises-exception"  # the tag, as Jupyter has it


class Allowing(NBClientEngine):  # type: ignore[misc]  # papermill has no types
    """Executes as Jupyter does; papermill would end with any error that a cell shows."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, *given: Any, **named: Any) -> None:
        """Execute a notebook; an error that is allowed stays as the text that it printed."""
        super().execute_managed_notebook(nb_man, *given, **named)
        allowed = [cell for cell in nb_man.nb.cells if ALLOWED in cell.metadata.get("tags", [])]
        for shown in (output for cell in allowed for output in cell.get("outputs", [])):
            if shown.output_type == "error":
                text = "\n".join(shown.traceback)
                shown.clear()
                shown.update(output_type="stream", name="stdout", text=text)


papermill_engines.register(ENGINE, Allowing)


class OwnSpecs(KernelSpecManager):
    """Knows one kernel: this interpreter with an empty profile in `folder`.

    A `python3` that `JUPYTER_PATH` or a home folder holds may be another program, and a person's
    settings of Jupyter and IPython are not those of reports.
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder

    def get_kernel_spec(self, kernel_name: str) -> Any:
        """Return the one kernel, whatever it is called."""
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            env={"IPYTHONDIR": f"{self.folder}/ipython", "PYTHONSTARTUP": ""},
            display_name="Python 3",
            language="python",
        )
