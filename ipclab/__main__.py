"""The command line's entry: one line for an error, the exit code that belongs to it."""

import sys

from ipclab.errors import LabError

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    from ipclab.cli import commands

    try:
        commands.main(prog_name="ipclab", standalone_mode=False)
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("ipclab: interrupted; the same command continues the run", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        from click import Abort, ClickException

        if isinstance(error, Abort):
            sys.exit(INTERRUPTED)
        if not isinstance(error, ClickException):
            raise
        print(f"ipclab: {error.format_message()}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
