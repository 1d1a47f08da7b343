"""A working folder full of files that are called as modules of Python's and of packages are."""

import importlib.metadata
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Those of Python's own, of all packages that are here, those that packages look for in vain, and
# those that Python runs before anything else.
MISSING = ("tensorflow", "torch", "cupy", "mpi4py", "libtpu", "jax_plugins")
NAMES = sorted(
    name
    for name in {
        *sys.stdlib_module_names,
        *importlib.metadata.packages_distributions(),
        *MISSING,
        "ensemble",
        "sitecustomize",
        "usercustomize",
    }
    if name.isidentifier()
)


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
    for name in NAMES:
        code = f"open({str(marks / name)!r}, 'w').close()\nraise ImportError('the wrong {name}')\n"
        (here / f"{name}.py").write_text(code)
    monkeypatch.chdir(here)
    # An empty entry means the working folder, and stands there after PYTHONPATH=$PYTHONPATH:….
    monkeypatch.setenv("PYTHONPATH", ":")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    yield here
    assert sorted(one.name for one in marks.iterdir()) == []
