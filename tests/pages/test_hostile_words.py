"""No word from outside is taken for markup: every page, with hostile words in every place."""

import dataclasses
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets, regression, sweeps
from ensemble.datasets import registry
from ensemble.machine.bench_result import write_bench_result
from ensemble.regression import LbfgsConfig
from ensemble.runs import Run
from ensemble.runs.annotations.notes import write_run_note
from ensemble.ui.inspect.views import VIEWS
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.address import QueryParameter
from tests.machine.test_bench_result import BENCH
from tests.pages import stressed
from tests.pages.ensembles import trained
from tests.pages.hostile import LINK, NAME, WORDS, holes, literal
from tests.pages.predictions_screen import opened

REPO = Path(__file__).resolve().parents[2]
PAGES = sorted(path.stem for path in (REPO / "pages").glob("*.py"))
EVERY_WORD = sorted({one.name for one in vars(address).values() if isinstance(one, QueryParameter)})
CLASSES = tuple(f"{WORDS} {label}" for label in range(10))


@pytest.fixture
def hostile_classes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dataset whose classes were named by somebody else."""
    digits = dataclasses.replace(datasets.load_dataset("digits"), class_names=CLASSES)
    entry = dataclasses.replace(registry.ENTRIES["digits"], class_names=CLASSES)
    monkeypatch.setitem(registry.ENTRIES, "digits", entry)
    monkeypatch.setattr(datasets, "load_digits", lambda: digits)
    forget()
    yield
    forget()


def forget() -> None:
    """What the pages remember of earlier tests."""
    loaders.load_cached_dataset.clear()
    loaders.forget_test_sets()
    loaders.forget_runs()
    forget_jobs()


def run_of(state: str) -> Run:
    """A run in that state with a hostile name, note and message."""
    mine = {"updated": time.time(), "host": os.uname().nodename, "pid": os.getpid()}
    run = trained(name=NAME, state=state, message=WORDS, network="logistic", **mine)
    write_run_note(run.id, WORDS)
    return run


def sound(at: AppTest, *said: str) -> None:
    """The page says the words, and as nothing but text."""
    assert sorted(holes(at)) == []
    assert all(one in literal(at) for one in said)
    assert not [one.value for one in at.error if "fault of the program" in one.value]


@pytest.mark.parametrize("page", PAGES)
def test_hostile_words_in_the_address_stay_text(page: str) -> None:
    forget()
    words = dict.fromkeys(EVERY_WORD, LINK)
    words["run"] = trained(name=NAME).id
    sound(opened(page=page, **words))
    words["run"] = LINK
    sound(opened(page=page, **words), *([] if page in ("data", "devices", "parallel") else [LINK]))


@pytest.mark.parametrize(
    ("page", "state"),
    [
        *(("train", state) for state in ("training", "stopped", "failed", "diverged", "queued")),
        ("runs", "failed"),
        ("devices", "training"),
        ("parallel", "training"),
    ],
)
def test_what_a_run_is_called_and_says_of_itself_stays_text(page: str, state: str) -> None:
    forget()
    at = opened(run_of(state), page)
    sound(at, NAME, *([WORDS] if state in ("stopped", "failed", "diverged") else []))


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_what_a_regression_says_of_itself_stays_text(state: str) -> None:
    forget()
    solve = regression.create_regression(LbfgsConfig(iterations=30))
    (solve.path / "name.txt").write_text(NAME)
    known = dataclasses.replace(solve.status, state=state, message=WORDS)
    (solve.path / "status.json").write_text(json.dumps(dataclasses.asdict(known)))
    sound(opened(page="parallel", solve=solve.id), WORDS)


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_what_a_sweep_says_of_itself_stays_text(state: str) -> None:
    forget()
    sweep = sweeps.create_sweep(sweeps.SweepConfig())
    (sweep.path / "name.txt").write_text(NAME)
    known = dataclasses.replace(sweep.status, state=state, message=WORDS)
    (sweep.path / "status.json").write_text(json.dumps(dataclasses.asdict(known)))
    sound(opened(page="tune", sweep=sweep.id), NAME, WORDS)


def test_names_of_runs_and_classes_stay_text_on_every_view(
    hostile_classes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stressed, "OOD", dict.fromkeys(stressed.OOD, WORDS))
    run = run_of("finished")
    run_of("finished")  # to be compared with
    stressed.measured(stressed.checkpointed(run))
    at = opened(run, "inspect")
    for view in VIEWS:
        at.query_params["view"] = view
        at.query_params["picture"] = "confusion"
        assert not at.run().exception, view
        assert view in [one.value for one in at.get("button_group") if one.key.startswith("address_view")]
        sound(at)


@pytest.mark.parametrize("sure", [4.0, 40.0])
def test_names_of_classes_stay_text_among_the_predictions(sure: float, hostile_classes: None) -> None:
    run = trained(name=NAME, sure=sure)  # very sure, no image is wrong
    sound(opened(run, "predictions", show="wrong", class_=3, digit=3), WORDS)


def test_what_a_bench_result_names_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    write_bench_result(dataclasses.replace(BENCH, host=os.uname().nodename, dataset=WORDS))
    sound(opened(page="devices"), WORDS)


def test_a_config_that_cannot_be_read_is_named_as_text() -> None:
    forget()
    run = trained()
    config = json.loads((run.path / "config.json").read_text())
    config["dataset"] = WORDS
    (run.path / "config.json").write_text(json.dumps(config))
    for page in ("train", "runs"):
        sound(opened(run.id, page))
