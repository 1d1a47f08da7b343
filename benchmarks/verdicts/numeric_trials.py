"""One set of predicted numbers drawn, one claim made: whether it is wrong of the population.

Members err independently and alike around the truth, whose noise is normal, lognormal, or normal
with one error in fifty ten times as large. `loss` is how much worse the one that is really worse
is, in standard deviations of a member's own error; 0 if there is no difference, so that any claim
is wrong.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts.trials import Setting, Told, Trial
from ensemble.analysis.inference.crossed_means import CrossedMean
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_comparison import compare_losses, estimate_member_variances
from ensemble.analysis.numeric.numeric_diagnosis import (
    compare_with_mean_member,
    compute_target_scores,
    find_suspect_targets,
    leave_out_members,
    measure_mean_error,
    measure_pit_histogram,
)
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage
from ensemble.analysis.numeric.point_ensemble import PointEnsemble

Doubles = NDArray[np.float64]
OWN = 0.5  # the standard deviation of a member's own error
NOISES = {"normal": 1.0, "lognormal": (np.e - 1) * np.e, "outliers": 0.98 + 2.0}  # variances
LEVEL = 0.05  # below which a p is significant
RUNS, GROUP_SIZE, COEFFICIENTS = 21, 20, 4


def draw_noise(kind: str, n: int, rng: np.random.Generator) -> Doubles:
    """Draw N errors of mean 0 that no member can know."""
    noise = rng.normal(size=n)
    if kind == "lognormal":
        return np.asarray(np.exp(noise) - np.exp(0.5))
    return noise * np.where(rng.random(n) < 0.02, 10, 1) if kind == "outliers" else noise


def _draw_members(setting: Setting, rng: np.random.Generator, extra: float = 0.0) -> PointEnsemble:
    spread = np.full((setting.members, 1), OWN)
    spread[0] += extra * OWN
    return PointEnsemble(spread * rng.normal(size=(setting.members, setting.n)))


def interval_of_rmse_gain(kind: str, setting: Setting, rng: np.random.Generator) -> Told:
    """The interval of the ensemble's RMSE as a share of a member's holds the true share."""
    found = compare_with_mean_member(_draw_members(setting, rng), draw_noise(kind, setting.n, rng))
    variance = NOISES[kind]
    truth = np.sqrt((variance + OWN**2 / setting.members) / (variance + OWN**2))
    return Told(found.high < 1, not found.low <= truth <= found.high)


def harmful_member(kind: str, setting: Setting, rng: np.random.Generator) -> Told:
    """A member does harm: wrong unless it is the first, and that one is really worse."""
    ensemble = _draw_members(setting, rng, 10 * setting.loss)
    found = min(leave_out_members(ensemble, draw_noise(kind, setting.n, rng)), key=lambda each: each.ratio.ratio)
    claimed = found.ratio.high < 1
    return Told(claimed, claimed and not (setting.loss and not found.member))


def _compare_squared_errors(
    first: PointEnsemble, second: PointEnsemble, targets: Doubles, *, of_settings: bool = False
) -> CrossedMean:
    own, others = ((targets - each.compute_mean()) ** 2 for each in (first, second))
    variances = [estimate_member_variances(each, targets).get("squared_error") for each in (first, second)]
    known = [variance for variance in variances if variance and of_settings]
    return compare_losses(own, others, run_variances=known)


def better_numbers(kind: str, setting: Setting, rng: np.random.Generator) -> Told:
    """One run has a lower RMSE than the other; with a loss it is the first that is worse."""
    targets = draw_noise(kind, setting.n, rng)
    worse = PointEnsemble((1 + setting.loss) * _draw_members(setting, rng).mean)
    found = _compare_squared_errors(worse, _draw_members(setting, rng), targets)
    claimed = found.p < LEVEL
    return Told(claimed, claimed and not (setting.loss and found.mean < 0))


def some_of_many_runs(setting: Setting, rng: np.random.Generator) -> Told:
    """Of 20 runs that are as good as the baseline one is said to differ."""
    targets = rng.normal(size=setting.n)
    runs = [_draw_members(setting, rng) for _ in range(RUNS)]
    p_values = [_compare_squared_errors(run, runs[0], targets).p for run in runs[1:]]
    claimed = bool(adjust_p_holm(p_values).min() < LEVEL)
    return Told(claimed, claimed)


def settings_of_numbers(setting: Setting, rng: np.random.Generator) -> Told:
    """The settings of two runs differ: runs that differ only in the start of their members."""
    targets, x = rng.normal(size=setting.n), rng.uniform(-1, 1, setting.n)
    curves = np.stack([x**power for power in range(COEFFICIENTS)])
    bends = 0.3 * rng.normal(size=(2, setting.members, COEFFICIENTS))
    first, second = (PointEnsemble(each @ curves) for each in bends)
    worse = PointEnsemble(first.mean + setting.loss * x**2)
    found = _compare_squared_errors(worse, second, targets, of_settings=True)
    claimed = found.p < LEVEL
    return Told(claimed, claimed and not (setting.loss and found.mean < 0))


def uncalibrated_numbers(setting: Setting, rng: np.random.Generator, *, grouped: bool = False) -> Told:
    """Coverage, histogram or mean error is off; with a loss the spreads are really too small."""
    groups = np.arange(setting.n) // GROUP_SIZE if grouped else None
    targets = rng.normal(size=setting.n)
    if groups is not None:
        shared = rng.normal(size=int(groups.max()) + 1)[groups]
        targets = 0.7**0.5 * shared + 0.3**0.5 * targets
    spread = np.full((setting.members, setting.n), (1 / (1 + setting.loss)) ** 2)
    mixture = NormalMixture(np.zeros_like(spread), spread)
    coverage = measure_interval_coverage(mixture, targets, 0.9, groups)
    error = measure_mean_error(mixture, targets, groups)
    claimed = (
        not coverage.low <= 0.9 <= coverage.high
        or not error.low <= 0 <= error.high
        or measure_pit_histogram(mixture, targets, groups).shape != "even"
    )
    return Told(claimed, claimed and not setting.loss)


def suspect_targets(setting: Setting, rng: np.random.Generator) -> Told:
    """A target is further off than normal noise explains; with a loss the first one is wrong."""
    spread = rng.uniform(0.5, 2, setting.n)
    targets = 1.5 * spread * rng.normal(size=setting.n)  # spreads that are predicted too small
    targets[0] += 10 * setting.loss * spread[0]
    mixture = NormalMixture(np.zeros((1, setting.n)), spread[None] ** 2)
    found = find_suspect_targets(compute_target_scores(mixture, targets))
    wrong = bool(setting.loss) and not (found > 0).any()
    return Told(len(found) > 0, len(found) > 0 and not wrong)


# By name: the trial, and the losses it is tried with.
NUMERIC_VERDICTS: dict[str, tuple[Trial, tuple[float, ...]]] = {
    **{
        f"{name}, {kind} noise": (partial(trial, kind), losses)
        for name, trial, losses in (
            ("interval of the RMSE gain", interval_of_rmse_gain, (0,)),
            ("harmful member", harmful_member, (0, 0.5)),
            ("better numbers", better_numbers, (0, 1)),
        )
        for kind in NOISES
    },
    "suspect targets": (suspect_targets, (0, 1)),
    "some of 20 equal runs of numbers": (some_of_many_runs, (0,)),
    "settings of numbers": (settings_of_numbers, (0, 2)),
    "uncalibrated numbers": (uncalibrated_numbers, (0, 0.5)),
    "uncalibrated numbers in groups": (partial(uncalibrated_numbers, grouped=True), (0, 0.5)),
}
