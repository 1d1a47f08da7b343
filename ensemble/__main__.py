"""The command line, as `python -m ensemble`. Its commands are in `ensemble.cli`."""

from ensemble.cli.program import main

if __name__ == "__main__":
    main(prog_name="python -m ensemble")
