"""The tree of errors is the one that is drawn, and the command line's status goes with it."""

import re

from ensemble import errors
from ensemble.errors import EnsembleError


def drawn() -> dict[str, str]:
    """Each class of the tree at the top of the file, with the class above it."""
    above: list[str] = []
    parents: dict[str, str] = {}
    for line in errors.__doc__.splitlines():
        if found := re.match(r"((?:│   |    )*)[├└]── (\w+)", line):
            depth = len(found[1]) // 4
            above[depth + 1 :] = [found[2]]
            parents[found[2]] = above[depth]
        elif line == "EnsembleError":
            above = [line]
    return parents


def test_every_error_stands_where_the_tree_has_it() -> None:
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    assert drawn() == {one.__name__: one.__bases__[0].__name__ for one in classes if one is not EnsembleError}
    assert len(classes) == 12


def test_only_a_wrong_setting_is_wrong_usage() -> None:
    status = {name: getattr(errors, name).exit_code for name in ("EnsembleError", *drawn())}
    assert {name: code for name, code in status.items() if code != 1} == {"ConfigError": 2}
