"""The stop button while a notebook measures: nothing is left behind, and the same cell goes on from
there.
"""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.store.run import read_run
from ipclab.store.samples import decode

CELL = """
from ipclab.lab.lab import Lab
backends, sizes = ["pipe", "unix"], [100, 10_000]
lab = Lab.begin("round_trip", measure=True, profile="smoke", sizes=sizes, backends=backends)
print("made", lab.run.path)
"""
SECONDS = 120


def finish(client: Any, cell: str) -> tuple[str, str]:
    """Wait until the cell that runs has ended; return the error's name, if any, and what it
    printed.
    """
    printed: list[str] = []
    while True:
        message = client.get_iopub_msg(timeout=SECONDS)
        if message["parent_header"].get("msg_id") != cell:
            continue
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            printed.append(message["content"]["text"])
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    while True:  # a slow kernel's answers to the first questions may still come before this one
        reply = client.get_shell_msg(timeout=SECONDS)
        if reply["parent_header"].get("msg_id") == cell:
            return reply["content"].get("ename", ""), "".join(printed)


def points(folder: Path) -> dict[str, list[tuple[int, int]]]:
    """Return every measured point's file with the number and the begin (ns) of its launches."""
    files = folder.glob("runs/*/*/points/*/*.parquet")
    return {
        file.name: [(each.order, each.started_ns) for each in decode(file).launches]
        for file in files
    }


@pytest.mark.matrix
@pytest.mark.slow
def test_stopping_and_going_on(tmp_path: Path) -> None:
    manager, client = start_new_kernel(
        kernel_name="python3", env={**os.environ, "IPCLAB_DATA": str(tmp_path)}
    )
    try:
        cell = client.execute(CELL)
        deadline = time.monotonic() + SECONDS
        while not points(tmp_path):
            assert time.monotonic() < deadline, "nothing was measured"
            time.sleep(0.01)
        manager.interrupt_kernel()
        assert finish(client, cell)[0] == "KeyboardInterrupt"
        kernel: Any = manager.provisioner
        ours = f"ipclab-{kernel.pid}-"
        assert [entry.name for entry in SHARED_MEMORY.iterdir() if ours in entry.name] == []
        assert list((tmp_path / "runs" / ".ledger").iterdir()) == []
        before = points(tmp_path)

        error, printed = finish(client, client.execute(CELL))
        assert error == ""
        run = read_run(Path(printed.split("made ", 1)[1].strip()))
        assert run.finished
        assert len(run.about["sessions"]) == 2
        after = points(tmp_path)
        for name, launches in before.items():  # what was there was not measured again
            assert after[name][: len(launches)] == launches
        assert sum(map(len, after.values())) > sum(map(len, before.values()))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
