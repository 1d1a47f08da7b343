"""What is written down of who did what, and read again."""

import pytest

from ensemble.access import Action, Person, Role, actions, audit_log, check_permission, set_person_source
from ensemble.errors import AccessError
from ensemble.storage.folders import runs_folder

ANN = Person("ann@example.org", Role.MEMBER)


@pytest.fixture(autouse=True)
def ann_asks():
    set_person_source(lambda: ANN)
    yield
    set_person_source(None)


def test_a_line_is_read_as_it_was_written_and_torn_or_odd_ones_are_left() -> None:
    audit_log.write_audit_entry(Action.LAUNCH, "a\nrun", ANN)
    with (runs_folder() / audit_log.LOG_FILE).open("ab") as file:
        file.write(b'not json\n{"time": 1}\n{"time": "x", "who": "", "role": "", "action": "", "subject": ""}\n\xff\n')
    audit_log.write_audit_entry(actions.UPLOAD_EVENT, "x" * 10_000)
    with (runs_folder() / audit_log.LOG_FILE).open("ab") as file:
        file.write(b'{"time": 1, "who": "ann')
    found = list(audit_log.read_audit_log())
    assert [(one.who, one.action, one.subject) for one in found] == [
        (ANN.name, "launch", "a\nrun"),
        (ANN.name, "upload", "x" * audit_log.MAX_SUBJECT_LETTERS),
    ]
    assert (runs_folder() / audit_log.LOG_FILE).stat().st_mode & 0o777 == 0o600


def test_a_flood_of_refusals_fills_no_disk() -> None:
    eve = Person("flood@example.org", Role.VIEWER)
    set_person_source(lambda: eve)
    for _ in range(3 * audit_log.MAX_EVENTS_PER_MINUTE):
        with pytest.raises(AccessError):
            check_permission(Action.LAUNCH)
    assert len(list(audit_log.read_audit_log())) == audit_log.MAX_EVENTS_PER_MINUTE


@pytest.mark.parametrize("event", [actions.OPEN_EVENT, actions.SIGN_OUT_EVENT])
def test_coming_and_going_does_not_push_what_was_done_out_of_the_log(event: str) -> None:
    audit_log.write_audit_entry(Action.LAUNCH, "a-run")
    for _ in range(3 * audit_log.MAX_EVENTS_PER_MINUTE):
        audit_log.write_audit_entry(event, "a tab")
    audit_log.write_audit_entry(event, "a tab", Person("bob@example.org", Role.VIEWER))
    found = [one.who for one in audit_log.read_audit_log() if one.action == event]
    assert found == [ANN.name] * audit_log.MAX_EVENTS_PER_MINUTE + ["bob@example.org"]
    audit_log.write_audit_entry(Action.LAUNCH, "another")
    assert [one.subject for one in audit_log.read_audit_log() if one.action == "launch"] == ["a-run", "another"]


def test_the_same_change_again_and_again_is_one_line_a_minute() -> None:
    for _ in range(10):
        audit_log.write_audit_entry(Action.CHANGE, "a-run")
        audit_log.write_audit_entry(Action.CHANGE, "another")
        audit_log.write_audit_entry(Action.STOP, "a-run")
    audit_log.write_audit_entry(Action.CHANGE, "a-run", Person("bob@example.org", Role.ADMIN))
    changes = [(one.who, one.subject) for one in audit_log.read_audit_log() if one.action == "change"]
    assert changes == [(ANN.name, "a-run"), (ANN.name, "another"), ("bob@example.org", "a-run")]
    assert sum(one.action == "stop" for one in audit_log.read_audit_log()) == 10


def test_a_log_that_is_long_becomes_the_older_one(monkeypatch) -> None:
    monkeypatch.setattr(audit_log, "MAX_LOG_BYTES", 1000)
    for number in range(100):
        audit_log.write_audit_entry(Action.LAUNCH, f"run-{number}")
    sizes = [one.stat().st_size for one in runs_folder().glob("audit*.jsonl")]
    assert all(size < 1300 for size in sizes)
    subjects = [one.subject for one in audit_log.read_audit_log()]
    assert subjects == [f"run-{number}" for number in range(100 - len(subjects), 100)]
    assert len(subjects) >= 7


def test_what_was_done_is_not_undone_by_a_log_that_cannot_be_written() -> None:
    runs_folder().mkdir(parents=True)
    (runs_folder() / audit_log.LOG_FILE).mkdir()
    audit_log.write_audit_entry(Action.LAUNCH, "a-run")
