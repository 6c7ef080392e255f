"""The command: `lockstep ...` of a wheel, and `python -m lockstep ...`."""
import os
import sys
from typing import NoReturn

from ._library import command_path


def main() -> NoReturn:
    path = command_path()
    arguments = sys.argv[1:]
    if arguments[:1] == ["test"] and any(a == "--dask" or a.startswith("--dask=") for a in arguments):
        from ._campaign import command

        sys.exit(command(arguments[1:]))
    try:
        os.execvp(path, [path, *arguments])
    except OSError as e:
        sys.exit(f"lockstep: {path}: {e.strerror}")


if __name__ == "__main__":
    main()
