"""The words and the environment that start Python for another process of this program."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

# No `-m`: see run_module.py. With `-P` its own folder is not looked in either.
PYTHON_COMMAND = (sys.executable, "-P", str(Path(__file__).resolve().with_name("run_module.py")))
_SAFE_PATH_VARIABLE, _PATH_VARIABLE = "PYTHONSAFEPATH", "PYTHONPATH"
# As `build_python_environment`, in a script of Bash, after a person's own lines of it.
SAFE_PATH_LINES = (
    f"export {_SAFE_PATH_VARIABLE}=1",
    f'export {_PATH_VARIABLE}=$(tr -s : <<<":${{{_PATH_VARIABLE}:-}}:" | sed "s/^:// ; s/:$//")',
)


def build_python_command(*words: str, module: str = "ensemble") -> tuple[str, ...]:
    """The command that runs a module of this package, whatever lies in the working folder.

    Args:
      words: what the module is given; of `ensemble`, the words of its command line.
      module: its dotted name.
    """
    return (*PYTHON_COMMAND, "-m", module, *words)


def build_python_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which no Python looks in the working folder first.

    That may hold anything: a `random.py` or `queue.py` of a person's own, or a clone of another
    version. An empty entry of PYTHONPATH would mean that folder, too: it stands there after
    PYTHONPATH=$PYTHONPATH:… where there was none before.
    """
    safe = {**environment, _SAFE_PATH_VARIABLE: "1"}
    if paths := [path for path in safe.pop(_PATH_VARIABLE, "").split(os.pathsep) if path]:
        safe[_PATH_VARIABLE] = os.pathsep.join(paths)
    return safe
