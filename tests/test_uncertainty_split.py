"""The benchmark of the split measures what it says, and docs/uncertainty.md prints its figures."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy

from benchmarks.training import uncertainty_split
from ensemble.analysis.numeric.normal_mixture import NormalMixture

REPO = Path(__file__).resolve().parent.parent
FIGURES = json.loads((REPO / "benchmarks/results/uncertainty_split.json").read_text("utf-8"))
LINES: list[dict[str, Any]] = FIGURES["lines"]
GAP_FIGURES = ("epistemic", "error", "gap_epistemic", "gap_error", "gap_rise")


def build_perfect_members(members: int = 3) -> tuple[np.ndarray, uncertainty_split.LabeledPoints]:
    """Members that all say the true probabilities of the test points."""
    points = uncertainty_split.draw_points(0)
    truth = uncertainty_split.compute_class_truth(points.test_images.reshape(-1, 2) / 255)
    return np.tile(np.stack([1 - truth, truth], axis=-1), (members, 1, 1)), points


def test_labels_follow_the_true_probabilities() -> None:
    drawn = [uncertainty_split.draw_points(seed) for seed in range(20)]
    truth = [uncertainty_split.compute_class_truth(points.train_images.reshape(-1, 2) / 255) for points in drawn]
    residuals = np.concatenate([points.train_labels - shares for points, shares in zip(drawn, truth, strict=True)])
    variance = float(np.mean([(shares * (1 - shares)).mean() for shares in truth]))
    assert abs(residuals.mean()) < 4 * np.sqrt(variance / len(residuals))
    assert residuals.var() == pytest.approx(variance, rel=0.05)


def test_members_that_know_the_truth_have_the_true_noise_and_no_error() -> None:
    probabilities, points = build_perfect_members()
    found = uncertainty_split.measure_class_split(probabilities, points)
    wanted = entropy(probabilities[0], axis=1).mean()
    assert found["noise"] == pytest.approx(wanted)
    assert found["aleatoric"] == pytest.approx(wanted, rel=1e-5)
    assert found["epistemic"] == pytest.approx(0, abs=1e-6)
    assert found["error"] == pytest.approx(0, abs=1e-6)


def test_members_that_all_guess_have_the_divergence_from_the_truth_as_their_error() -> None:
    probabilities, points = build_perfect_members()
    draws = np.random.default_rng(0)  # far below what matters, so that ranks exist
    guesses = 0.5 + 1e-6 * draws.normal(size=probabilities.shape)
    guesses /= guesses.sum(axis=-1, keepdims=True)
    found = uncertainty_split.measure_class_split(guesses, points)
    divergence = entropy(probabilities[0], guesses[0], axis=1).mean()
    assert found["error"] == pytest.approx(divergence, rel=1e-4)
    assert found["aleatoric"] == pytest.approx(np.log(2), rel=1e-5)


def test_the_error_of_numbers_is_of_the_mean_of_all_members() -> None:
    at = np.linspace(0, 1, 50)
    wave = uncertainty_split.compute_wave(at)
    tilt = 1e-6 * at  # so that ranks exist
    mixture = NormalMixture(np.stack([wave + 0.5 + tilt, wave - 0.1]), np.full((2, 50), 0.3 + tilt))
    found = uncertainty_split.measure_number_split(mixture, at, np.full(50, 0.2))
    assert found["error"] == pytest.approx(0.2**2, rel=1e-4)
    assert found["epistemic"] == pytest.approx(0.3**2, rel=1e-4)
    assert found["aleatoric"] == pytest.approx(0.3, rel=1e-4)
    assert found["noise"] == pytest.approx(0.2**2)


def test_bootstrap_members_of_numbers_learn_from_rows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncertainty_split, "MEMBERS", 2)
    monkeypatch.setattr(uncertainty_split, "NUMBER_EPOCHS", 2)
    x = np.linspace(0, 1, 200)
    y, network = uncertainty_split.compute_wave(x), uncertainty_split.NumberNetwork(4)
    alone, resampled = (uncertainty_split.train_numbers(x, y, x, network, bootstrap, 0) for bootstrap in (False, True))
    again = uncertainty_split.train_numbers(x, y, x, network, False, 0)
    np.testing.assert_array_equal(alone.mean, again.mean)
    assert (alone.mean != resampled.mean).any()
    assert np.ptp(alone.mean, axis=0).max() > 0.01


def read_rows(first_cell: str) -> list[list[str]]:
    """The cells of the page's rows whose first one matches."""
    text = (REPO / "docs" / "uncertainty.md").read_text("utf-8").replace("−", "-")
    lines = [line for line in text.splitlines() if re.match(rf"\| ({first_cell}) \|", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_shows_the_figures_that_the_benchmark_printed() -> None:
    by_key = {(line["dataset"], line["network"], line["members"]): line for line in LINES}
    names = ("aleatoric", "noise", "epistemic", "error", "entanglement")
    # The table of datasets has their names in code, so that its rows do not match.
    rows = read_rows("classes|gap|bias")
    assert [tuple(row[:3]) for row in rows] == list(by_key)
    for row in rows:
        line = by_key[row[0], row[1], row[2]]
        assert row[3:8] == [f"{line[name]:.3g}" for name in names], row
        factor = line.get("factor")
        error = line.get("factor_standard_error")
        assert row[8] == ("–" if factor is None else f"{factor:.3g} ± {error:.2g}")
    gap_rows = read_rows("width 8|width 50|width 200")
    assert len(gap_rows) == 6
    for row in gap_rows:
        line = by_key["gap", row[0], row[1]]
        cells = [f"{line[name]:.3g}" for name in GAP_FIGURES]
        assert row[2:] == [*cells[:-1], f"{cells[-1]} times"]


def test_every_figure_in_the_text_of_the_page_was_printed() -> None:
    text = (REPO / "docs" / "uncertainty.md").read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    printed = {f"{value:.3g}" for line in LINES for value in line.values() if isinstance(value, float)}
    for section in sections:
        if re.match(r"[123]\. ", section):
            prose = "\n".join(line for line in section.splitlines() if "|" not in line)
            figures = re.findall(r"\b\d+\.\d+\b", prose)
            assert len(figures) > 3
            assert {*figures} <= printed, {*figures} - printed
