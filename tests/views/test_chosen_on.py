"""On what views fit and choose: on the images that a run holds out, if it holds some."""

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ensemble import datasets
from ensemble.runs import Run
from ensemble.runs.history import write_predictions
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.storage.atomic_files import write_json
from ensemble.ui.predictions.validation_source import find_validation_source
from ensemble.wording.verdicts import selection_basis
from tests.pages.ensembles import held_out, probabilities, trained
from tests.views.summaries import find_table, read_sentences, summarize

SHARE = 0.2  # of the 1,297 training images of Digits: 259


def averaged(run: Run) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The ensemble's probabilities and labels: of the images held out, and of the test images."""
    held, labels = held_out(run, 2, 3.0)
    test = probabilities("digits", run.config.members, 2, 4.0)
    truth = datasets.load_dataset("digits").test_labels
    return held.astype(float).mean(axis=0), labels, test.astype(float).mean(axis=0), truth


def nll(made: NDArray[Any], labels: NDArray[Any]) -> float:
    return float(-np.log(made[np.arange(len(labels)), labels]).mean())


def test_a_temperature_is_fitted_on_them_and_judged_on_all_test_images() -> None:
    run = trained(validation=SHARE)
    held, labels, _, _ = averaged(run)

    def loss(t: float) -> float:
        powers = held ** (1 / t)
        return nll(powers / powers.sum(axis=1, keepdims=True), labels)

    best = minimize_scalar(loss, bounds=(0.1, 10), method="bounded").x
    summary = summarize(run, "calibration")
    assert "Fitted on the 259 validation digits, judged on the 500 test digits." in summary.to_text()
    found = find_table(summary, "figure")["after averaging"][0]
    assert float(found) == float(f"{best:.3g}")
    said = summarize(trained(), "calibration").to_text()
    assert "Fitted on one half of the test digits (250), judged on the other 250: figures" in said


def test_weights_are_fitted_on_them_and_judged_on_all_test_images() -> None:
    run = trained(validation=SHARE)
    held, labels = held_out(run, 2, 3.0)
    own = held[:, np.arange(len(labels)), labels].astype(float)
    weight = np.full(3, 1 / 3)
    for _ in range(20_000):  # plain EM
        weight = (weight[:, None] * own / (weight @ own)).mean(axis=1)
    mixed = np.einsum("m,mnc->nc", weight, probabilities("digits", 3, 2, 4.0).astype(float))
    truth = datasets.load_dataset("digits").test_labels
    summary = summarize(run, "combining")
    assert "fitted on the validation images (259), all four ways are judged on the test" in summary.to_text()
    row = find_table(summary, "rule").iloc[3]
    assert row["NLL"] == f"{nll(mixed, truth):#.3g}"
    assert "fitted on one half of the test images (250)" in summarize(trained(), "combining").to_text()


def test_the_best_committee_is_chosen_on_them_and_shown_with_its_test_figures() -> None:
    run = trained(validation=SHARE, members=4)
    (held, labels), truth = held_out(run, 2, 3.0), datasets.load_dataset("digits").test_labels
    test = probabilities("digits", 4, 2, 4.0)

    def of(made: NDArray[Any], who: tuple[int, ...], truth: NDArray[Any]) -> float:
        return nll(made[list(who)].astype(float).mean(axis=0), truth)

    summary = summarize(run, "members", alternative="members")
    rows, differ = find_table(summary, "size"), 0
    for size in (1, 2, 3):
        every = list(combinations(range(4), size))
        best = min(every, key=lambda who: of(held, who, labels))
        differ += best != min(every, key=lambda who: of(test, who, truth))
        assert rows["members"][size - 1] == ", ".join(str(m + 1) for m in best)
        assert rows["NLL"][size - 1] == f"{of(test, best, truth):#.3g}"
    assert differ, "else nothing here is tested"
    assert selection_basis.CHOSEN_ON_VALIDATION in summary.to_text()
    assert selection_basis.CHOSEN_ON_TEST not in summary.to_text()
    assert selection_basis.CHOSEN_ON_TEST in summarize(trained(), "members", alternative="members").to_text()


def test_a_threshold_for_errors_is_found_on_them_and_judged_on_all_test_images() -> None:
    run = trained(validation=SHARE)
    held, labels, test, truth = averaged(run)
    sure, wrong = held.max(axis=1), held.argmax(axis=1) != labels
    allowed = [t for t in sure if wrong[sure >= t].mean() <= 0.02]
    kept = test.max(axis=1) >= min(allowed)
    bad = int((test.argmax(axis=1) != truth)[kept].sum())
    assert 0 < kept.sum() < 500
    said = summarize(run, "selective", error="2").to_text()
    assert "set on the 259 validation digits" in said
    assert f"answers {100 * kept.mean():.1f} % of the digits" in said
    assert f"is wrong on {bad} of these {kept.sum()}, {100 * bad / kept.sum():.2f} %" in said
    assert "set on one half of the test set" in summarize(trained(), "selective", error="2").to_text()


