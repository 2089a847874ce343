"""The command line's entry; its commands come with the packages around this one."""

import sys

from ipclab.errors import LabError
from ipclab.plugins import part


def main() -> None:
    """Run the command line that ipclab-measure brings."""
    try:
        part("command_line")()
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while the rest is imported
        print("ipclab: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
