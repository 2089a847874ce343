"""What is told of an error, in any terminal's letters: one line and the exit code."""

import codecs
import errno
import io
import os
import resource
import sys
import unicodedata

import click

from ipclab.errors import LabError

UNUSABLE, INTERRUPTED = 2, 130
LOOP = "Symlink loop from "  # how pathlib tells one before Python 3.13
# What a process may have no more of, and the shell's word that allows more.
LIMITS = {
    errno.EAGAIN: ("processes or threads", "ulimit -u"),
    errno.EMFILE: ("open files", "ulimit -n"),
    errno.ENOMEM: ("memory", "ulimit -v"),
}
THREAD = "can't start new thread"
UNMAPPED = "failed to map segment", "cannot allocate memory"  # how a loader tells of no memory
SPELLED = "spelled"  # how a terminal is told what its encoding lacks
ASCII = str.maketrans({"–": "-", "—": "-", "−": "-", "×": "x", "·": ".", "µ": "u", "μ": "u"})


def spell() -> None:
    """Have what a terminal's encoding lacks written in letters that it has."""
    codecs.register_error(SPELLED, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SPELLED)


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is written for what an encoding lacks: the bytes of a file's name, a letter alike
    in ASCII, else `?`.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    try:
        return letters.encode("ascii", "surrogateescape"), error.end
    except UnicodeEncodeError:
        alike = unicodedata.normalize("NFKC", letters.translate(ASCII))
        return alike.encode("ascii", "replace").decode("ascii"), error.end


def told_error(error: BaseException) -> tuple[object, int]:
    """Return the line for an error and its exit code; raises the error when it has none."""
    if isinstance(error, RuntimeError) and LOOP in str(error):
        error = OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(error).removeprefix(LOOP))
    if isinstance(error, LabError) and (lacking := _lacks_memory(error)):
        error = lacking
    match error:
        case LabError():
            return error, error.exit_code
        case KeyboardInterrupt() | click.Abort():  # click makes the one of the other
            return "interrupted", INTERRUPTED
        case OSError() | MemoryError() | ImportError() | RuntimeError() if number := _limit(error):
            what, word = LIMITS[number]
            return f"no more {what} can be had: a limit is reached; raise it: {word}", UNUSABLE
        case OSError():
            return _unusable(error), UNUSABLE
        case click.ClickException():
            return error.format_message(), error.exit_code
    raise error


def _limit(error: BaseException) -> int:
    """Return which of the `LIMITS` an error comes from, or 0."""
    if isinstance(error, OSError):
        return error.errno if error.errno in LIMITS else 0
    if isinstance(error, RuntimeError):
        if THREAD not in str(error):
            return 0
        return errno.ENOMEM if _is_limited() else errno.EAGAIN  # its stack is memory, too
    unmapped = any(words in str(error).lower() for words in UNMAPPED)
    return errno.ENOMEM if isinstance(error, MemoryError) or unmapped else 0


def _lacks_memory(error: BaseException | None) -> BaseException | None:
    """Return the lack of memory that an error follows from where it is limited, if it does.

    Where it is not, a file told more than there can be, and is blamed.
    """
    while error and not isinstance(error, MemoryError):
        error = error.__cause__
    return error if _is_limited() else None


def _is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _unusable(error: OSError) -> str:
    """Return the line for what the system refuses: a place, or standard output."""
    try:
        sys.stdout.flush()
    except OSError:  # what is left in it would be tried again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = error.filename or "what it reads or writes"
    return (
        f"cannot use {place}: {error.strerror or error}; see that it is there, yours and not full"
    )
