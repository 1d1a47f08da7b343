"""Two runs as what they are draws of: their settings, each by all runs that differ in the seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensemble import runs
from ensemble.analysis.inference.seed_power import compute_seed_power, estimate_image_variance, pool_run_variance
from ensemble.analysis.inference.training_variance import MIN_RUNS, TrainingVariance, estimate_training_variance
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.comparison.differences import GroupDifference, adjust_differences, compute_group_difference
from ensemble.comparison.image_identity import have_same_images
from ensemble.comparison.run_measures import CHOSEN_LAST, RunMeasures, measure_run
from ensemble.comparison.seed_spread import comparable_settings
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run

_MAX_SEED_RUNS = 10  # of a side, the newest: each has its predictions read, once
_TEST_LEVEL = SIGNIFICANCE_LEVEL / 2  # accuracy and NLL are tested: each p is adjusted for both


@dataclass(frozen=True)
class SeedComparison:
    """The settings of two runs, compared by the runs that there are of them.

    Attributes:
      runs: of the first's settings, one a seed, the first itself before the others.
      other_runs: of the second's, likewise.
      has_same_settings: whether both have the same settings, so that their seeds alone differ.
      difference: what the first settings are better by, adjusted for its two tests; None where
        both have the same settings.
      nll_variance: of one run's NLL over seeds, in nats²; None where nothing tells it.
      is_nll_variance_from_runs: whether runs tell it; else members do, which see the images in one
        order and so tell the least that it may be, unless they have orders of their own.
      has_independent_members: whether these have.
      image_variance: of the mean difference of the NLL over draws of the test images, in nats².
    """

    runs: tuple[Run, ...]
    other_runs: tuple[Run, ...]
    has_same_settings: bool
    difference: GroupDifference | None
    nll_variance: float | None
    is_nll_variance_from_runs: bool
    has_independent_members: bool
    image_variance: float

    def compute_power(self, seeds: int) -> float | None:
        """The chance that so many seeds of each show a difference in NLL as large as this one."""
        if self.difference is None or self.nll_variance is None:
            return None
        return compute_seed_power(self.difference.nll, self.nll_variance, self.image_variance, seeds, _TEST_LEVEL)


def compare_seed_groups(run: Run, other: Run, every: Sequence[Run]) -> SeedComparison:
    """Compare the settings of two runs by all finished runs of them.

    Each is taken after the epoch at which runs are compared (`select_compared_epoch`).

    Args:
      run: the first.
      other: the second, on the same test images.
      every: runs among which those of other seeds are looked for.

    Raises:
      EnsembleError: the predictions of `run` or `other` cannot be read.
    """
    first, second = _measure_seeds(run, every), _measure_seeds(other, every)
    same = have_same_settings(run, other)
    difference = None
    if not same:
        difference = compute_group_difference(
            tuple(measures for _, measures in first), tuple(measures for _, measures in second)
        )
        (difference,) = adjust_differences([difference])
    sides = [[measures for _, measures in side] for side in (first, second)]
    losses = [np.array([measures.nll for measures in side]) for side in sides]
    by_runs = pool_run_variance(losses)
    return SeedComparison(
        runs=tuple(run for run, _ in first),
        other_runs=tuple(run for run, _ in second),
        has_same_settings=same,
        difference=difference,
        nll_variance=by_runs if by_runs is not None else _pool_member_variance(sides),
        is_nll_variance_from_runs=by_runs is not None,
        has_independent_members=all(measures.are_members_independent for side in sides for measures in side),
        image_variance=estimate_image_variance(*losses),
    )


def find_seed_runs(run: Run, every: Sequence[Run]) -> list[Run]:
    """Return a run and the finished ones of the same settings on the same images, one for each seed."""
    if run.training_config is None:
        return [run]
    by_seed = {run.training_config.seed: run}
    for candidate in every:
        config = candidate.training_config
        if (
            config is not None
            and candidate.state == "finished"
            and config.seed not in by_seed
            and have_same_settings(run, candidate)
            and have_same_images(run, candidate)
            and runs.list_prediction_epochs(candidate.id)
        ):
            by_seed[config.seed] = candidate
        if len(by_seed) == _MAX_SEED_RUNS:
            break
    return list(by_seed.values())


def estimate_seed_variance(run: Run, every: Sequence[Run]) -> TrainingVariance | None:
    """What trainings of a run's settings differ by on new images; None of too few seeds.

    Also None where an epoch was chosen on validation images, as it then differs from run to run.

    Args:
      run: one of them.
      every: runs among which those of other seeds are looked for.
    """
    if len(find_seed_runs(run, every)) < MIN_RUNS:
        return None
    try:
        measured = [measures for _, measures in _measure_seeds(run, every)]
    except EnsembleError:
        return None
    if any(measures.chosen != CHOSEN_LAST for measures in measured):
        return None
    return estimate_training_variance([measures.right for measures in measured])


def have_same_settings(run: Run, other: Run) -> bool:
    """Whether two runs were trained here with the same settings, up to the seed and the place."""
    config, other_config = run.training_config, other.training_config
    return (
        config is not None
        and other_config is not None
        and config.members == other_config.members
        and comparable_settings(config) == comparable_settings(other_config)
    )


def _measure_seeds(run: Run, every: Sequence[Run]) -> list[tuple[Run, RunMeasures]]:
    """The runs of these settings with what each reached; what cannot be read is left out."""
    first, *others = find_seed_runs(run, every)
    measured = [(first, measure_run(first))]
    for other in others:
        try:
            measures = measure_run(other)
        except EnsembleError:
            continue
        if measures.images == measured[0][1].images:
            measured.append((other, measures))
    return measured


def _pool_member_variance(sides: Sequence[Sequence[RunMeasures]]) -> float | None:
    """The same as members tell it: the mean of both."""
    variances = [
        measures.member_variances["nll"].variance
        for side in sides
        for measures in side
        if "nll" in measures.member_variances
    ]
    return float(np.mean(variances)) if len(variances) == len(sides) else None
