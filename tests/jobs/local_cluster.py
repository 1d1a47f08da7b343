"""A scheduler in small, whose tasks are processes of this machine; and a job that counts.

What it knows lies in files, so that another process finds the same tasks, as it would Slurm's.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from ensemble.cluster import QueueEntry
from ensemble.errors import ClusterError
from ensemble.jobs import worker
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import JobKind
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.remote import follower, task_process
from ensemble.jobs.status import JobStatus, StatusWriter, is_process_alive, write_status
from ensemble.regression.regression_job import REGRESSION
from ensemble.storage.atomic_files import read_json, write_json

REPO = Path(__file__).resolve().parents[2]
NAP = 0.03


class LocalCluster:
    """Starts a task at once, unless there is a file `full`, or `silent`: then it says nothing.

    Args:
      job_folder: of the job that its tasks do.
    """

    title = "Slurm"

    def __init__(self, job_folder: Path) -> None:
        self.job_folder, self.folder = job_folder, job_folder / "cluster"
        self.folder.mkdir(exist_ok=True)

    def submit(
        self, commands: Sequence[Sequence[str]], name: str, environment: Mapping[str, str], logs: Sequence[Path] | None
    ) -> list[str]:
        [words] = commands
        number = str(len(self.tasks()) + 1)
        self._write(number, name=name, words=list(words), given=dict(environment), pid=None)
        self.queue()
        return [number]

    def queue(self) -> Mapping[str, QueueEntry]:
        if (self.folder / "silent").exists():
            raise ClusterError("It does not answer.")
        found = self.tasks()
        for number, task in found.items():
            if task["pid"] is None and not task.get("over") and not (self.folder / "full").exists():
                self._start(number, task)
        return {number: QueueEntry(number, *_state(one), one["name"]) for number, one in found.items()}

    def cancel(self, ids: Iterable[str]) -> None:
        for task in ids:
            found = self.tasks()[task]
            self._write(task, **found | {"over": True})
            if found["pid"] and is_process_alive(found["pid"], None):
                os.kill(found["pid"], 15)

    def log_file(self, task: str) -> Path:
        return self.folder / f"{task}.log"

    def read_end_word(self, task: str, word: str) -> str:
        return word

    def requeue(self, task: str) -> None:
        """Take its node away: it is told to stop, and put back."""
        found = self.tasks()[task]
        os.kill(found["pid"], 15)
        while is_process_alive(found["pid"], None):
            time.sleep(NAP)
        self._write(task, **found | {"pid": None})

    def tasks(self) -> dict[str, dict[str, Any]]:
        """What is known of each, by its id."""
        return {file.stem: read_json(file) for file in sorted(self.folder.glob("*.json"))}

    def _start(self, number: str, task: dict[str, Any]) -> None:
        command = [sys.executable, "-m", "tests.jobs.local_cluster", "count", str(self.job_folder)]
        with self.log_file(number).open("ab") as log:
            child = subprocess.Popen(
                [*command, *task["words"]], stdout=log, stderr=log, cwd=REPO, env={**os.environ, **task["given"]}
            )
        _children.append(child)
        task["pid"] = child.pid
        self._write(number, **task)

    def _write(self, number: str, **values: Any) -> None:
        write_json(self.folder / f"{number}.json", values)


_children: list["subprocess.Popen[bytes]"] = []


def _state(task: dict[str, Any]) -> tuple[Any, str, str]:
    if task["pid"] is None:
        return ("ended", "", "") if task.get("over") else ("waiting", "no node is free", "")
    return ("running" if is_process_alive(task["pid"], None) else "ended", "", "node7")


COUNTING = replace(REGRESSION, name="counting", working_state="counting", progress_field="progress", total_field="")


@dataclass(frozen=True)
class CountStatus(JobStatus):
    """Of a job that counts; one with `once` is asked for with its folder, for good."""

    kind: ClassVar[JobKind] = COUNTING

    settings: dict[str, Any] = field(default_factory=dict)
    progress: float = 0.0

    @property
    def job_request(self) -> dict[str, Any]:
        """What it is to count."""
        return {} if "once" in self.settings else {"settings": self.settings}


@dataclass(frozen=True)
class CountJob(Job):
    """A job that counts, as it stood when it was read."""

    status: CountStatus
    id: str
    path: Path
    name: str = "counting"
    kind: JobKind = COUNTING


def counting(folder: Path, **settings: Any) -> CountJob:
    """A job that counts `steps`, placed on the cluster; `dies` where it ends without a word."""
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time()
    write_status(folder, CountStatus(queued=now, updated=now, settings=settings))
    write_placement(folder, Placement("slurm", {}))
    return read(folder)


def read(folder: Path) -> CountJob:
    """The job as it stands."""
    return CountJob(CountStatus.from_dict(read_json(folder / "status.json")), id=folder.name, path=folder)


def counted(folder: Path) -> list[int]:
    """How far it has counted, and whether any number came twice."""
    file = folder / "counted"
    return json.loads(f"[{file.read_text().rstrip(',')}]") if file.exists() else []


def work(folder: Path, report: worker.ReportStatus = lambda status: None) -> dict[str, Any]:
    """Be the job's worker: its task on the cluster, or who follows that; returns its last words."""
    job = read(folder)

    def count(status: StatusWriter[CountStatus], stop: StopRequest) -> Outcome:
        steps = job.status.settings["steps"]
        for number in range(len(counted(folder)), steps):
            if stop():
                return Outcome("stopped", f"Stopped at {number}.")
            if number == job.status.settings.get("dies"):
                print("Out of memory.", flush=True)
                os._exit(9)
            with (folder / "counted").open("a") as file:
                file.write(f"{number},")
            status.update(state="counting", message=f"At {number}.", progress=number / steps)
            time.sleep(NAP)
        return Outcome("finished", f"Counted {steps}.")

    return asdict(worker.execute_job(job, count, report).status)


def backend_for(placement: Placement, folder: Path) -> LocalCluster:
    """It, for the job in whose `folder` its task's files are."""
    return LocalCluster(folder.parent)


def use_local_cluster() -> None:
    """Have the followers of this process use it."""
    setattr(follower, "create_scheduler_backend", backend_for)  # noqa: B010
    follower.POLL_SECONDS = NAP


if __name__ == "__main__":
    if sys.argv[1] == "follow":
        use_local_cluster()
        assert task_process.TASK_VARIABLE not in os.environ
    work(Path(sys.argv[2]))
