"""The kernel of an executed notebook: a fork of a process that has imported what notebooks need."""

from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Unicode

from ipclab.report.forks import Request, fork


class ForkProvisioner(LocalProvisioner):
    """A local provisioner whose process is forked."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel; `kwargs` are those of `subprocess.Popen`, of which folder and environment are used."""
        manager: Any = self.parent
        request = Request(manager.connection_file, str(kwargs["cwd"]), dict(kwargs["env"]), str(manager.log_path))
        self.process: Any = fork(request)
        self.pid = self.process.pid
        return self.connection_info


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
        self.provisioner = ForkProvisioner(parent=self, kernel_spec=self.kernel_spec, kernel_id=self.kernel_id)
        self.alive.add(self)

    @property
    def kernel_spec(self) -> KernelSpec:
        """What a kernel is: Python with ipykernel; the fork server takes the place of its command."""
        env = {"IPYTHONDIR": f"{self.folder}/ipython"}
        command = ["python", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python 3", language="python", env=env)

    def kill(self) -> None:
        """End the process at once, from any thread; whoever waits for it then sees that it died."""
        process = getattr(self.provisioner, "process", None)
        if process is not None:
            process.kill()

    @property
    def log_path(self) -> Path:
        """What the kernel process itself said."""
        return Path(self.folder) / "log"
