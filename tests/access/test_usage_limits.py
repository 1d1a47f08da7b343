"""What one person may ask of a shared server, and how full its folder of runs may get."""

import contextlib
import io
import threading
from dataclasses import replace

import pytest

from ensemble import runs
from ensemble.access import Person, Role, set_person_source, usage_limits
from ensemble.access.rate_limiter import MAX_PEOPLE, RateLimiter
from ensemble.config import EnsembleConfig
from ensemble.errors import AccessError, ConfigError
from ensemble.jobs.launch import count_active_jobs
from ensemble.jobs.queue import iterate_jobs
from ensemble.jobs.status import write_status
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.storage.folders import count_folder_bytes, runs_folder
from ensemble.ui.sign_in import middleware

ANN, BOB = (Person(f"{name}@example.org", Role.MEMBER) for name in ("ann", "bob"))
ADMIN = Person("root@example.org", Role.ADMIN)
SMALL = EnsembleConfig(members=1, epochs=1, network="logistic")


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards():
    yield
    set_person_source(None)
    usage_limits.invalidate_disk_quota()


def as_(person: Person) -> None:
    set_person_source(lambda: person)


def test_within_any_minute_a_person_does_something_so_often_and_no_more() -> None:
    counted = RateLimiter()
    times = [0, 1, 2, 30, 59, 60, 60.5, 61, 62, 119]
    taken = [now for now in times if counted.try_count("ann", 3, now)]
    assert taken == [0, 1, 2, 60, 61, 62]
    assert not any(sum(start <= now < start + 60 for now in taken) > 3 for start in range(120))
    assert counted.try_count("bob", 1, 62)
    assert not counted.try_count("bob", 0, 200)


def test_of_two_at_once_one_is_too_many() -> None:
    counted, got = RateLimiter(), list[bool]()
    every = [threading.Thread(target=lambda: got.append(counted.try_count("ann", 5))) for _ in range(40)]
    for one in every:
        one.start()
    for one in every:
        one.join()
    assert sum(got) == 5


def test_however_many_people_come_memory_is_bounded() -> None:
    counted = RateLimiter()
    for number in range(MAX_PEOPLE + 10):
        counted.try_count(str(number), 1, number / 1000)
    assert len(counted._done) <= MAX_PEOPLE


def test_a_person_has_so_many_jobs_at_once_and_others_have_theirs(monkeypatch) -> None:
    monkeypatch.setenv(usage_limits.JOBS_VARIABLE, "2")
    as_(ANN)
    first, _ = (runs.create_run(SMALL) for _ in range(2))
    with pytest.raises(AccessError, match="2 jobs queued or running, the limit for one person"):
        runs.create_run(SMALL)
    as_(BOB)
    runs.create_run(SMALL)
    as_(ADMIN)
    for _ in range(3):
        runs.create_run(SMALL)
    assert [count_active_jobs(one.name) for one in (ANN, BOB, ADMIN)] == [2, 1, 3]
    as_(ANN)
    write_status(first.path, runs.Status(state="stopped", queued=1.0, updated=1.0))
    again = runs.create_run(SMALL)
    with pytest.raises(AccessError, match="2 jobs"):
        runs.requeue_run(first.id)
    assert runs.find_run(first.id).state == "stopped"
    assert again.id in {job.id for job in iterate_jobs()}


def test_of_many_launches_at_once_no_more_begin_than_one_person_may_have(monkeypatch) -> None:
    monkeypatch.setenv(usage_limits.JOBS_VARIABLE, "2")
    as_(ANN)
    at_once, made = threading.Barrier(8), list[str]()

    def press() -> None:
        at_once.wait()
        with contextlib.suppress(AccessError):
            made.append(runs.create_run(SMALL).id)

    every = [threading.Thread(target=press) for _ in range(8)]
    for one in every:
        one.start()
    for one in every:
        one.join()
    assert len(made) == count_active_jobs(ANN.name) == 2


