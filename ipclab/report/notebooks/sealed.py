"""The kernel of reports: this interpreter, whatever a person's settings of Jupyter and IPython say."""

import sys
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

NAME = "python3"


class OwnSpecs(KernelSpecManager):
    """Knows one kernel: this interpreter with an empty profile in `folder`.

    A `python3` that `JUPYTER_PATH` or a home folder holds may be another program.
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
