"""The command line, as `ensemble`. Its commands are in `ensemble.cli`."""

from ensemble.cli.program import main

if __name__ == "__main__":
    main(prog_name="ensemble")
