"""The command line's entry."""

import io
import os
import signal
import sys
from threading import Timer, get_ident

from ipclab.errors import LabError

AGAIN = 0.05  # seconds


def main() -> None:
    """Run the command line; an error is one line."""
    _lend_streams()
    sys.unraisablehook = interrupted_again
    try:
        from ipclab.commands import cli

        cli.main()
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while the rest is imported
        print("ipclab: interrupted", file=sys.stderr)
        sys.exit(130)


def interrupted_again(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt once more what Ctrl-C met where Python drops exceptions, as in a finaliser."""
    if lost.exc_type is KeyboardInterrupt:
        again = Timer(AGAIN, signal.pthread_kill, (get_ident(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def _lend_streams() -> None:
    """Open what the caller has closed (`2>&-`), so that no file of ours gets its number.

    What is told on a closed standard error is lost; what is printed to a closed standard output
    fails, since it was not delivered.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            lent = os.open(os.devnull, flags)
            if lent != number:
                os.dup2(lent, number)
                os.close(lent)
            raw = io.FileIO(number, "r" if name == "stdin" else "w", closefd=False)
            setattr(sys, name, io.TextIOWrapper(raw, write_through=True))


if __name__ == "__main__":
    main()
