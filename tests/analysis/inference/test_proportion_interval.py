import numpy as np
import pytest
from scipy import stats

from ensemble.analysis.inference.proportion_interval import wilson_interval


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (349, 360), (360, 360), (9912, 10000)])
@pytest.mark.parametrize("level", [0.68, 0.95, 0.99])
def test_agrees_with_scipy(count: int, n: int, level: float) -> None:
    theirs = stats.binomtest(count, n).proportion_ci(level, method="wilson")
    np.testing.assert_allclose(wilson_interval(count, n, level=level), theirs, atol=1e-12)


def test_holds_the_true_proportion_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0).binomial(360, 0.97, size=4000)
    held = [low <= 0.97 <= high for low, high in (wilson_interval(int(k), 360) for k in draws)]
    assert 0.93 < np.mean(held) < 0.97


@pytest.mark.parametrize(("count", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_refuses_what_is_no_proportion(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a proportion"):
        wilson_interval(count, n)
