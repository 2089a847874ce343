"""A headless Chromium for tests, and JupyterLab on a copy of the notebooks."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import ROOT
from tests.support.rendered import share_opened

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
START_SECONDS = 90
ASKS, END_SECONDS = 4, 30


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Give a Chromium; the test is skipped where there is none."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def jupyter_lab(folder: Path) -> Iterator[str]:
    """Run JupyterLab on a copy of the notebooks in `folder`; give its address, token included."""
    shutil.copytree(
        ROOT / "notebooks",
        folder / "notebooks",
        ignore=shutil.ignore_patterns(".ipynb_checkpoints"),
    )
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}"]
    options = [
        "--ServerApp.ip=127.0.0.1",
        f"--notebook-dir={folder / 'notebooks'}",
        "--IdentityProvider.token=test",
        "--allow-root",
        "--expose-app-in-browser",
        f"--LabApp.app_settings_dir={ROOT / 'scripts/jupyterlab'}",
    ]
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "IPCLAB_DATA")
    settings = {name: str(folder / name.lower()) for name in own}
    share_opened(Path(settings["IPCLAB_DATA"]))
    log = folder / "lab.log"
    with log.open("wb") as said:
        env = {**os.environ, **settings}
        server = subprocess.Popen(
            [*command, *options], env=env, stdout=said, stderr=said, start_new_session=True
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not re.search(r"http://127\.0\.0\.1:\d+/lab", log.read_text()):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "JupyterLab did not start"
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/{{name}}?token=test&reset"
    finally:
        _end(server)


def _end(server: subprocess.Popen[bytes]) -> None:
    """End JupyterLab with its kernels: asked again, it goes on where its first attempt failed."""
    for _ in range(ASKS):
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(END_SECONDS)
            return
    server.kill()  # its kernels end with it
    server.wait()
