"""A working folder full of files that are called as modules of Python's and of packages are."""

import functools
import importlib.metadata
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import fork_server

# Those of Python's own, of all packages that are here, those that packages look for in vain, and
# those that Python runs before anything else.
MISSING = ("tensorflow", "torch", "cupy", "mpi4py", "libtpu", "jax_plugins")
OWN = ("ensemble", "sitecustomize", "usercustomize")


@functools.cache
def list_module_names() -> list[str]:
    """All of these names; what packages there are takes a second to find out."""
    packages = importlib.metadata.packages_distributions()
    names = {*sys.stdlib_module_names, *packages, *MISSING, *OWN}
    return sorted(name for name in names if name.isidentifier())


@contextmanager
def hostile_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder within this has such files; none of them was imported at the end of it.

    Args:
      folder: an empty one, in which the working folder is made.
      monkeypatch: of the test.
    """
    here, marks = folder / "here", folder / "marks"
    here.mkdir()
    marks.mkdir()
    for name in list_module_names():
        code = f"open({str(marks / name)!r}, 'w').close()\nraise ImportError('the wrong {name}')\n"
        (here / f"{name}.py").write_text(code)
    monkeypatch.setenv(fork_server.SWITCH, "0")  # in a fork the right ones are there before it looks
    monkeypatch.chdir(here)
    # An empty entry means the working folder, and stands there after PYTHONPATH=$PYTHONPATH:….
    monkeypatch.setenv("PYTHONPATH", ":")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    yield here
    assert sorted(one.name for one in marks.iterdir()) == []
