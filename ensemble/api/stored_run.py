"""What runs of every task have in a notebook."""

from pathlib import Path
from typing import Any, Literal, Self

from ensemble import runs
from ensemble.api.notebook import render_facts_html, render_facts_markdown
from ensemble.api.run_facts import collect_run_facts, write_run_report
from ensemble.api.run_progress import Progress, wait_for_run
from ensemble.errors import EnsembleError
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs.member_settings import list_run_member_names


class StoredRun:
    """A run in the folder of runs: read anew each time it is asked.

    Args:
      run_id: its id.
    """

    def __init__(self, run_id: str) -> None:
        self._id = run_id

    @property
    def id(self) -> str:
        """Its id: its folder's name, and its name in addresses and on the command line."""
        return self._id

    @property
    def stored(self) -> runs.Run:
        """The run as `ensemble.runs` has it, read now.

        Raises:
          UnknownRunError: it has been deleted.
          RunError: its files cannot be read.
        """
        return runs.find_run(self._id)

    @property
    def name(self) -> str:
        """What a person called it, else its id."""
        return self.stored.name

    @property
    def state(self) -> str:
        """One of `ensemble.runs.STATES`: "training", "finished" and so on."""
        return self.stored.state

    @property
    def task(self) -> str:
        """What it learns: "classification" or "regression"."""
        return self.stored.task

    @property
    def message(self) -> str:
        """A sentence or two on its state; mostly ""."""
        return self.stored.message

    @property
    def path(self) -> Path:
        """The folder of its files."""
        return self.stored.path

    @property
    def status(self) -> runs.Status:
        """What its worker last wrote: how far it is, how fast, the best epoch."""
        return self.stored.status

    @property
    def epochs(self) -> list[int]:
        """The epochs, from 1, after which predictions are kept."""
        return runs.list_prediction_epochs(self._id)

    @property
    def member_names(self) -> tuple[str, ...]:
        """What the M members are called."""
        return list_run_member_names(self.stored)

    def history(self, kind: Literal["epoch", "steps"] = "epoch") -> list[dict[str, Any]]:
        """What was measured as it trained, the oldest first; a DataFrame takes it.

        Args:
          kind: a line for each "epoch", with the test set, or for every few "steps" of training.
        """
        return [line for line in runs.read_history(self._id) if line["kind"] == kind]

    def wait(self, progress: Progress | bool = True) -> Self:
        """Wait for a run that is at work elsewhere, as `ensemble.train` does; returns itself.

        Raises:
          RunError: the run failed.
        """
        wait_for_run(self._id, progress)
        return self

    def stop(self) -> None:
        """Ask it to stop; it keeps a checkpoint, and `resume` goes on from there.

        Raises:
          RunError: it is not active.
        """
        runs.request_run_stop(self._id)

    def resume(self, progress: Progress | bool = True) -> Self:
        """Go on with a stopped or failed run at its last checkpoint, and wait as `wait` does.

        Raises:
          RunError: it is active, finished or diverged; or it failed again.
        """
        runs.resume_run(self._id)
        return self.wait(progress)

    def save_report(
        self,
        path: str | Path,
        *,
        with_members: bool = False,
        all_epochs: bool = False,
        weights: str = "float32",
        replace: bool = False,
    ) -> Path:
        """Write it as one HTML file for a colleague, with its data inside; see docs/report.md.

        With its members the file answers whoever opens it; `weights="float16"` rounds them, and
        halves what they take.

        Raises:
          RunError: a file of it is damaged; or it keeps no members, and they are asked for.
          PredictionsError: the file is there already and may not go, or cannot be written.
        """
        return write_run_report(
            self._id, Path(path), with_members=with_members, all_epochs=all_epochs, replace=replace, weights=weights
        )

    def rename(self, name: str) -> Self:
        """Call it something else; "" takes its name away. Returns itself.

        Raises:
          RunError: longer than 80 characters, or its folder cannot be written.
        """
        runs.rename_run(self._id, name)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredRun) and other.id == self._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        try:
            run = self.stored
        except EnsembleError:
            return f"<{type(self).__name__} {self._id}: cannot be read>"
        done = f"epoch {run.status.epoch} of {run.config.epochs}"
        return f"<{type(self).__name__} {run.id}: {run.state}, {format_run_name(run)}, {done}>"

    def _repr_html_(self) -> str:
        return render_facts_html(*collect_run_facts(self._id))

    def _repr_markdown_(self) -> str:
        return render_facts_markdown(*collect_run_facts(self._id))
