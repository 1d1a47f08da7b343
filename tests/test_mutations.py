"""`python -m benchmarks.mutations`, tried on a program of three lines and its tests."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.mutations import __main__ as mutations
from benchmarks.mutations.drawn_places import SlipFinder, draw_places, save_places
from benchmarks.mutations.package_tests import HUNG, find_failure, find_tests
from benchmarks.mutations.places import MissingPlaceError, Place, load_places

REPO = Path(__file__).resolve().parent.parent
SOURCE = "def add(a: int, b: int) -> int:\n    return a + b\n\n\nLIMIT = 3\n"
TREE = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "ensemble/sums/add.py": SOURCE,
    "tests/sums/test_add.py": "from ensemble.sums.add import add\n\n\n"
    "def test_a_sum() -> None:\n    assert add(1, 2) == 3\n",
    "tests/sums/test_broken.py": "def test_that_fails_anyway() -> None:\n    assert False\n",
    "tests/pages/test_limit.py": "from ensemble.sums.add import LIMIT\n\n\n"
    "def test_a_limit() -> None:\n    assert LIMIT < 5\n",
}
PLACES = """
[[place]]
file = "ensemble/sums/add.py"
old = "return a + b"
new = "return a - b"
why = "swapped sign"

[[place]]
file = "ensemble/sums/add.py"
old = "LIMIT = 3"
new = "LIMIT = 9"
why = "wrong number, which a page shows"

[[place]]
file = "ensemble/sums/add.py"
old = "LIMIT = 3"
new = "LIMIT = 4"
why = "a slip that no test notices"

[[place]]
file = "ensemble/sums/add.py"
old = "return a * b"
new = "return a"
why = "a line that was rewritten"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (root / "places.toml").write_text(PLACES)
    return root


@pytest.mark.long
def test_what_is_caught_what_survives_and_what_is_missing_is_told_apart(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a dozen calls of pytest
    kept = tmp_path / "results.json"
    words = ["--root", checkout, "--places", checkout / "places.toml", "--json", kept]
    assert mutations.main([str(word) for word in words]) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == "2 of 4 caught; survived: 3; missing: 4"
    assert "tests/sums/test_broken.py::test_that_fails_anyway fails without the slip" in printed
    rows = json.loads(kept.read_text())["places"]
    assert [(row["outcome"], row["test"]) for row in rows[:3]] == [
        ("caught", "tests/sums/test_add.py::test_a_sum"),
        ("caught", "tests/pages/test_limit.py::test_a_limit"),
        ("survived", ""),
    ]
    assert "no longer there" in rows[3]["test"]
    assert (checkout / "ensemble/sums/add.py").read_text() == SOURCE


def test_some_places_alone_and_all_from_one_on(checkout: Path) -> None:
    places = load_places(checkout / "places.toml")
    assert [one.number for one in mutations.choose_places(places, "1,3", 2)] == [3]
    assert [one.number for one in mutations.choose_places(places, "", 3)] == [3, 4]


@pytest.mark.parametrize(
    ("outcomes", "enough"),
    [
        (["survived", "caught", "survived"], True),
        (["survived", "survived", "survived"], False),
        (["caught", "missing"], False),
    ],
)
def test_two_may_survive_and_none_may_be_missing(outcomes: list[str], enough: bool) -> None:
    place = load_places()[0]
    results = [mutations.Result(place, outcome, "", 0.0) for outcome in outcomes]
    assert mutations.has_caught_enough(results) is enough


def test_a_test_that_does_not_end_has_noticed(checkout: Path) -> None:
    slow = checkout / "tests/sums/test_slow.py"
    slow.write_text("import time\n\n\ndef test_for_ever() -> None:\n    time.sleep(60)\n")
    assert find_failure(checkout, ["tests/sums/test_slow.py"], [], limit=1.0) == HUNG


def test_a_line_that_the_formatter_broke_is_found_and_one_that_is_there_twice_is_not() -> None:
    place = Place(1, "a.py", "limit if full else 0", "0", "")
    assert place.break_source("x = (\n    limit\n    if full\n    else 0\n)") == "x = (\n    0\n)"
    with pytest.raises(MissingPlaceError, match="there 2 times"):
        place.break_source("limit if full else 0, limit if full else 0")


DRAWN = """
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def count(values: "Sequence[float]", most: int = 3 - 1) -> int:
    if not values:
        return 0
    if len(values) > 2 and values[-1] < 0.5:
        return len(values) // 2
    text = f"{values[0] + 1}" + "x" * 3
    return max(most, len(text), 0 if most in values[1:] else 1)
"""


def test_slips_are_found_in_all_that_is_computed_and_in_no_text_or_annotation() -> None:
    source = DRAWN.encode()
    slips = {(slip.kind, source[slip.begin : slip.end].decode(), slip.new) for slip in SlipFinder(DRAWN).slips}
    assert slips == {
        ("term", "3 - 1", "3"),
        ("guard", "not values", "False"),
        ("guard", "len(values) > 2 and values[-1] < 0.5", "False"),
        ("term", "len(values) > 2 and values[-1] < 0.5", "(len(values) > 2)"),
        ("comparison", "len(values) > 2", "len(values) >= 2"),
        ("comparison", "values[-1] < 0.5", "values[-1] > 0.5"),
        ("index", "-1", "0"),
        ("division", "len(values) // 2", "len(values) % 2"),
        ("guard", "max(most, len(text), 0 if most in values[1:] else 1)", "(most)"),
        ("comparison", "most in values[1:]", "most not in values[1:]"),
        ("index", "1:", ":"),
    }


def test_drawn_places_break_their_file_and_a_seed_draws_the_same_again(checkout: Path) -> None:
    (checkout / "ensemble/sums/count.py").write_text(DRAWN)
    places = draw_places(checkout, 5, seed=3)
    assert {place.file for place in places} == {"ensemble/sums/add.py", "ensemble/sums/count.py"}
    for place in places:
        source = (checkout / place.file).read_text()
        compile(broken := place.break_source(source), place.file, "exec")
        assert broken != source
    save_places(checkout / "drawn.toml", places)
    assert load_places(checkout / "drawn.toml") == places == draw_places(checkout, 5, seed=3)


def test_every_place_of_the_list_is_still_there_once_and_has_tests() -> None:
    places = load_places()
    assert len(places) >= 40  # and what came with packages since
    for place in places:
        compile(place.break_source((REPO / place.file).read_text("utf-8")), place.file, "exec")
        assert any(name.startswith(f"tests/{place.package}/") for step in find_tests(REPO, place) for name in step)


def test_the_list_has_a_place_in_every_package() -> None:
    packages = {file.parent.name for file in REPO.glob("ensemble/*/__init__.py")}
    assert packages | {"pages"} <= {place.package for place in load_places()}
