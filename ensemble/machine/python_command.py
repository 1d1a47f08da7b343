"""The words that start Python for another process of this program."""

import sys
from pathlib import Path

# No `-m`: see run_module.py. With `-P` its own folder is not looked in either.
PYTHON_COMMAND = (sys.executable, "-P", str(Path(__file__).resolve().with_name("run_module.py")))


def build_python_command(*words: str, module: str = "ensemble") -> tuple[str, ...]:
    """The command that runs a module of this package, whatever lies in the working folder.

    Args:
      words: what the module is given; of `ensemble`, the words of its command line.
      module: its dotted name.
    """
    return (*PYTHON_COMMAND, "-m", module, *words)
