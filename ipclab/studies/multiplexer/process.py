"""Running the benchmark binary: on given CPUs, with a deadline, nothing of it left behind."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

IDLE_SECONDS = 0.5  # an idle starter ends at once
GRACE_SECONDS = 10.0  # for the starter to end what did not finish
ROOT = Path(__file__).parents[3]


class Starter:
    """The measuring session's starter process; a context manager that leaves nothing behind."""

    def __enter__(self) -> "Starter":
        """Start it, in a session of its own, so that Ctrl-C is the measuring process's to handle."""
        self.process = self._started()
        return self

    def __exit__(self, *error: object) -> None:
        """End it, with what it started."""
        self._end()

    @staticmethod
    def _started() -> "subprocess.Popen[str]":
        search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [sys.executable, "-m", "ipclab.studies.multiplexer.starter", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": search},
            start_new_session=True,
        )

    def run(self, command: Sequence[str], cpus: Collection[int], env: dict[str, str], seconds: float) -> str:
        """Run `command` on `cpus` and return what it said on both its outputs.

        Raises `ProcessError` when it failed or did not finish within `seconds`, and `LabError` when the starter died.
        """
        if self.process.poll() is not None:
            self.process = self._started()
        request = {"command": list(command), "cpus": sorted(cpus), "env": env, "seconds": seconds}
        answer = self._ask(request, seconds + GRACE_SECONDS)
        if answer["code"] is None:
            raise ProcessError(f"did not finish within {seconds:g} s")
        if answer["code"]:
            raise ProcessError(_ending(answer["code"]), answer["said"])
        return str(answer["said"])

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        line = ""
        if self.process.stdin is None or self.process.stdout is None:
            raise ValueError("the starter has no pipes")
        with suppress(OSError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            # One answer a request: nothing of it can be waiting in the reader's buffer.
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            line = self.process.stdout.readline() if ready else ""
        if not line:
            self._end()
            raise LabError(
                "the process that starts the Go benchmarks does not answer", "it was killed", "measure again"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        try:
            self.process.wait(IDLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()  # and the kernel ends what it runs
            self.process.wait()


class ProcessError(LabError):
    """The binary failed: `what` says how it ended, `said` holds what it wrote."""

    def __init__(self, what: str, said: str = "") -> None:
        """Keep both."""
        super().__init__(what)
        self.said = said


def _ending(code: int) -> str:
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
