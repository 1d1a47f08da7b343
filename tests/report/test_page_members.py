"""A report whose members answer: what it may do, what it holds once, and what its script knows."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.analysis.quality.conformal import METHODS, fit_conformal_threshold
from ensemble.analysis.quality.coverage import MISS_RATE
from ensemble.architectures import BUILTIN_NETWORK_NAMES, NETWORKS_VARIABLE
from ensemble.cli.program import main
from ensemble.exchange.capsule import render_run_capsules
from ensemble.jobs.status import write_status
from ensemble.recognition import rejection_threshold
from ensemble.recognition.classifier import open_classifier
from ensemble.report import page_classifier, render_report, template
from ensemble.report.page_assets import join_scripts
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.pages.ensembles import trained
from tests.pages.members import askable
from tests.report.pages import Page
from tests.report.test_page import policy

OWN_NETWORK = "tests.engine.networks.modules:Careful"
MOST_SCRIPT_BYTES = 200_000  # of all that is there to have the members answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runs of all tests in this file are."""
    return tmp_path_factory.mktemp("asked")


@pytest.fixture(autouse=True)
def runs_of_one_test(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All of them read the one run that is made once."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> runs.Run:
    """A run of three members that can be asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return askable(members=3, epochs=2, name="<b>&")


@pytest.fixture(scope="module")
def text(run: runs.Run, folder: Path) -> str:
    """Its report, with members."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return render_report([run], with_members=True)


@pytest.fixture(scope="module")
def plain_text(run: runs.Run, folder: Path) -> str:
    """Its report, without members."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return render_report([run])


@pytest.fixture
def page(text: str) -> Page:
    return Page(text)


def test_a_page_that_answers_may_start_workers_and_nothing_else_more(page: Page, plain_text: str) -> None:
    rules, plain = policy(page), policy(Page(plain_text))
    assert rules.pop("worker-src") == ["blob:"]
    assert "worker-src" not in plain
    assert len(rules.pop("script-src")) == len(plain.pop("script-src")) == 2
    assert rules == plain
    assert rules["default-src"] == ["'none'"]
    assert not re.search(r"\beval\(|new Function|WebAssembly|fetch\(|XMLHttp", all_scripts())


def all_scripts() -> str:
    return join_scripts((*template.PAGE_SCRIPTS, *template.SHEET_SCRIPTS, *template.WORKER_SCRIPTS))


def test_a_report_without_members_holds_nothing_of_it(plain_text: str) -> None:
    page = Page(plain_text)
    assert not [one for one in page.elements if (one.attributes.get("id") or "").startswith("try")]
    assert "Try it" not in page.said
    assert template.SHEET_SCRIPTS
    assert "unpackText" in page.all("script")[2].text
    assert "try-" not in "".join(one.text for one in page.all("script", "style"))


def test_weights_stand_in_it_once_and_all_else_is_small(run: runs.Run, text: str, plain_text: str) -> None:
    (capsule,) = render_run_capsules([run], with_members=True)
    (without,) = render_run_capsules([run])
    more = len(text) - len(plain_text) - (len(capsule) - len(without))
    assert 0 < more < MOST_SCRIPT_BYTES
    assert len(plain_text) - len(without) < 8e6


def test_what_its_script_knows_is_what_the_run_says(run: runs.Run, page: Page) -> None:
    (known,) = json.loads(page.packed("classifiers"))
    epoch = evaluate_epoch(run)
    found = fit_conformal_threshold(epoch.predictions.averaged, epoch.predictions.labels, MISS_RATE, METHODS[0])
    assert known["sets"]["threshold"] == found.threshold
    assert (known["sets"]["method"], known["sets"]["level"]) == (METHODS[0], "95 %")
    assert {name: known[name] for name in ("run", "network", "epoch", "members", "shape")} == {
        "run": run.id,
        "network": "mlp",
        "epoch": 2,
        "members": [0, 1, 2],
        "shape": [28, 28, 1],
    }
    assert (known["ground"], known["written"], known["rejection"]) == ("dark", True, None)
    assert known["title"] == "<b>&"
    assert "networks.js" not in page.packed("worker")
    assert page.packed("worker") == join_scripts(template.WORKER_SCRIPTS)


def test_sets_are_calibrated_on_images_held_out_where_there_are_some() -> None:
    held = askable(members=2, epochs=1, validation=0.1)
    found = page_classifier.find_page_sets(held, 1)
    fitted = evaluate_epoch(held).fit
    assert found
    assert fitted
    wanted = fit_conformal_threshold(fitted.averaged, fitted.labels, MISS_RATE, METHODS[0])
    assert found.threshold == wanted.threshold
    assert "validation" in found.note


def test_rejection_is_that_of_the_members_own_answers_where_it_was_calibrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))  # nothing was calibrated in it before
    monkeypatch.setattr(rejection_threshold, "NON_DIGITS_PER_KIND", 12)
    made = askable(members=2, epochs=1)
    assert page_classifier.find_page_rejection(made, 1) is None
    classifier = open_classifier(made.id, 1)
    classifier.compute_rejection_threshold()  # all of it is kept then
    found = page_classifier.find_page_rejection(made, 1)
    assert found
    assert (found.measure, found.sentence) == ("energy", "Not a digit, or not one I know")
    assert classifier._judge
    held_out = classifier._judge.rejection.rarities[0].sorted_values
    assert 0.02 < (held_out > found.threshold).mean() <= 0.03


def test_only_members_that_remain_answer() -> None:
    made = askable(members=3, epochs=1)
    write_status(made.path, replace(made.status, set_aside={1: 1}))
    made = runs.find_run(made.id)
    with np.load(made.path / "predictions/epoch-0001.npz") as file:
        probabilities = file["probabilities"]
    probabilities[1] = np.nan
    runs.history.write_predictions(made.path, 1, probabilities)
    found = page_classifier.build_page_classifier(made)
    assert list(found.members) == [0, 2]
    assert list(found.member_names) == ["member 1", "member 3"]
    assert len(found.hues) == 2


def test_several_runs_are_told_apart_and_a_network_of_ones_own_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [askable(members=1, epochs=1) for _ in range(2)]
    known = json.loads(Page(render_report(every, with_members=True)).packed("classifiers"))
    assert len({one["title"] for one in known}) == 2
    assert set(page_classifier.PAGE_NETWORKS) == set(BUILTIN_NETWORK_NAMES)
    monkeypatch.setenv(NETWORKS_VARIABLE, OWN_NETWORK)
    own = trained(members=1, epochs=1, network=OWN_NETWORK)
    assert page_classifier.build_page_classifiers([own]) == []


def test_the_command_says_that_weights_are_rounded_and_halves_them(
    run: runs.Run, text: str, plain_text: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.html"
    words = ["report", run.id, "--out", str(path), "--weights", "float16"]
    bare = CliRunner().invoke(main, words)
    assert bare.exit_code == 2
    assert "add --with-members" in bare.stderr
    called = CliRunner().invoke(main, [*words, "--with-members"])
    assert json.loads(called.stdout.splitlines()[-1])["weights"] == "float16"
    assert "rounded to float16" in called.stderr
    halved = path.read_text("utf-8")
    assert "parameters rounded to float16" in halved
    assert len(halved) - len(plain_text) < 0.6 * (len(text) - len(plain_text))
