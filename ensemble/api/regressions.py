"""Logistic regression by L-BFGS from Python: solved by a process of its own, then looked at."""

import contextlib
from typing import TYPE_CHECKING, Any

from ensemble import regression
from ensemble.api.run_progress import poll_job_status
from ensemble.errors import RunError
from ensemble.figures import regression_charts
from ensemble.figures.palette import LIGHT
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Figures, Paragraph, Part
from ensemble.views.regression import build_regression, tabulate_solves
from ensemble.wording.run_names import format_regression_settings
from ensemble.wording.runs.regression import format_iteration_progress

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class SolvedRegression:
    """One regression, read again whenever something is asked; by `ensemble.solve_regression`."""

    def __init__(self, solve_id: str) -> None:
        self._id = solve_id

    @property
    def id(self) -> str:
        """Its id, in addresses, on the command line and for `ensemble report`."""
        return self._id

    @property
    def stored(self) -> regression.Regression:
        """The regression as `ensemble.regression` has it, read now."""
        return regression.find_regression(self._id)

    @property
    def state(self) -> str:
        """ "solving", "finished", "stopped" and so on."""
        return self.stored.state

    @property
    def traces(self) -> regression.RegressionTraces:
        """What was measured of each solve, iteration by iteration."""
        return regression.read_regression_traces(self.stored.path)

    @property
    def answer(self) -> str:
        """What `pmap` bought, in a sentence."""
        roles = ("answer", "unavailable")
        texts = [part.text for part in self._list_parts() if isinstance(part, Paragraph) and part.role in roles]
        return texts[0]

    @property
    def evidence(self) -> list[str]:
        """What the answer rests on: speed-ups, intervals, cores that are shared."""
        return [part.text for part in self._list_parts() if isinstance(part, Paragraph) and part.role == "evidence"]

    @property
    def solves(self) -> "pd.DataFrame":
        """A row a solve: step time, speed-up, compile time, objective, as texts."""
        return tabulate_solves(self.traces)

    @property
    def iterations(self) -> "pd.DataFrame":
        """A row an iteration of each solve, in numbers."""
        return regression_charts.tabulate_iterations(self.traces)

    @property
    def figures(self) -> "dict[str, go.Figure]":
        """Its figures by their titles, on a light ground."""
        return {
            figure.title: figure.draw(LIGHT)
            for part in self._list_parts()
            if isinstance(part, Figures)
            for figure in [part.figure("")]
        }

    def stop(self) -> None:
        """Ask it to stop after its current iteration; what was measured stays."""
        regression.stop_regression(self._id)

    def _list_parts(self) -> list[Part]:
        solve = self.stored
        settings = format_regression_settings(solve.config)
        return list(iterate_parts(build_regression(solve, self.traces, settings)))

    def __repr__(self) -> str:
        return f"<SolvedRegression {self._id}: {self.state}. {self.answer}>"


def solve_regression(*, progress: bool = True, **settings: Any) -> SolvedRegression:
    """Solve a logistic regression by L-BFGS, with `pmap` and without, and wait for it.

    As `ensemble lbfgs` does, in a process of its own. Interrupt it (Ctrl-C, or Interrupt of a
    notebook) and it stops after its current iteration; what was measured stays.

    Args:
      progress: whether to print how far it is.
      settings: `samples`, `features`, `classes`, `iterations`, `linesearch`, `l2`, `pmap`,
        `devices` and the others of `ensemble lbfgs`, by name.

    Raises:
      ConfigError: there is no such setting, or its value is out of its range.
      NotPreparedError: the dataset has not been fetched.
      RunError: it could not be made, or failed; the message says what to do.
    """
    config = regression.LbfgsConfig.from_dict(settings)
    solve_id = regression.launch_regression(config).id
    tell = _build_progress_printer(solve_id) if progress else lambda status: None
    try:
        poll_job_status(lambda: regression.find_regression(solve_id), tell)
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # It had ended before it was asked.
            regression.stop_regression(solve_id)
        poll_job_status(lambda: regression.find_regression(solve_id), lambda status: None)
    solve = regression.find_regression(solve_id)
    if solve.state == "failed":
        raise RunError(f"The regression “{solve_id}” failed. {solve.message}")
    return SolvedRegression(solve_id)


def _build_progress_printer(solve_id: str) -> Any:
    last = [""]

    def print_status(status: regression.RegressionStatus) -> None:
        if status.state != last[0]:
            last[0] = status.state
            solve = regression.find_regression(solve_id)
            text = format_iteration_progress(solve)
            print(" · ".join(filter(None, (status.state, text, status.message))), flush=True)

    return print_status
