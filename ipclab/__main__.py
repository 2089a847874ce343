"""The command line's entry: one line for an error, the exit code that belongs to it."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        from ipclab.cli import commands

        commands.main(prog_name="ipclab", standalone_mode=False)
    except BaseException as error:  # Ctrl-C may come while the rest is imported
        from click import Abort, ClickException

        from ipclab.errors import LabError

        if isinstance(error, LabError):
            print(f"ipclab: {error}", file=sys.stderr)
            sys.exit(error.exit_code)
        if isinstance(error, KeyboardInterrupt | Abort):  # click makes the one of the other
            print("ipclab: interrupted; the same command continues a run that it measured", file=sys.stderr)
            sys.exit(INTERRUPTED)
        if not isinstance(error, ClickException):
            raise
        print(f"ipclab: {error.format_message()}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
