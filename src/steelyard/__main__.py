"""`python -m steelyard`, and the `steelyard` command.

The other modules are imported inside `main`, so that Ctrl-C during the import, which takes most of
a second, ends the program without a traceback.
"""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from steelyard.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder: nothing of ours is imported from there (python.py)
    main()
