"""SmoothECE equals that of its authors' own package, and says what it is meant to."""

import warnings

import numpy as np
import pytest

from ensemble.analysis.quality.smooth_ece import smooth_calibration_error


def answers(n: int, off: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """So many answers that are right less often by `off` than they say."""
    rng = np.random.default_rng(seed)
    sure = rng.beta(4, 1, n)
    return sure, rng.random(n) < np.clip(sure - off, 0, 1)


@pytest.mark.parametrize(("n", "off"), [(1, 0.0), (12, 0.3), (500, 0.0), (500, 0.1), (3_000, 0.0), (3_000, 0.6)])
def test_it_equals_relplots(n: int, off: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the other package does on import is its own
        from relplot import smECE
    sure, right = answers(n, off)
    assert smooth_calibration_error(sure, right) == pytest.approx(smECE(sure, right.astype(float)), abs=1e-12)


def test_at_the_ends_of_the_scale_it_is_what_everybody_would_say() -> None:
    sure, right = np.ones(200), np.ones(200, bool)
    assert smooth_calibration_error(sure, right) == 0
    assert smooth_calibration_error(sure, ~right) == pytest.approx(1, abs=0.01)


def test_more_answers_of_the_calibrated_come_nearer_to_nothing() -> None:
    few, many = (smooth_calibration_error(*answers(n, 0.0)) for n in (100, 20_000))
    assert many < few
    assert many < 0.01
    assert smooth_calibration_error(*answers(20_000, 0.2)) == pytest.approx(0.2, abs=0.02)
