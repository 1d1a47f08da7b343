"""Runs a module as `python -m` does: `python -P run_module.py -m ensemble train`.

`python -m` looks in the working folder before the standard library, and so does Python in what
PYTHONPATH names, which for a clone that was not installed would have to be its folder: often the
working folder as well. A `random.py` that lies there would be run by every worker. Here this
package is found by its place instead, and nothing is put before the standard library.
"""

import importlib.util
import runpy
import sys
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


def _import_ensemble_package() -> None:
    """Import `ensemble` from where this file lies, whichever else could be found by its name."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE_FOLDER.name, PACKAGE_FOLDER / "__init__.py", submodule_search_locations=[str(PACKAGE_FOLDER)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE_FOLDER.name] = package
    spec.loader.exec_module(package)


def main() -> None:
    """Run the module that is named behind `-m`, with the words behind its name."""
    name_at = sys.argv.index("-m") + 1
    name = sys.argv[name_at]
    del sys.argv[1 : name_at + 1]
    _import_ensemble_package()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
