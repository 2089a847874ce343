"""What ends a launch, or a whole session, and how it is told."""

from collections.abc import Mapping

from ipclab.errors import LabError
from ipclab.spawn.exits import SILENCE, last_line
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.started import Started
from ipclab.spawn.worker import Failed


class LaunchError(LabError):
    """A worker died, hung or said that something is wrong; `said` is all that it wrote."""

    said = ""


class WrongDataError(LaunchError, PayloadError):
    """Data arrived wrong in a launch, which another launch does not make good."""


class LostError(LaunchError):
    """The fork server is gone, and the launch with it; the next one has a new server."""


class SessionError(LabError):
    """The measuring session cannot go on; the run stays as it is, unfinished."""


def failed(who: str, said: Failed) -> LaunchError:
    """Return the error of a launch in which `who`, a worker or a rank, told why it cannot go on."""
    return (WrongDataError if said.wrong else LaunchError)(f"{who} failed", said.why)


def silent(workers: Mapping[str, Started], name: str, why: str) -> LaunchError:
    """Return the error of a launch whose worker `name` told nothing: `why`, and the end of its stderr."""
    said = [worker.said() for worker in (workers[name], *workers.values())]
    error = LaunchError(f"worker {name!r} {why}", last_line(*said) or SILENCE)
    error.said = said[0]
    return error