def test_so_many_uploads_of_a_person_are_read_at_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(usage_limits.JOBS_VARIABLE, "2")
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: None)

    def hand_in() -> dataset_upload.UploadJob:
        return dataset_upload.receive_upload(io.BytesIO(b"PK"), UploadRequest("leaves.zip"))

    as_(ANN)
    first, _ = hand_in(), hand_in()
    with pytest.raises(AccessError, match="2 uploads that are still being read"):
        hand_in()
    assert len(list(dataset_upload.uploads_folder().iterdir())) == 2
    as_(BOB)
    hand_in()
    as_(ADMIN)
    assert all(hand_in().active for _ in range(3))
    write_status(first.path, replace(first.status, state="done"))
    as_(ANN)
    hand_in()


def test_nobody_is_limited_on_a_machine_of_their_own(monkeypatch) -> None:
    monkeypatch.setenv(usage_limits.JOBS_VARIABLE, "0")
    runs.create_run(SMALL)
    as_(ANN)
    with pytest.raises(AccessError, match="0 jobs"):
        runs.create_run(SMALL)


def test_a_full_folder_takes_nothing_new_of_anybody_and_says_so(monkeypatch) -> None:
    run = runs.create_run(SMALL)
    (run.path / "large").write_bytes(bytes(9_500))
    held = count_folder_bytes(runs_folder())
    assert held == sum(one.stat().st_size for one in runs_folder().rglob("*") if one.is_file())
    assert usage_limits.measure_disk_quota() is None
    monkeypatch.setenv(usage_limits.RUNS_GB_VARIABLE, str((held + 500) / 1e9))
    found = usage_limits.measure_disk_quota()
    assert found == usage_limits.DiskQuota(held, held + 500)
    assert found.is_nearly_full
    assert not found.is_full
    monkeypatch.setenv(usage_limits.RUNS_GB_VARIABLE, str(held / 1e9))
    for person in (None, ANN, ADMIN):
        set_person_source((lambda who=person: who) if person else None)
        with pytest.raises(AccessError, match="and is full: delete runs"):
            runs.create_run(SMALL)
    set_person_source(None)
    write_status(run.path, runs.Status(state="stopped", queued=1.0, updated=1.0))
    runs.delete_run(run.id)
    runs.create_run(SMALL)


def test_a_size_that_is_no_number_is_said(monkeypatch) -> None:
    for wrong in ("much", "-1", "nan", "1e30"):
        monkeypatch.setenv(usage_limits.RUNS_GB_VARIABLE, wrong)
        with pytest.raises(ConfigError, match=f"{usage_limits.RUNS_GB_VARIABLE} is {wrong}: give a number"):
            usage_limits.measure_disk_quota()


def test_uploads_are_counted_by_person_and_an_admins_are_not(monkeypatch) -> None:
    monkeypatch.setenv(usage_limits.UPLOADS_VARIABLE, "2")
    eve = Person("eve@example.org", Role.VIEWER)
    assert [usage_limits.register_upload(eve) for _ in range(4)] == [True, True, False, False]
    assert all(usage_limits.register_upload(ADMIN) for _ in range(20))


@pytest.mark.parametrize(
    ("method", "path", "is_one"),
    [
        ("PUT", "/_stcore/upload_file/a/b", True),
        ("POST", "/_stcore/upload_file/a/b", True),
        ("DELETE", "/_stcore/upload_file/a/b", False),
        ("PUT", "/_stcore/health", False),
        ("GET", "/_stcore/upload_file/a/b", False),
    ],
)
def test_what_hands_a_file_in_is_told_by_method_and_path(method, path, is_one) -> None:
    assert middleware.is_upload_request({"type": "http", "method": method, "path": path}) is is_one


def test_each_run_of_a_file_is_looked_at_for_room_and_counts_for_the_next(monkeypatch) -> None:
    run = runs.create_run(SMALL)
    held = count_folder_bytes(runs_folder())
    monkeypatch.setenv(usage_limits.RUNS_GB_VARIABLE, str((held + 1_000_000) / 1e9))
    for _ in range(2):
        with usage_limits.limit_imports(400_000):
            pass
    with pytest.raises(AccessError, match=r"takes 0\.4 MB, and there is not so much room"):  # noqa: SIM117
        with usage_limits.limit_imports(400_000):
            pytest.fail("there is no room for it")
    with pytest.raises(ZeroDivisionError), usage_limits.limit_imports(100_000):
        raise ZeroDivisionError
    # What was begun then is gone, and nothing lies in the folder in truth.
    with usage_limits.limit_imports(900_000):
        assert run.path.exists()
