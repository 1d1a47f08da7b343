"""The output of views, pages, reports and commands equals the files in `expected/`.

After an intended change, write the files again with `--update-snapshots` and read their diff.
"""

import difflib
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import runs
from ensemble.cli.program import main
from ensemble.report import render_report
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.iteration import DefaultChooser
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.registry import NUMERIC_VIEWS, VIEWS
from tests.comparison.drawn import finished
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import measured
from tests.report.pages import Page
from tests.snapshots.page_rendering import render_page
from tests.snapshots.rendering import render_view, replace_passing
from tests.views.test_numeric_views import TARGETS, build_ensemble, keep_run

Check = Callable[[str, Iterable[str]], None]
EXPECTED = Path(__file__).parent / "expected"
FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")
MOST_WORDS = 2  # of a choice, that are tried


def are_close(old: str, new: str) -> bool:
    """Whether two lines are equal except for fractions that differ by a thousandth at most, by rounding say."""
    if FRACTION.sub("", old) != FRACTION.sub("", new):
        return False
    pairs = zip(FRACTION.findall(old), FRACTION.findall(new), strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=1e-3, abs_tol=1e-9) for one, other in pairs)


def import_five_classes() -> runs.Run:
    """Three members of which the last two are the same, on flowers of 40 plants, without images."""
    draws = np.random.default_rng(3)
    labels = np.arange(240) % 5
    logits = 2.2 * np.eye(5)[labels] + draws.normal(size=(3, 240, 5)) * [[[1.0]], [[1.6]], [[1.6]]]
    logits[2] = logits[1]
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    names = ["daisy", "dandelion", "roses", "sunflowers", "tulips"]
    groups = np.arange(240) // 6
    made = ensemble.import_predictions(
        probabilities, labels, name="flowers", class_names=names, groups=groups, noun="flower"
    )
    return runs.find_run(made.id)


def import_two_classes() -> runs.Run:
    draws = np.random.default_rng(5)
    labels = draws.integers(2, size=70)
    chance = 1 / (1 + np.exp(-(1.2 * (2 * labels - 1) + draws.normal(size=(4, 70)))))
    return runs.find_run(ensemble.import_predictions(np.stack([1 - chance, chance], -1), labels, name="few").id)


def train_digits() -> runs.Run:
    run = trained(members=4, validation=0.1, seconds=80.0, name="measured")
    measured(run)
    return run


