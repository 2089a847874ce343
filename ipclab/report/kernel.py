"""The kernel of an executed notebook: this interpreter, over private sockets."""

import sys
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from traitlets import Unicode


class InterpreterKernel(AsyncKernelManager):
    """A kernel manager that needs no installed kernelspec.

    Connection file, Unix sockets and IPython's profile lie in `folder`, which the caller makes (0700, a short
    path) and removes; so kernels that run at the same time share nothing, not even a range of ports.
    """

    alive: ClassVar[WeakSet["InterpreterKernel"]] = WeakSet()
    folder = Unicode(help="where the files of this kernel go").tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        """Point transport and sockets at the folder."""
        super().__init__(**kwargs)
        self.transport = "ipc"
        self.connection_file = f"{self.folder}/k.json"
        self.ip = f"{self.folder}/k"
        self.alive.add(self)

    @property
    def kernel_spec(self) -> KernelSpec:
        """The interpreter that runs this, with ipykernel."""
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
            env={"IPYTHONDIR": f"{self.folder}/ipython"},
        )

    async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
        """Start the process with its own stderr in a file: what cells print comes over the sockets."""
        with self.log_path.open("wb") as log:
            await super()._async_launch_kernel(kernel_cmd, stdout=log, stderr=log, **kw)

    def kill(self) -> None:
        """End the process at once, from any thread; whoever waits for it then sees that it died."""
        process = getattr(self.provisioner, "process", None)
        if process is not None:
            process.kill()

    @property
    def log_path(self) -> Path:
        """What the kernel process itself said."""
        return Path(self.folder) / "log"
