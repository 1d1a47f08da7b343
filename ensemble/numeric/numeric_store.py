"""Runs that predict numbers in the folder of runs: make, find, list, delete."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ensemble.analysis.numeric.ensemble_forms import FORMS
from ensemble.config.numeric_config import NumericConfig
from ensemble.errors import RunError, UnknownRunError
from ensemble.jobs.folders import StoredConfig, read_run_name
from ensemble.jobs.kinds import IMPORTED, NUMERIC, JobKind
from ensemble.jobs.placement import Placement
from ensemble.jobs.store import JobStore, StoredJob, write_job_files
from ensemble.numeric.numeric_status import NumericStatus, read_numeric_status
from ensemble.runs.annotations.names import write_run_name
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.status import list_remaining_members
from ensemble.storage.records.field_checks import Count, Share, parse_dataclass
from ensemble.tables.prepared_table import read_table_description


@dataclass(frozen=True)
class NumericTask:
    """What is known of a run that predicts numbers, beside how it was trained.

    Attributes:
      members: M.
      target_name: what is predicted: "price"; "" where nobody said.
      unit: of the targets: "m/s"; "" where nobody said.
      member_names: M of them; none where they only have numbers.
      form: what a member predicts: one of `FORMS`.
      levels: of the quantiles, where it predicts those.
    """

    members: Count = 1
    target_name: str = ""
    unit: str = ""
    member_names: list[str] = field(default_factory=list)
    form: str = "normal"
    levels: list[Share] = field(default_factory=list)


@dataclass(frozen=True)
class NumericRun(StoredJob):
    """An ensemble that predicts numbers, as it stood when it was read.

    Attributes:
      id: the folder's name, and its name in URLs and on the command line.
      name: what a person called it, else the id.
      path: its folder.
      task: what it predicts, and who its members are.
      status: what its worker last wrote.
      settings: those that it was trained with here; None of one that was trained elsewhere.
    """

    id: str
    name: str
    path: Path
    task: NumericTask
    status: NumericStatus
    settings: NumericConfig | None = None
    kind: JobKind = NUMERIC

    @property
    def note(self) -> str:
        """What a person wrote of it; "" where nobody did."""
        return read_run_note(self)

    @property
    def members(self) -> int:
        """M, those that diverged among them."""
        return self.task.members

    @property
    def member_names(self) -> tuple[str, ...]:
        """M of them: by the names that they came with, else by number."""
        return tuple(self.task.member_names) or tuple(f"member {number}" for number in range(1, self.members + 1))

    @property
    def target_name(self) -> str:
        """What is predicted; "" where nobody said."""
        return self.task.target_name

    @property
    def unit(self) -> str:
        """The unit of the targets; "" where nobody said."""
        return self.task.unit

    def remaining_members(self, epoch: int | None = None) -> tuple[int, ...]:
        """Its members, from 0, except those diverged by the end of this epoch; by now for None."""
        return list_remaining_members(self.status, self.members, epoch)


class _ParsedNumericConfig(NamedTuple):
    task: NumericTask
    settings: NumericConfig | None


class _NumericStore(JobStore[NumericRun, NumericConfig, _ParsedNumericConfig]):
    """All runs that predict numbers, those that were trained elsewhere among them."""

    kind, noun, config_kinds = NUMERIC, "run", (NUMERIC.config_kind,)
    wrong_kind_sentence = "does not predict numbers: open it on Inspect or Runs."

    def parse_config(self, config: StoredConfig) -> _ParsedNumericConfig:
        """What is known of it beside how it stands."""
        task = parse_dataclass(NumericTask, config.numbers)
        if not task.members or len(task.member_names) not in (0, task.members):
            raise ValueError("its members and their names do not fit")
        if task.form not in FORMS or (task.form == "quantiles") != bool(task.levels):
            raise ValueError("what its members predict is not known")
        settings = NumericConfig.from_disk(config.settings) if config.settings else None
        if settings and settings.members != task.members:
            raise ValueError("its settings and its members do not fit")
        return _ParsedNumericConfig(task, settings)

    def read_job(self, folder: Path, parsed_config: _ParsedNumericConfig) -> NumericRun:
        """The run in a folder."""
        return NumericRun(
            id=folder.name,
            name=read_run_name(folder),
            path=folder,
            task=parsed_config.task,
            status=read_numeric_status(folder),
            settings=parsed_config.settings,
        )

    def write_folder(self, folder: Path, config: NumericConfig, placement: Placement | None) -> None:
        """Write what the folder of a new one holds, that is to be trained here."""
        now = time.time()
        best_on = "validation" if config.validation else "test"
        status = NumericStatus(created=now, queued=now, updated=now, epochs=config.epochs, best_on=best_on)
        task = NumericTask(config.members, read_table_description(folder).target)
        write_job_files(folder, status, config.as_dict(), placement, numbers=asdict(task))

    def create_with_files(self, config: NumericConfig, write_files: Callable[[Path], None]) -> NumericRun:
        """As `create`; `write_files` puts the table that is learnt from into the new folder."""
        return self._create_job(config, None, write_files)

    def explain_final_state(self, job: NumericRun) -> str:
        """It has come to its end, or is not trained here."""
        if job.status.state == IMPORTED:
            return "it was trained elsewhere. Continue training there, then import its predictions."
        if job.status.state == "finished":
            return "it has finished. Launch a new one for more epochs."
        if job.status.state == "diverged":
            return "it would diverge again. Launch one with a lower learning rate."
        return ""


def write_imported_numeric_files(folder: Path, task: NumericTask, status: NumericStatus) -> None:
    """Make a run of a folder whose predictions, made elsewhere, lie there already.

    Args:
      folder: a new one.
      task: what it predicts, and who its members are.
      status: of the last epoch; the state is set here.
    """
    write_job_files(folder, replace(status, state=IMPORTED), {}, None, numbers=asdict(task))


def rename_numeric_run(run_id: str, name: str) -> NumericRun:
    """Give a run a name for people; an empty one takes the name away.

    Raises:
      RunError: longer than 80 characters, or the folder cannot be written.
    """
    write_run_name(run_id, name)
    return find_numeric_run(run_id)


def find_any_numeric_run(run_id: str) -> NumericRun | None:
    """The run that predicts numbers with this id; None where there is none of that kind.

    Raises:
      RunError: its files cannot be read.
    """
    try:
        return find_numeric_run(run_id)
    except UnknownRunError:
        return None


def read_numeric_run(run_id: str) -> NumericRun | None:
    """As `find_any_numeric_run`; None also of one whose files cannot be read."""
    try:
        return find_numeric_run(run_id)
    except RunError:
        return None


def list_numeric_member_names(run: NumericRun, epoch: int | None = None) -> Sequence[str]:
    """What its members are called; after an epoch without those diverged by then."""
    return [run.member_names[member] for member in run.remaining_members(epoch)]


NUMERIC_STORE = _NumericStore()


def find_numeric_run(run_id: str) -> NumericRun:
    """Find the run that predicts numbers with this id.

    Raises:
      UnknownRunError: it does not exist, or is of another kind.
      RunError: its files cannot be read.
    """
    return NUMERIC_STORE.find(run_id)


def list_numeric_runs() -> list[NumericRun]:
    """List all readable runs that predict numbers, newest first."""
    return NUMERIC_STORE.list_jobs()


def list_unreadable_numeric_runs() -> dict[str, str]:
    """List the runs that cannot be read: name and reason."""
    return NUMERIC_STORE.list_unreadable()


def resume_numeric_run(run_id: str) -> NumericRun:
    """Resume a run from its checkpoint; see `JobStore.resume`."""
    return NUMERIC_STORE.resume(run_id)


def requeue_numeric_run(run_id: str) -> NumericRun:
    """Set a run that can be resumed to `queued`, without a worker."""
    return NUMERIC_STORE.requeue(run_id)


def stop_numeric_run(run_id: str) -> bool:
    """Ask a run's worker to stop; whether it has one."""
    return NUMERIC_STORE.request_stop(run_id)
