"""A search for settings from Python: a sweep, and what its trials came to."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ensemble import architectures, runs, sweeps
from ensemble.api.regression_run import RegressionRun, read_table
from ensemble.api.run import Run
from ensemble.api.run_lookup import open_stored_run
from ensemble.api.run_progress import poll_job_status
from ensemble.config import AnyTrainingConfig, EnsembleConfig, RegressionConfig
from ensemble.datasets.partition.batch_size import check_batch_setting
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.network_probe import check_own_network
from ensemble.runs.numeric.numeric_launch import prepare_numeric_table
from ensemble.sweeps.best_trials import judge_best_trial
from ensemble.sweeps.search_space import ValueList
from ensemble.sweeps.settings import DEFAULT_VALIDATION
from ensemble.wording.verdicts.best_trial import list_best_trial_sentences

if TYPE_CHECKING:
    import pandas as pd


class Sweep:
    """One sweep. Whatever is asked of it is read again; made by `ensemble.sweep`."""

    def __init__(self, sweep_id: str) -> None:
        self._id = sweep_id

    @property
    def id(self) -> str:
        """Its id, which is the tag of its runs."""
        return self._id

    @property
    def stored(self) -> sweeps.Sweep:
        """The sweep as `ensemble.sweeps` has it, read now."""
        return sweeps.find_sweep(self._id)

    @property
    def state(self) -> str:
        """ "searching", "finished", "stopped" and so on."""
        return self.stored.state

    @property
    def message(self) -> str:
        """A sentence or two on its state; mostly ""."""
        return self.stored.message

    @property
    def trials(self) -> list[sweeps.Trial]:
        """All trials that were asked for, in the order of their numbers."""
        return sweeps.read_trials(self.stored)

    @property
    def best(self) -> Run | RegressionRun | None:
        """The run of the best trial by the first objective; None before one is complete."""
        found = sweeps.find_best_trial(self.stored)
        return open_stored_run(runs.find_run(found.run_id)) if found else None

    @property
    def verdict(self) -> str:
        """Which settings are best, a sentence per line; "" before it has ended.

        The evidence comes from the validation images or rows; the last lines are the best trial's test figures.
        """
        stored, trials = self.stored, self.trials
        if stored.active or (found := sweeps.find_best_trial(stored, trials) if trials else None) is None:
            return ""
        return "\n".join(list_best_trial_sentences(stored, found, judge_best_trial(stored, trials)))

    def to_frame(self) -> "pd.DataFrame":
        """A row a trial: its state, its run, each setting that is searched, each objective."""
        import pandas as pd

        goals = self.stored.config.objective_names
        rows = [
            {"state": trial.state, "run": trial.run_id, **trial.params, **dict(zip(goals, trial.values, strict=False))}
            for trial in self.trials
        ]
        numbers = pd.Index([trial.number for trial in self.trials], name="trial")
        return pd.DataFrame(rows, index=numbers)

    def wait(self, progress: bool = True) -> "Sweep":
        """Wait until it has ended; an interrupt asks it to stop. Returns itself.

        Raises:
          RunError: it failed; the message says why and what to do.
        """
        tell = _build_trial_printer() if progress else lambda status: None
        try:
            poll_job_status(lambda: sweeps.find_sweep(self._id), tell)
        except KeyboardInterrupt:
            with contextlib.suppress(RunError):  # It had ended before it was asked.
                sweeps.request_sweep_stop(self._id)
            poll_job_status(lambda: sweeps.find_sweep(self._id), lambda status: None)
        if self.state == "failed":
            raise RunError(f"The sweep “{self._id}” failed. {self.message}")
        return self

    def stop(self) -> None:
        """Ask it to stop; `resume` goes on with the trial that it was at."""
        sweeps.request_sweep_stop(self._id)

    def resume(self, progress: bool = True) -> "Sweep":
        """Go on with a stopped or failed sweep, and wait as `wait` does.

        Raises:
          RunError: it is active or finished; or it failed again.
        """
        sweeps.resume_sweep(self._id)
        return self.wait(progress)

    def __repr__(self) -> str:
        stored = self.stored
        done = f"{stored.status.done} of {stored.config.trial_count} trials"
        return f"<Sweep {self._id}: {stored.state}, {done}, {stored.config.space}>"


def sweep(
    space: str | Mapping[str, Any],
    config: AnyTrainingConfig | None = None,
    *,
    table: Any = None,
    target: str = "",
    decimal: str = "",
    progress: bool = True,
    **settings: Any,
) -> Sweep:
    """Search for settings, a run a trial, and wait for it, as `ensemble sweep` does.

    Processes of its own train, one for each of `workers`. Interrupt it (Ctrl-C, or Interrupt of a
    notebook) and it stops; `resume` goes on.

    Args:
      space: the settings to search and their values: {"learning_rate": "0.01..0.5:log",
        "momentum": [0.8, 0.9]}, or one text as on the command line.
      config: the settings that all trials share; by default each with its default, and a tenth of
        the training images held out to choose by.
      table: of a search for settings of a regression, a DataFrame or the path of a file, as of
        `ensemble.train_numbers`; all trials have one split of it.
      target: the column of it to predict.
      decimal: as of `ensemble.train_numbers`.
      progress: whether to print a line a trial.
      settings: `trials`, `sampler`, `objectives`, `pruner`, `workers`, `repeats` and
        `sampler_seed`, as of `ensemble sweep`.

    Raises:
      ConfigError: a value out of its range, settings that do not fit together, or a batch
        of more than the training images.
      NotPreparedError: the dataset has not been fetched.
      RunError: the sweep could not be made, or failed; the message says what to do.
    """
    text = space if isinstance(space, str) else _format_search_space(space)
    if table is not None or isinstance(config, RegressionConfig):
        if table is None or isinstance(config, EnsembleConfig):
            raise ConfigError("A search on a table needs table, target and, if any, a RegressionConfig.")
        shared = config or RegressionConfig()
        searched = sweeps.SweepConfig.from_dict(
            {**settings, "space": text, "base": {**shared.as_dict(), "task": shared.task}}
        )
        prepared = prepare_numeric_table(shared, read_table(table, decimal=decimal), target)
        return Sweep(sweeps.launch_sweep(searched, table=prepared).id).wait(progress)
    base = config or EnsembleConfig(validation=DEFAULT_VALIDATION)
    asked = sweeps.SweepConfig.from_dict({**settings, "space": text, "base": base.as_dict()})
    check_batch_setting(base, asked.largest_batch_size)
    axis = asked.search_axes.get("network")
    names = axis.values if isinstance(axis, ValueList) else (base.network,)
    for name in filter(architectures.is_custom_network, map(str, names)):
        check_own_network(replace(base, network=name, width=0))
    return Sweep(sweeps.launch_sweep(asked).id).wait(progress)


def _format_search_space(space: Mapping[str, Any]) -> str:
    """The space as the command line has it: "learning_rate=0.01..0.5:log momentum=0.8,0.9"."""
    return " ".join(f"{name}={_format_search_values(values)}" for name, values in space.items())


def _format_search_values(values: Any) -> str:
    if isinstance(values, list | tuple):
        return ",".join(map(_format_search_values, values))
    return str(values).lower() if isinstance(values, bool) else str(values)


def _build_trial_printer() -> Any:
    last_parts: list[object] = []

    def print_status(status: sweeps.SweepStatus) -> None:
        parts = [status.state, status.message, f"{status.done:,} of {status.trials:,} trials"]
        if parts != last_parts:
            last_parts[:] = parts
            print(" · ".join(filter(None, (parts[0], parts[2], parts[1]))), flush=True)

    return print_status
