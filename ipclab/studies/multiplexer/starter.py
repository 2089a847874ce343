"""A small process that starts the benchmarks: it forks in a millisecond, and they end when it does.

Requests and answers are lines of JSON on its standard input and output. It imports the standard library only.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from ipclab.spawn.zygote import die_with_parent

NOT_STARTED = 127  # as a shell says it


def run(request: dict[str, Any], me: int) -> dict[str, Any]:
    """Run `request["command"]` on CPUs `cpus` with environment `env`, at most `seconds`; return `code` and `said`.

    `code` is None when the deadline ended it, with all that it started.
    """

    def begin() -> None:
        os.setsid()
        die_with_parent(me)
        os.sched_setaffinity(0, request["cpus"])

    try:
        process = subprocess.Popen(
            request["command"],
            env=request["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=begin,  # noqa: PLW1509  this process has one thread
        )
    except (OSError, subprocess.SubprocessError) as error:
        return {"code": NOT_STARTED, "said": str(error)}
    try:
        said, _ = process.communicate(timeout=request["seconds"])
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        code = None
    return {"code": code, "said": said}


def main() -> None:
    """Serve until standard input ends."""
    me = os.getpid()
    die_with_parent(int(sys.argv[1]))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line), me)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
