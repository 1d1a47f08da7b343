"""Training what is compared: ordinary runs with a tag, so that the same again goes on with them."""

from collections.abc import Callable
from dataclasses import dataclass

from ensemble import datasets
from ensemble.budget.budget import Budget, Name
from ensemble.budget.network_widths import default_network_width, find_equal_flops_width, find_equal_time_width
from ensemble.budget.step_timing import measure_step_time_ratio
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.runs.status import RESUMABLE
from ensemble.runs.store import Run, create_run, find_run, list_runs, requeue_run, require_training_config

Train = Callable[[Run], Run]
Report = Callable[[str], None]
Measure = Callable[[EnsembleConfig, EnsembleConfig], float]


@dataclass(frozen=True)
class _RateTrial:
    """A rate that was tried with the first seed: its NLL on validation; None where it diverged."""

    rate: float
    validation_nll: float | None


@dataclass(frozen=True)
class Competitor:
    """The ensemble, or a single network in its place, with all its runs.

    Attributes:
      names: what it is: "ensemble"; or "flops" and "seconds", for which one width may do.
      width: of its network.
      rate_trials: the rates that were tried.
      runs: at the best of them, one a seed, in their order.
    """

    names: tuple[Name, ...]
    width: int
    rate_trials: tuple[_RateTrial, ...]
    runs: tuple[Run, ...]

    @property
    def is_single(self) -> bool:
        """Whether it is one network."""
        return self.names != ("ensemble",)

    @property
    def rate(self) -> float:
        """The learning rate that was chosen."""
        return min(self.rate_trials, key=_rate_sort_key).rate

    @property
    def rate_boundary(self) -> int:
        """−1 where the lowest of several rates was best, 1 where the highest was, else 0."""
        rates = sorted(rate_trial.rate for rate_trial in self.rate_trials)
        if len(rates) < 2:
            return 0
        return (self.rate == rates[-1]) - (self.rate == rates[0])


class RunStoppedError(Exception):
    """A run was stopped on the way: not an error, but the end for now."""


class BudgetWorker:
    """Trains what a budget compares, and goes on with what there is of it.

    Args:
      budget: what is compared.
      train: brings a queued run to its end in this process.
      say: is told what comes next.
      measure: seconds of a step with the second settings, of those with the first.
    """

    def __init__(self, budget: Budget, train: Train, say: Report, measure: Measure = measure_step_time_ratio) -> None:
        self._budget, self._train, self._say, self._measure = budget, train, say, measure

    def train_competitors(self) -> list[Competitor]:
        """All that is compared, trained: the ensemble first.

        Raises:
          RunStoppedError: a run was stopped; the same command resumes it.
          RunError: a run failed, or diverged at every rate.
          NotPreparedError: the dataset is not on this machine.
        """
        widths = self._list_widths()
        return [self._train_competitor(names, width) for width, names in widths.items()]

    def _list_widths(self) -> dict[int, tuple[Name, ...]]:
        """What is trained of each width; 0 is the ensemble's own."""
        config = self._budget.config
        data = datasets.load_dataset(config.dataset)
        height, width, channels = data.train_images.shape[1:]
        shape, classes = (height, width, channels), len(data.class_names)
        network = str(config.network)
        by_flops = find_equal_flops_width(network, shape, classes, config.members)
        by_seconds = self._find_known_width("seconds") or self._measure_width(by_flops)
        singles: dict[int, tuple[Name, ...]] = {by_flops: ("flops",)}
        singles[by_seconds] = (*singles.get(by_seconds, ()), "seconds")
        return {0: ("ensemble",), **singles}

    def _find_known_width(self, name: Name) -> int:
        """The width that earlier runs of this budget have; 0 where there are none."""
        widths = [
            run.training_config.width for run in self._list_budget_runs() if name in run.tags and run.training_config
        ]
        return widths[0] if widths else 0

    def _measure_width(self, first: int) -> int:
        budget = self._budget
        self._say("Measuring how wide a network trains as fast as the ensemble.")
        ensemble = budget.trial_config("ensemble", 0, 1.0)
        equal_time_width = find_equal_time_width(
            lambda width: self._measure(ensemble, budget.trial_config("seconds", width, 1.0)),
            default_network_width(str(budget.config.network)),
            first,
        )
        self._say(f"Width {equal_time_width.width}: {equal_time_width.share:.2f} times the ensemble's seconds a step.")
        return equal_time_width.width

    def _train_competitor(self, names: tuple[Name, ...], width: int) -> Competitor:
        budget, tried, first = self._budget, list[_RateTrial](), dict[float, Run]()
        for factor in sorted(set(budget.factors)):
            run = self._train_trial(names, width, factor, 0)
            nll = run.status.best_ensemble_validation_nll
            rate = require_training_config(run).learning_rate
            tried.append(_RateTrial(rate, None if run.state == "diverged" else nll))
            first[factor] = run
        best = min(zip(tried, first, strict=True), key=lambda pair: _rate_sort_key(pair[0]))
        if best[0].validation_nll is None:
            raise RunError(
                f"{'The ensemble' if names == ('ensemble',) else f'One network of width {width}'} "
                "diverged at every rate: try lower ones, such as --rates 0.03,0.1."
            )
        rest = [self._train_trial(names, width, best[1], seed) for seed in range(1, budget.seeds)]
        if lost := [run for run in rest if run.state == "diverged"]:
            raise RunError(
                f"The run “{lost[0].id}” diverged at a rate that another seed learnt with: try "
                "lower ones, such as --rates 0.1,0.3."
            )
        return Competitor(names, width, tuple(tried), (first[best[1]], *rest))

    def _train_trial(self, names: tuple[Name, ...], width: int, factor: float, seed: int) -> Run:
        """The run with these settings, at its end: as it is there, or gone on with, or new."""
        config = self._budget.trial_config(names[0], width, factor, seed)
        run = next(
            (budget_run for budget_run in self._list_budget_runs() if budget_run.training_config == config), None
        )
        if run is None:
            run = create_run(config, tags=(self._budget.id, *names))
        elif run.state in RESUMABLE:
            run = requeue_run(run.id)
        if run.state not in ("finished", "diverged"):
            run = self._train(run)
        if run.state == "stopped":
            raise RunStoppedError(run.id)
        if run.state == "failed":
            raise RunError(f"The run “{run.id}” failed: {run.message}")
        return find_run(run.id)

    def _list_budget_runs(self) -> list[Run]:
        return [run for run in reversed(list_runs()) if self._budget.id in run.tags]


def _rate_sort_key(trial: _RateTrial) -> tuple[bool, float]:
    """The lowest NLL first; what diverged last."""
    return trial.validation_nll is None, trial.validation_nll or 0.0
