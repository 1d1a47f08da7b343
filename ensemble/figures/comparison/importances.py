"""How much of what trials differ in is due to each setting that was searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ensemble.comparison.compared_settings import humanize_setting_name
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.sweeps import SweepConfig, Trial
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

MIN_TRIALS = 10  # complete trials: of fewer a forest of trees learns nothing
ROW_HEIGHT = 38
_FOREST_SIZE, NOISE_FOREST_SIZE = 64, 16  # trees
_NOISE_DRAWS = 19  # beyond all of which noise alone lies in 1 of 20 cases


def compute_setting_importances(config: SweepConfig, trials: Sequence[Trial], goal: str) -> dict[str, float]:
    """Each setting's share of an objective's variance, the largest first: fANOVA.

    Source: Hutter, Hoos and Leyton-Brown 2014, "An efficient approach for assessing
    hyperparameter importance", as Optuna has it, its forest drawn with seed 0.

    Args:
      trials: of it; only the complete ones count.

    Returns:
      Shares that sum to 1; {} where there are fewer than `MIN_TRIALS` complete trials, or all came to
      the same.
    """
    complete, values = _list_complete_values(config, trials, goal)
    if len(complete) < MIN_TRIALS or len(set(values)) < 2:
        return {}
    return _compute_variance_shares(config, complete, values, _FOREST_SIZE)


@dataclass(frozen=True)
class NoiseShares:
    """What the largest share is where no setting matters.

    Attributes:
      low: the least of `_NOISE_DRAWS` draws of trials whose values were dealt out anew at random.
      high: the largest of them.
      is_exceeded: whether the trials' own largest share is larger still: of settings that do not
        matter that has a chance of 1 in `_NOISE_DRAWS` + 1, 5 %.
    """

    low: float
    high: float
    is_exceeded: bool


def estimate_noise_shares(config: SweepConfig, trials: Sequence[Trial], goal: str) -> NoiseShares | None:
    """The largest share that noise alone gives for as many trials and settings: a permutation test.

    Its forests have a quarter as many trees, those of the trials' own values too.

    Args:
      trials: of it; only the complete ones count.

    Returns:
      None where there are no shares.
    """
    complete, values = _list_complete_values(config, trials, goal)
    if len(complete) < MIN_TRIALS or len(set(values)) < 2:
        return None
    draw = np.random.default_rng(0)

    def largest_share(dealt: Sequence[float]) -> float:
        return max(_compute_variance_shares(config, complete, dealt, NOISE_FOREST_SIZE).values(), default=0)

    own = largest_share(values)
    drawn = [largest_share(draw.permutation(values).tolist()) for _ in range(_NOISE_DRAWS)]
    return NoiseShares(min(drawn), max(drawn), own > max(drawn))


def _list_complete_values(config: SweepConfig, trials: Sequence[Trial], goal: str) -> tuple[list[Trial], list[float]]:
    place, axes = config.objective_names.index(goal), config.search_axes
    complete = [trial for trial in trials if trial.state == "complete" and set(trial.params) >= set(axes)]
    return complete, [trial.values[place] for trial in complete]


def _compute_variance_shares(
    config: SweepConfig, complete: Sequence[Trial], values: Sequence[float], trees: int
) -> dict[str, float]:
    # Optuna and scikit-learn take a second to import, and only this needs them.
    import optuna

    from ensemble.sweeps.study import build_distribution

    distributions = {name: build_distribution(axis) for name, axis in config.search_axes.items()}
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={name: trial.params[name] for name in distributions}, value=value, distributions=distributions
            )
            for trial, value in zip(complete, values, strict=True)
        ]
    )
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=0)
    param_importances = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in param_importances.items()}


def plot_setting_importances(shares: Mapping[str, float], title: str, palette: Palette) -> "go.Figure":
    """A bar a setting, the largest on top, its share at its end.

    Args:
      shares: by the setting's name, from `compute_setting_importances`.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    names = list(shares)[::-1]
    values = [100 * shares[name] for name in names]
    labels = [formats.format_percent(shares[name], places=0) for name in names]
    chart = go.Figure(
        go.Bar(
            {
                "x": values,
                "y": [humanize_setting_name(name) for name in names],
                "orientation": "h",
                "text": labels,
                "textposition": "outside",
                "cliponaxis": False,
                "marker": {"color": palette.primary},
                "hoverinfo": "skip",
            }
        )
    )
    chart.update_layout(chart_style.build_chart_layout(title, 150 + ROW_HEIGHT * len(names), palette, bargap=0.35))
    chart.update_xaxes(title="share of the variance", ticksuffix=" %", range=[0, 108])
    chart.update_yaxes(automargin=True, showgrid=False)
    return chart
