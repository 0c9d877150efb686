"""`python -m steelyard` is `steelyard`."""

from steelyard.cli.main import run

if __name__ == "__main__":
    run()
