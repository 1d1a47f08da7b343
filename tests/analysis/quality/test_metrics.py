"""The list of metrics: each is there once, keeps to its range, and knows which way is better."""

import numpy as np
import pytest

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.metrics import METRICS, METRICS_BY_NAME, ClassifierAnswers, Metric
from ensemble.analysis.quality.quality import measure_qualities, measure_quality
from ensemble.api.predictions import Predictions
from ensemble.comparison.group_metrics import COMPARISON_METRICS as COMPARED
from ensemble.wording import terms
from ensemble.wording.verdicts import ensemble_gain as words
from tests.analysis.cases import Case, cases, labelled

CASES = cases()


def test_names_and_terms_are_there_once() -> None:
    assert len(METRICS_BY_NAME) == len(METRICS) == len({metric.term for metric in METRICS})


@pytest.mark.parametrize("metric", METRICS, ids=METRICS_BY_NAME)
def test_the_perfect_classifier_is_at_the_better_end(metric: Metric) -> None:
    labels = np.array([0, 1, 2, 1])
    best = metric.measure(ClassifierAnswers.from_probabilities(np.eye(3)[labels], labels))
    assert best == (metric.most if metric.better > 0 else metric.least)


@pytest.mark.parametrize("metric", METRICS, ids=METRICS_BY_NAME)
def test_who_is_always_sure_and_wrong_is_at_the_worse_end(metric: Metric) -> None:
    labels = np.array([0, 1, 2, 1])
    worst = metric.measure(ClassifierAnswers.from_probabilities(np.eye(3)[(labels + 1) % 3], labels))
    end = metric.least if metric.better > 0 else metric.most
    if np.isinf(end):
        assert worst > 80  # nats: that of the smallest float32
    else:  # Smoothing takes a little off the end.
        assert worst == pytest.approx(end, abs=0.001)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("metric", METRICS, ids=METRICS_BY_NAME)
def test_a_metric_keeps_to_its_range_and_of_each_example_is_what_it_is_the_mean_of(metric: Metric, case: Case) -> None:
    probabilities, labels = case
    answers = ClassifierAnswers.from_probabilities(probabilities[0], labels)
    value = metric.measure(answers)
    assert metric.least <= value <= metric.most
    assert measure_quality(probabilities[0], labels)[metric.name] == value
    if metric.example_function:
        alone = [
            metric.measure(ClassifierAnswers.from_probabilities(probabilities[0][n : n + 1], labels[n : n + 1]))
            for n in range(len(labels))
        ]
        assert np.mean(alone) == pytest.approx(value, abs=1e-12)


def test_one_that_is_of_no_single_classifier_is_refused() -> None:
    gain = next(metric for metric in COMPARED if metric.name == "gain")
    with pytest.raises(ValueError, match="gain is no metric of a single classifier"):
        gain.measure(ClassifierAnswers.from_probabilities(np.eye(2), np.arange(2)))


@pytest.mark.parametrize("metric", METRICS, ids=METRICS_BY_NAME)
def test_tables_files_terms_and_for_main_ones_summaries_and_comparisons_have_it(metric: Metric) -> None:
    probabilities, labels = labelled(3, 90, 10)
    found = measure_qualities(evaluate_predictions(probabilities, labels))
    exact, read = words.tabulate_exact_metrics(found), words.tabulate_formatted_metrics(found)
    assert exact[metric.term][0] == found.ensemble[metric.name]
    assert metric.term in read
    assert terms.TERMS_BY_NAME[metric.term].gloss == metric.gloss
    summary = Predictions.from_arrays(probabilities, labels).summary()
    assert (metric.name in summary) == metric.is_main == (metric in COMPARED)
