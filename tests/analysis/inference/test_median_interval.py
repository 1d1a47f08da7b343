import numpy as np
import pytest
from scipy import stats

from ensemble.analysis.inference.median_interval import median_interval


@pytest.mark.parametrize("n", [6, 7, 20, 99, 500, 5_000])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_ranks_are_those_of_the_binomial_law(n: int, level: float) -> None:
    values = np.random.default_rng(n).exponential(size=n)
    k = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    ranked = np.sort(values)
    expected = (ranked[k - 1], ranked[-k]) if k else (0.0, np.inf)
    assert median_interval(values, level=level) == expected


def test_too_few_values_leave_everything_open() -> None:
    assert median_interval(np.ones(5)) == (0.0, np.inf)
