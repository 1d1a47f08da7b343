import json

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.calibration import expected_calibration_error
from ensemble.analysis.quality.error_detection import estimate_error_detection
from ensemble.shift.shift_metrics import compute_shift_metrics
from tests.analysis.draws import distributions


@pytest.mark.parametrize("members", [1, 4])
def test_figures_agree_with_scikit_learn_and_scipy(members: int) -> None:
    probabilities = distributions(members, 200, 10)
    labels = np.random.default_rng(0).integers(0, 9, 200)  # There is no 9 among them.
    found = compute_shift_metrics(probabilities, labels)
    rows = [average_probabilities(probabilities), *probabilities.astype(float)]
    wanted: dict[str, list[float]] = {"accuracy": [], "nll": [], "ece": []}
    for row in rows:
        right = row.argmax(axis=1) == labels
        proper = row / row.sum(axis=1, keepdims=True)
        wanted["accuracy"].append(accuracy_score(labels, row.argmax(axis=1)))
        wanted["nll"].append(log_loss(labels, proper, labels=range(10)))
        wanted["ece"].append(expected_calibration_error(row.max(axis=1), right))
    for name, values in wanted.items():
        ours = [found[f"ensemble_{name}"], *found[f"member_{name}"]]
        assert ours == pytest.approx(values, rel=1e-6)
    total = entropy(rows[0], axis=1).mean()
    within = np.mean([entropy(row, axis=1).mean() for row in rows[1:]])
    assert found["mean_entropy"] == pytest.approx(total, rel=1e-6)
    assert found["mean_aleatoric"] == pytest.approx(within, rel=1e-6)
    assert found["mean_epistemic"] == pytest.approx(total - within, abs=1e-6)


def test_figures_are_ready_for_json() -> None:
    found = compute_shift_metrics(distributions(3, 20, 4), np.arange(20) % 4)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert len(found["member_nll"]) == 3


def test_members_that_are_certain() -> None:
    """Two certain members that never agree: a coin's entropy, all of it disagreement."""
    labels = np.zeros(10, int)
    sure = np.stack([np.eye(2)[labels], np.eye(2)[1 - labels]]).astype(np.float32)
    found = compute_shift_metrics(sure, labels)
    assert found["mean_epistemic"] == pytest.approx(np.log(2))
    assert found["mean_aleatoric"] == 0
    assert found["member_accuracy"] == [1, 0]
    assert found["member_nll"] == [0, pytest.approx(87.3, abs=0.1)]


def test_no_example_is_refused() -> None:
    with pytest.raises(ValueError, match="no example"):
        compute_shift_metrics(np.zeros((2, 0, 3)), np.zeros(0, int))


def test_trust_is_measured_on_the_averaged_probabilities_with_the_threshold_of_the_clean_images():
    draws = np.random.default_rng(4)
    labels = draws.integers(10, size=600)
    logits = draws.normal(0, 1, (3, 600, 10))
    logits[:, np.arange(600), labels] += draws.normal(4, 2.5, 600)
    clean = softmax(logits, axis=-1)
    before = compute_shift_metrics(clean, labels)
    shifted = softmax(2 * np.roll(logits, 1, axis=-1) + logits, axis=-1)
    found = compute_shift_metrics(shifted, labels, before["answer_threshold"])
    average = shifted.mean(axis=0)
    confidence, right = average.max(axis=1), average.argmax(axis=1) == labels
    assert found["mean_confidence"] == pytest.approx(confidence.mean())
    low, high = found["confidence_gap"]
    assert low < confidence.mean() - right.mean() < high
    assert found["error_auroc"][0] == pytest.approx(roc_auc_score(~right, 1 - confidence))
    answered = confidence >= before["answer_threshold"]
    assert (found["answered"], found["answered_wrong"]) == (answered.sum(), (answered & ~right).sum())
    # On the clean images at most 1 % of the answers are wrong, and one more would be too many.
    assert before["answered_wrong"] <= 0.01 * before["answered"]
    assert before["answered"] < 600


def test_copies_count_once_in_every_interval() -> None:
    draws = np.random.default_rng(5)
    labels = draws.integers(4, size=400)
    logits = draws.normal(0, 1, (3, 400, 4))
    logits[:, np.arange(400), labels] += draws.normal(1.5, 1.5, 400)
    made, groups = softmax(logits, axis=-1), np.arange(400).repeat(5)
    often, their = made.repeat(5, axis=1), labels.repeat(5)
    once = compute_shift_metrics(made, labels, 0.6)
    grouped = compute_shift_metrics(often, their, 0.6, groups)
    naive = compute_shift_metrics(often, their, 0.6)
    assert (once["groups"], grouped["groups"], naive["groups"]) == (None, 400, None)
    for name in ("confidence_gap", "error_auroc", "answered_error"):
        widths = [found[name][-1] - found[name][-2] for found in (once, grouped, naive)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1), name
        assert widths[2] < 0.6 * widths[0], name


def test_few_groups_with_a_wrong_answer_leave_an_auroc_as_open_as_one_answer_a_group() -> None:
    right = np.arange(300) % 30 > 5
    uncertainty = np.where(right, 0.1, 0.9) + np.linspace(0, 0.01, 300)
    patients = np.arange(300) // 30
    by_patient = estimate_error_detection(uncertainty, right, patients)
    alone = estimate_error_detection(uncertainty, right)
    assert by_patient
    assert alone
    assert by_patient.value == alone.value
    assert by_patient.low < alone.low - 0.05
