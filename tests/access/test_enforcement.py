"""Whoever may not do something is refused where it is done, whichever button or request asked."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ensemble import runs
from ensemble.access import Action, Person, Role, audit_log, owners, set_person_source
from ensemble.acquisition.learning_job import LEARNING_STORE, LearningConfig
from ensemble.config import EnsembleConfig
from ensemble.datasets.own import custom_registry, staging
from ensemble.errors import AccessError
from ensemble.jobs import dataset_fetch
from ensemble.jobs.folders import create_run_folder
from ensemble.jobs.job import STOP_FILE
from ensemble.jobs.launch import start_command_process
from ensemble.jobs.placement import Placement, write_placement
from ensemble.jobs.store import JobStore
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.pictures import corrections
from ensemble.regression.regression_job import REGRESSION_STORE, LbfgsConfig, create_regression, delete_regression
from ensemble.runs.annotations import baseline, names, notes, tags
from ensemble.runs.store import RUN_STORE
from ensemble.shift.stress_job import queue_stress
from ensemble.storage.folders import runs_folder
from ensemble.sweeps import store as sweeps
from ensemble.sweeps.claims import TrialClaim, claim_trial
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.study import SweepStudy

ANN, BOB = (Person(f"{name}@example.org", Role.MEMBER) for name in ("ann", "bob"))
VIEWER, ADMIN = Person("eve@example.org", Role.VIEWER), Person("root@example.org", Role.ADMIN)
SMALL = EnsembleConfig(dataset="digits", members=2, epochs=1)
HELD_OUT = replace(SMALL, validation=0.1)
IMAGE: NDArray[np.uint8] = np.zeros((8, 8), np.uint8)


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards() -> Iterator[None]:
    yield
    set_person_source(None)


def as_(person: Person) -> None:
    set_person_source(lambda: person)


def audited() -> list[tuple[str, str, str]]:
    lines = [json.loads(line) for line in (runs_folder() / audit_log.LOG_FILE).read_text().splitlines()]
    return [(line["who"], line["action"], line["subject"]) for line in lines]


BEGINNINGS: dict[str, Callable[[], object]] = {
    "launch a run": lambda: runs.launch_run(SMALL),
    "begin a regression": lambda: create_regression(LbfgsConfig()),
    "begin a sweep": lambda: sweeps.create_sweep(SweepConfig(base=HELD_OUT)),
    "take predictions in": lambda: create_run_folder("import", 0.0).__enter__(),
    "fetch a dataset": lambda: dataset_fetch.start_fetch("mnist"),
    "hand images in": lambda: dataset_upload.receive_upload(io.BytesIO(b""), UploadRequest("a.zip")),
    "add a dataset": lambda: staging.publish_staged_dataset(Path("gone"), "leaves"),
    "start a process": lambda: start_command_process(runs_folder() / "log.txt", "--version"),
    "pin a baseline": lambda: baseline.write_baseline("digits", None),
    "correct a picture": lambda: corrections.save_correction(IMAGE, 3, "5", "", 1),
    "take a correction back": lambda: corrections.delete_correction(IMAGE, 3),
}


@pytest.mark.parametrize("what", BEGINNINGS)
def test_a_viewer_begins_nothing_and_leaves_nothing_behind(what: str) -> None:
    as_(VIEWER)
    with pytest.raises(AccessError, match="look and classify"):
        BEGINNINGS[what]()
    assert {path.name for path in runs_folder().glob("*")} <= {audit_log.LOG_FILE}
    assert not dataset_upload.uploads_folder().exists()


CHANGES: dict[str, Callable[[str], object]] = {
    "rename": lambda run_id: names.rename_run(run_id, "mine"),
    "note": lambda run_id: notes.write_run_note(run_id, "mine"),
    "tag": lambda run_id: tags.write_tags(run_id, ["mine"]),
    "stop": runs.request_run_stop,
    "resume": runs.resume_run,
    "delete": runs.delete_run,
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("person", [VIEWER, BOB], ids=["a viewer", "another member"])
def test_nobody_else_changes_a_members_run(what: str, person: Person) -> None:
    as_(ANN)
    run = runs.create_run(SMALL)
    if what == "resume":
        (run.path / "status.json").write_text('{"state": "stopped"}')
    before = {file: file.read_bytes() for file in sorted(run.path.rglob("*"))}
    as_(person)
    with pytest.raises(AccessError, match=r"belongs to ann@example.org|look and classify"):
        CHANGES[what](run.id)
    assert {file: file.read_bytes() for file in sorted(run.path.rglob("*"))} == before


def as_it_died(folder: Path) -> None:
    """As if the worker had been killed while it was at a job that has its place on a cluster."""
    write_placement(folder, Placement("slurm"))
    (folder / "status.json").write_text('{"state": "solving", "pid": 1, "pid_ticks": 1}')


def as_it_stopped(folder: Path) -> None:
    (folder / "status.json").write_text('{"state": "stopped"}')


@pytest.mark.parametrize("person", [VIEWER, BOB], ids=["a viewer", "another member"])
@pytest.mark.parametrize(
    ("store", "config", "rest", "again"),
    [
        (RUN_STORE, SMALL, as_it_stopped, "resume"),
        (sweeps.SWEEP_STORE, SweepConfig(base=HELD_OUT), as_it_stopped, "resume"),
        (REGRESSION_STORE, LbfgsConfig(), as_it_died, "change"),
        (LEARNING_STORE, LearningConfig(), as_it_stopped, "resume"),
    ],
    ids=["run", "sweep", "regression", "learning"],
)
def test_nobody_else_stops_resumes_or_deletes_a_job_of_any_kind(
    store: JobStore[Any, Any, Any], config: object, rest: Callable[[Path], None], again: str, person: Person
) -> None:
    as_(ANN)
    job = store.create(config)
    refused = []
    for act, arrange in ((store.request_stop, lambda folder: None), (store.requeue, rest), (store.delete, rest)):
        arrange(job.path)
        as_(person)
        with pytest.raises(AccessError, match=r"belongs to ann@example.org|look and classify"):
            act(job.id)
        refused.append(audited()[-1])
        as_(ANN)
    said = ["stop", again, "delete"]
    assert refused == [(person.name, "refused", action) for action in said]
    assert not (job.path / STOP_FILE).exists()
    store.requeue(job.id)
    assert audited()[-1] == (ANN.name, again, job.id)
    assert store.request_stop(job.id)
    as_it_stopped(job.path)
    store.delete(job.id)
    assert [line[1] for line in audited()[-2:]] == ["stop", "delete"]
    assert store.list_jobs() == []


def test_members_do_as_they_like_with_their_own_and_an_admin_with_all() -> None:
    as_(ANN)
    mine, other = runs.create_run(SMALL), runs.create_run(SMALL)
    assert owners.read_owner(mine.path) == ANN.name
    names.rename_run(mine.id, "mine")
    runs.request_run_stop(mine.id)
    assert (mine.path / STOP_FILE).exists()
    as_(ADMIN)
    (other.path / "status.json").write_text('{"state": "stopped"}')
    runs.delete_run(other.id)
    assert audited() == [
        (ANN.name, "launch", mine.id),
        (ANN.name, "launch", other.id),
        (ANN.name, "change", mine.id),
        (ANN.name, "stop", mine.id),
        (ADMIN.name, "delete", other.id),
    ]


def test_what_is_in_a_runs_folder_is_its_owners() -> None:
    as_(ANN)
    run = runs.create_run(SMALL)
    (run.path / "shift").mkdir()
    assert owners.find_owner(run.path / "shift") == ANN.name
    as_(BOB)
    with pytest.raises(AccessError, match="belongs to ann"):
        owners.check_folder_access(Action.STOP, run.path / "shift")


def test_measuring_another_members_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    as_(ANN)
    run = runs.create_run(SMALL)
    monkeypatch.setattr("ensemble.shift.stress_job.find_last_tick", lambda folder: 1)
    as_(BOB)
    with pytest.raises(AccessError, match="belongs to ann"):
        queue_stress(run.id)
    assert not (run.path / "shift").exists()


def test_what_nobody_is_known_to_own_is_an_admins() -> None:
    solve = create_regression(LbfgsConfig())  # from the command line, say
    as_(ANN)
    with pytest.raises(AccessError, match="its owner is unknown"):
        delete_regression(solve.id)
    assert solve.path.exists()


def test_a_dataset_is_removed_by_whoever_added_it() -> None:
    as_(ANN)
    custom_registry.custom_datasets_folder().mkdir(parents=True, exist_ok=True)
    made = custom_registry.custom_datasets_folder() / ".made"
    made.mkdir()
    staging.publish_staged_dataset(made, "anns_leaves")
    as_(BOB)
    with pytest.raises(AccessError, match="belongs to ann"):
        staging.remove_custom_dataset("anns_leaves")
    as_(ANN)
    staging.remove_custom_dataset("anns_leaves")
    assert [line[1:] for line in audited()] == [
        ("add data", "anns_leaves"),
        ("refused", "delete"),
        ("delete", "anns_leaves"),
    ]


def test_a_trial_belongs_to_whoever_asked_for_its_sweep() -> None:
    as_(ANN)
    sweep = sweeps.create_sweep(SweepConfig(base=HELD_OUT))
    set_person_source(None)  # as in the sweep's worker
    claimed = claim_trial(sweep, SweepStudy(sweep.id, sweep.path, sweep.config))
    assert isinstance(claimed, TrialClaim)
    assert owners.read_owner(runs.find_run(claimed.run_id).path) == ANN.name
