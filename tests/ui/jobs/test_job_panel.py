"""Every kind of job on a page: Stop is said in every tab, too late is no error, ends are told."""

import dataclasses
import errno
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import dataset_fetch
from ensemble.jobs.job import STOP_FILE, Job, clear_stop_request
from ensemble.jobs.kinds import TRAINING
from ensemble.regression import LbfgsConfig
from ensemble.shift import StressStatus
from ensemble.shift.results import stress_folder
from ensemble.shift.stress_job import StressJob
from ensemble.storage.atomic_files import write_json
from ensemble.ui.jobs import job_panel
from tests.workers import at_work_here


def stress() -> Job:
    run = runs.create_run(EnsembleConfig())
    return StressJob(run.id, run.name, stress_folder(run.path), StressStatus(queued=time.time()))


MADE: dict[str, Callable[[], Job]] = {
    "training": lambda: runs.create_run(EnsembleConfig()),
    "stress": stress,
    "regression": lambda: regression.create_regression(LbfgsConfig()),
    "fetch": lambda: dataset_fetch.create_fetch_job("mnist"),
}


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))


def make(kind: str) -> Job:
    made = MADE[kind]()
    made.path.mkdir(parents=True, exist_ok=True)
    clear_stop_request(made.path)
    return made


def written(job: Job, **changes: object) -> Job:
    """The job with its status changed, on disk too."""
    now = {"host": socket.gethostname(), "updated": time.time()}
    status = dataclasses.replace(job.status, **{**now, **changes})
    write_json(job.status_file, dataclasses.asdict(status))
    return dataclasses.replace(job, status=status)  # type: ignore[type-var]


def worked_at(job: Job) -> Job:
    """The job with this process for its worker."""
    return written(job, state=job.kind.working_state, **at_work_here(job.path))


def tab(job: Job, resume: bool = False) -> AppTest:
    """A page that shows the job as it stands, anew at each drawing."""

    def page(job, resume):  # type: ignore[no-untyped-def]
        import dataclasses

        import streamlit as st

        from ensemble.storage.atomic_files import read_json
        from ensemble.ui.jobs import job_panel

        status = type(job.status).from_dict(read_json(job.status_file))
        now = dataclasses.replace(job, status=status)
        if now.active or resume:
            job_panel.show_job_progress(now, "so far", resume=(lambda: st.text("resumed")) if resume else None)
        else:
            job_panel.show_job_ending(now)

    return AppTest.from_function(page, args=(job, resume)).run()


def labels(at: AppTest) -> list[tuple[str, bool]]:
    assert not at.exception
    return [(one.label, one.disabled) for one in at.button]


@pytest.mark.parametrize("kind", MADE)
def test_stopping_is_shown_in_every_tab_and_stopping_too_late_is_not_an_error(kind: str) -> None:
    job = worked_at(make(kind))
    one, other, late = tab(job), tab(job), tab(job)
    assert labels(one) == labels(other) == [("Stop", False)]
    one.button("stop").click().run()
    assert labels(one) == [("Stopping…", True)]
    assert labels(other.run()) == [("Stopping…", True)]
    written(job, state="stopped", message="Stopped by hand.")
    assert labels(other.run()) == []
    assert [one.value for one in other.info] == ["Stopped by hand."]
    late.button("stop").click().run()
    assert labels(late) == []
    assert not late.error


def test_why_a_job_cannot_be_asked_to_stop_is_said_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the job's folder, which may be called anything."""
    touch = Path.touch

    def refuse(path: Path) -> None:
        if path.name == STOP_FILE:
            raise OSError(errno.EIO, os.strerror(errno.EIO), f"{path.parent}/![x](http://x.example)")
        touch(path)

    at = tab(worked_at(make("training")))
    monkeypatch.setattr(Path, "touch", refuse)
    at.button("stop").click().run()
    (said,) = at.error
    assert "x.example" in said.value
    assert "![x](" not in said.value


def test_a_job_without_its_worker_shows_the_end_of_its_log_and_can_be_resumed() -> None:
    for job in map(make, MADE):
        (job.path / "log.txt").write_text("\n".join(f"line {number}" for number in range(100)))
        at = tab(written(job, state=job.kind.working_state, pid=2**22 + 1))
        said = job.kind.describe_death(job.path)
        if job.kind is TRAINING:
            assert said.endswith("No checkpoint has been written yet: resume starts from the beginning.")
        assert [one.value for one in at.error] == [said]
        (log,) = at.code
        assert log.value.splitlines()[0] == "line 60"
        assert log.value.splitlines()[-1] == "line 99"
        at = tab(written(job, state="stopped"), resume=True)
        assert labels(at) == ([("Resume", False)] if "stopped" in job.kind.resumable else [])


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_log_that_is_no_file_is_none(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "log.txt")
    assert job_panel.read_log_tail(tmp_path / "log.txt") == ""
