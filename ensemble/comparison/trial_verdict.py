"""Which settings of a sweep are best, as one verdict on its trials."""

import functools

import numpy as np

from ensemble import runs
from ensemble.analysis.inference.seed_power import count_needed_seeds
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.comparison.compared_settings import format_setting
from ensemble.comparison.settings_verdict import (
    JudgedGroup,
    SettingsVerdict,
    judge_settings,
    list_training_seconds,
    subtract_seeds,
)
from ensemble.errors import RunError
from ensemble.sweeps import Trial
from ensemble.sweeps.best_trials import BestTrialEvidence


def judge_trials(evidence: BestTrialEvidence, metric: str) -> SettingsVerdict:
    """Judge the settings of a sweep's trials by the validation images that the best one was chosen on.

    Args:
      evidence: from `judge_best_trial`.
      metric: the sweep's first objective, one that is judged example by example.
    """
    trials = evidence.compared
    pairs = len(trials) * (len(trials) - 1) // 2
    return judge_settings(
        [
            JudgedGroup(
                key=str(trial.number),
                title=f"{describe_trial_settings(trial)} (trial {trial.number + 1})",
                values=trial.params,
                seeds=evidence.repeats,
                mean=trial.values[0],
                costs=_list_trial_seconds(trial),
            )
            for trial in trials
        ],
        {str(trial.number) for trial in evidence.worse},
        metric=metric,
        split="validation",
        images=evidence.images,
        is_about_settings=evidence.repeats > 1,
        tests=pairs,
        count_more_seeds=functools.partial(_count_more_seeds, evidence, SIGNIFICANCE_LEVEL / pairs),
    )


def describe_trial_settings(trial: Trial) -> str:
    """A trial's settings: "rate 0.0316, momentum 0.9"."""
    return ", ".join(format_setting(name, value) for name, value in trial.params.items())


def _list_trial_seconds(trial: Trial) -> tuple[float, ...]:
    try:
        return list_training_seconds([runs.find_run(run_id) for run_id in trial.run_ids])
    except RunError:
        return ()


def _count_more_seeds(evidence: BestTrialEvidence, level: float, best: JudgedGroup, second: JudgedGroup) -> int | None:
    """By the differences of trainings with the same seed, which hold out the same images."""
    first, other = (np.array(evidence.training_losses[int(group.key)]) for group in (best, second))
    difference = float((first - other).mean())
    run_variance = float((first - other).var(ddof=1)) / 2
    if not difference:
        return None
    return subtract_seeds(count_needed_seeds(difference, run_variance, 0.0, level), best, second)
