"""What the Uncertainty view says about the split into aleatoric and epistemic."""

import numpy as np
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import ensemble
from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.members.entanglement import Detection, RankCorrelation, measure_detection
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_evaluation import evaluate_numbers
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.shift import read_ood_scores
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.uncertainty import describe_entanglement
from ensemble.wording import disagreement_steps, terms
from ensemble.wording.numeric_predictions import list_numeric_sentences
from tests.pages.ensembles import trained
from tests.pages.stressed import OOD, measured


def test_the_table_has_the_aurocs_of_errors_and_of_out_of_distribution_images() -> None:
    run = trained(sure=1.5)
    results = measured(run)
    view = ensemble.open_run(run.id).view("uncertainty").to_dict()
    table = next(each for each in view["tables"] if each["caption"].startswith("Detection"))
    assert [row[0] for row in table["rows"]] == ["errors", *OOD.values()]
    predictions = evaluate_epoch(run).predictions
    measures = compute_measures(predictions)
    scores = measures["aleatoric"], measures["epistemic"]
    for cell, score in zip(table["rows"][0][1:3], scores, strict=True):
        assert cell.startswith(f"{roc_auc_score(~predictions.right, score):.3f} (")
    known, noise = (read_ood_scores(run.path, key, results.tick) for key in ("known", "noise"))
    assert known
    assert noise
    is_noise = np.arange(1000) >= 500
    score = np.concatenate([known["epistemic"], noise["epistemic"]])
    assert table["rows"][1][2].startswith(f"{roc_auc_score(is_noise, score):.3f} (")
    said = " ".join(each["text"] for each in view["paragraphs"])
    assert "Rank correlation of aleatoric and epistemic over the digits:" in said
    assert terms.SPLIT_LIMIT in said


def test_an_epoch_that_was_not_measured_has_the_errors_alone() -> None:
    run = trained(sure=1.5)
    measured(run, epoch=2)
    view = ensemble.open_run(run.id).view("uncertainty", epoch=1).to_dict()
    table = next(each for each in view["tables"] if each["caption"].startswith("Detection"))
    assert [row[0] for row in table["rows"]] == ["errors"]


def test_without_errors_there_is_nothing_to_detect() -> None:
    run = trained(sure=60.0)
    assert evaluate_epoch(run).predictions.right.all()
    view = ensemble.open_run(run.id).view("uncertainty").to_dict()
    assert not any(each["caption"].startswith("Detection") for each in view["tables"])


def test_a_detector_is_called_better_only_if_the_interval_of_the_difference_shows_it() -> None:
    draws = np.random.default_rng(0)
    hits = np.arange(400) < 80
    noise = draws.normal(size=400)
    sharp, dull = noise + 3 * hits, draws.normal(size=400)
    cases = [
        (measure_detection("errors", sharp, dull, hits), "Aleatoric detects errors better than"),
        (measure_detection("errors", dull, sharp, hits), "Epistemic detects errors better than"),
        (measure_detection("errors", dull, noise, hits), ""),
    ]
    for detection, sentence in cases:
        assert isinstance(detection, Detection)
        said = describe_entanglement(None, [detection], "digit")
        assert said.startswith(sentence)
        assert bool(said) == bool(sentence)
    said = describe_entanglement(RankCorrelation(0.5, 0.4, 0.6), [], "image")
    assert "images: 0.50 (95 % interval: 0.40 to 0.60)" in said


def test_the_limit_of_the_split_is_stated_wherever_it_is_shown() -> None:
    assert len(terms.SPLIT_LIMIT) <= 160
    draws = np.random.default_rng(1)
    mean, levels = draws.normal(size=(3, 50)), np.array([0.1, 0.5, 0.9])
    forms: list[NumericEnsemble] = [
        NormalMixture(mean, np.ones_like(mean)),
        PointEnsemble(mean),
        QuantileEnsemble(levels, mean[:, None] + norm.ppf(levels)[:, None]),
    ]
    for predicted in forms:
        evaluation = evaluate_numbers(predicted, draws.normal(size=50), ["a", "b", "c"])
        parts = [each for each in list_numeric_sentences(evaluation) if "epistemic" in each]
        assert len(parts) == 1
        assert parts[0].endswith(terms.SPLIT_LIMIT)
    measures = compute_measures(evaluate_epoch(trained()).predictions)
    for plain in (True, False):
        said = disagreement_steps.describe_uncertainty_parts(measures, 0, plain)
        assert said.endswith(terms.SPLIT_LIMIT)