RUNS = {
    "measured": train_digits,
    "alone": lambda: trained(members=1, name="alone"),
    "folds": lambda: trained(members=4, folds=3, validation=0.1, seed=3, name="folds"),
    "stopped": lambda: trained(members=3, epochs=5, done=2, state="stopped", seed=4, name="stopped"),
    "flowers": import_five_classes,
    "few": import_two_classes,
    "first": lambda: finished({"seed": 1, "members": 3}, epochs=3, skill=2.0, draw=1),
    "second": lambda: finished({"seed": 2, "members": 3, "learning_rate": 0.05}, epochs=3, skill=2.4, draw=2),
}
NUMERIC_FORMS = ("normal", "points", "quantiles")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def drawn(folder: Path) -> dict[str, Any]:
    """All runs of this file, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        numeric = {form: keep_run(build_ensemble(form)) for form in NUMERIC_FORMS}
        return {name: make() for name, make in RUNS.items()} | numeric


@pytest.fixture
def check(drawn: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> Check:
    """A function that compares lines with the file of a name, or writes that file with `--update-snapshots`."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    names = {run.id: f"RUN-{name}" for name, run in drawn.items()}

    def compare(name: str, lines: Iterable[str]) -> None:
        text, path = replace_passing("\n".join(lines) + "\n", names), EXPECTED / f"{name}.txt"
        if pytestconfig.getoption("--update-snapshots"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            return
        expected, shown = path.read_text("utf-8").splitlines(), text.splitlines()
        shown[: len(expected)] = [
            old if are_close(old, new) else new for old, new in zip(expected, shown, strict=False)
        ]
        diff = difflib.unified_diff(expected, shown, "expected", "shown", lineterm="", n=1)
        changes = "\n".join(line[:400] for line in itertools.islice(diff, 80))
        assert not changes, changes

    return compare


def render_views(views: Mapping[str, Any], subject: Any, most_words: int = MOST_WORDS) -> Iterator[str]:
    """Yield each view as it is by default, then what other words of each choice change in it."""
    for name, view in views.items():
        if name == "distillation":
            continue
        chooser = DefaultChooser()
        default = list(render_view(view.build(subject), chooser))
        yield f"# {view.title}"
        yield from default
        for choice in list(chooser.choices.values()):
            for word in list(choice.values)[:most_words]:
                if word != choice.default:
                    lines = list(render_view(view.build(subject), DefaultChooser({choice.name: word})))
                    yield f"## {choice.name} = {word}"
                    yield from (line for line in lines if line not in default)


@pytest.mark.parametrize("name", ["measured", "flowers", "few"])
def test_views_of_classes(name: str, drawn: dict[str, Any], check: Check) -> None:
    most_words = MOST_WORDS if name == "measured" else 0
    check(f"views/{name}", render_views(VIEWS, evaluate_epoch(drawn[name]), most_words))


@pytest.mark.parametrize("form", NUMERIC_FORMS)
def test_views_of_numbers(form: str, check: Check) -> None:
    predicted = build_ensemble(form)
    names = [f"member {number}" for number in range(1, predicted.members + 1)]
    numbers = EvaluatedNumbers(predicted, TARGETS[: predicted.examples], names)
    check(f"views/numeric_{form}", render_views(NUMERIC_VIEWS, numbers))


PAGES = [
    *((page, "measured") for page in ("train", "inspect", "predictions", "labels", "why", "classify")),
    *((page, "flowers") for page in ("inspect", "predictions", "why")),
    *((page, "stopped") for page in ("train", "inspect")),
    ("inspect", "alone"),
    ("labels", "folds"),
    ("numbers", "normal"),
    ("numbers", "quantiles"),
    ("runs", ""),
]
INSPECT_VIEWS = ["members", "combining", "uncertainty", "calibration", "selective", "shift"]


@pytest.mark.parametrize(("page", "name"), PAGES)
def test_pages(page: str, name: str, drawn: dict[str, Any], check: Check) -> None:
    at = opened(drawn[name].id if name else "", page)
    check(f"pages/{page}-{name}", render_page(at))


@pytest.mark.parametrize("view", INSPECT_VIEWS)
def test_views_of_inspect(view: str, drawn: dict[str, Any], check: Check) -> None:
    check(f"pages/inspect-{view}", render_page(opened(drawn["measured"], "inspect", view=view)))


@pytest.mark.parametrize("several", [("first", "second"), ("first", "second", "measured"), ("flowers", "few")])
def test_compare(several: tuple[str, ...], drawn: dict[str, Any], check: Check) -> None:
    at = opened("", "compare", runs=",".join(drawn[name].id for name in several))
    check(f"pages/compare-{'-'.join(several)}", render_page(at))


def test_reports(drawn: dict[str, Any], check: Check) -> None:
    for name, several in {"measured": ["measured"], "compared": ["first", "second"], "flowers": ["flowers"]}.items():
        sentences = re.split(r"(?<=[.:?]) ", Page(render_report([drawn[one] for one in several])).said)
        # The sentence with versions and the machine differs.
        check(f"reports/{name}", (text for text in sentences if "jaxlib" not in text))


COMMANDS = {
    "runs_list": ("runs", "list"),
    "runs_list_json": ("runs", "list", "--json"),
    **{f"runs_show_{name}": ("runs", "show", name) for name in ("measured", "stopped", "flowers", "normal")},
    "inspect": ("inspect", "measured"),
    "inspect_numbers": ("inspect", "normal"),
    "inspect_shift": ("inspect", "measured", "shift"),
    "compare": ("compare", "first", "second"),
    "compare_json": ("compare", "first", "second", "--json"),
    "compare_imported": ("compare", "flowers", "few"),
    "compare_numbers": ("compare", "normal", "quantiles"),
    "plan": ("plan", "first"),
    "data_list": ("data", "list"),
    "network": ("network", "lenet5"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, drawn: dict[str, Any], check: Check) -> None:
    words = [drawn[word].id if word in drawn else word for word in COMMANDS[name]]
    done = CliRunner().invoke(main, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    check(f"commands/{name}", iter([*re.sub(" +", " ", done.output).splitlines(), f"exit status {done.exit_code}"]))
