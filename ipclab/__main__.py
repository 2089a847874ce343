"""The command line's entry."""

import sys

from ipclab.errors import LabError


def main() -> None:
    """Run the command line; an error is one line."""
    try:
        from ipclab.commands import cli

        cli.main()
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while the rest is imported
        print("ipclab: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