def test_sets_are_calibrated_on_them_and_judged_on_all_test_images() -> None:
    run = trained(validation=SHARE)
    held, labels, test, truth = averaged(run)
    scores = np.sort(1 - held[np.arange(len(labels)), labels])
    limit = scores[int(np.ceil(260 * 0.9)) - 1]
    hit = (1 - test <= limit)[np.arange(500), truth].mean()
    said = summarize(run, "conformal", miss="10", sets="lac").to_text()
    assert f"hold the right digit {100 * hit:.1f} % of the time" in said
    assert "Calibrated on the 259 validation digits, judged on the 500 test digits" in said


def test_the_best_member_is_chosen_on_them_if_there_are_some() -> None:
    run = trained(validation=SHARE)
    held, labels = held_out(run, 2, 3.0)
    best = int((held.argmax(axis=-1) == labels).sum(axis=1).argmax())
    test = probabilities("digits", 3, 2, 4.0)[best].argmax(axis=-1)
    right = int((test == datasets.load_dataset("digits").test_labels).sum())
    said = read_sentences(summarize(run, "answer"))
    assert f"The member that is best on the validation images gets {right:,} (the ensemble" in said
    assert "it was picked on these very digits" in read_sentences(summarize(trained(), "answer"))


@pytest.mark.parametrize("validation", [0.0, 0.1])
def test_the_best_member_of_the_images_held_out_need_not_be_that_of_the_test_images(validation: float) -> None:
    """Member 3 is the best of those held out and gets fewest test images; member 1 the most."""
    run = trained(members=3, epochs=1, validation=validation)
    labels = datasets.load_dataset("digits").test_labels
    right = (480, 440, 400)
    write_predictions(run.path, 1, getting(labels, right))
    if validation:
        held = held_out(run, 1, 1.0)[1]
        write_predictions(run.path, 1, getting(held, (60, 80, 100)), "validation")
        wanted = "The member that is best on the validation images gets 400 (the ensemble "
    else:
        wanted = "The best single member gets 480 (the ensemble "
    said = read_sentences(summarize(run, "answer"))
    assert wanted in said
    assert ("nobody knows beforehand which it is" in said) == (not validation)


def getting(labels: Any, right: tuple[int, ...]) -> Any:
    """(M, N, 10): each member gets so many of the first images right, and takes others for next."""
    made = np.full((len(right), len(labels), 10), 0.01, np.float32)
    for member, count in zip(made, right, strict=True):
        said = np.where(np.arange(len(labels)) < count, labels, (labels + 1) % 10)
        member[np.arange(len(labels)), said] = 0.91
    return made


def test_an_ece_of_combinations_is_shown_with_what_chance_alone_would_give() -> None:
    run = trained()
    truth = datasets.load_dataset("digits").test_labels
    sure = probabilities("digits", 3, 2, 4.0).astype(float).mean(axis=0).max(axis=1)

    def by_chance(sure: NDArray[Any]) -> float:
        """The mean ECE of answers that are right as often as they say, drawn one by one."""
        place = np.minimum((sure * 15).astype(int), 14)
        right = np.random.default_rng(1).random((2000, len(sure))) < sure
        gaps = [np.bincount(place, one - sure, 15) for one in right]
        return float(np.abs(gaps).sum(axis=1).mean() / len(sure))

    other = np.ones(500, bool)
    other[np.argsort(truth, kind="stable")[::2]] = False  # the half that is judged
    for view, part in (("members", np.ones(500, bool)), ("combining", other)):
        said = summarize(run, view, figure="ece").to_text()
        found = re.search(r"A perfectly calibrated ensemble would show (0\.\d+)", said)
        assert found, view
        assert abs(float(found[1]) - by_chance(sure[part])) < 0.001


def test_nothing_is_fitted_on_the_images_that_members_were_chosen_on() -> None:
    run = trained(validation=SHARE)
    assert evaluate_validation_predictions(run, 2) is not None
    assert find_validation_source(run, 2) is not None
    sources = [{"run_id": "other", "member": m + 1, "epoch": 2, "settings": {}} for m in range(3)]
    write_json(run.path / SOURCES_FILE, {"members": sources})
    assert evaluate_validation_predictions(run, 2) is None
    assert find_validation_source(run, 2) is None
    assert "Fitted on one half of the test digits (250)" in summarize(run, "calibration").to_text()
    assert selection_basis.CHOSEN_MEMBERS_SENTENCE in summarize(run, "answer").evidence
