"""What is written down of who did what, and read again."""

import json

import pytest
from click.testing import CliRunner

from ensemble.access import Action, Person, Role, actions, audit, check, identify_by
from ensemble.cli.program import main
from ensemble.errors import AccessError
from ensemble.storage.folders import runs_folder

ANN = Person("ann@example.org", Role.MEMBER)


@pytest.fixture(autouse=True)
def ann_asks():
    identify_by(lambda: ANN)
    yield
    identify_by(None)


def test_a_line_is_read_as_it_was_written_and_torn_or_odd_ones_are_left() -> None:
    audit.write(Action.LAUNCH, "a\nrun", ANN)
    with (runs_folder() / audit.FILE).open("ab") as file:
        file.write(
            b'not json\n{"time": 1}\n{"time": "x", "who": "", "role": "", "action": "",'
            b' "subject": ""}\n\xff\n'
        )
    audit.write(actions.UPLOADED, "x" * 10_000)
    with (runs_folder() / audit.FILE).open("ab") as file:
        file.write(b'{"time": 1, "who": "ann')
    found = list(audit.read())
    assert [(one.who, one.action, one.subject) for one in found] == [
        (ANN.name, "launch", "a\nrun"),
        (ANN.name, "upload", "x" * audit.MOST_LETTERS),
    ]
    assert list(audit.read(since=found[1].time + 1)) == []
    assert list(audit.read(who="bob@example.org")) == []
    assert (runs_folder() / audit.FILE).stat().st_mode & 0o777 == 0o600


def test_a_flood_of_refusals_fills_no_disk() -> None:
    eve = Person("flood@example.org", Role.VIEWER)
    identify_by(lambda: eve)
    for _ in range(3 * audit.MOST_REFUSALS):
        with pytest.raises(AccessError):
            check(Action.LAUNCH)
    assert len(list(audit.read())) == audit.MOST_REFUSALS


@pytest.mark.parametrize("event", [actions.OPENED, actions.SIGNED_OUT])
def test_coming_and_going_does_not_push_what_was_done_out_of_the_log(event: str) -> None:
    audit.write(Action.LAUNCH, "a-run")
    for _ in range(3 * audit.MOST_REFUSALS):
        audit.write(event, "a tab")
    audit.write(event, "a tab", Person("bob@example.org", Role.VIEWER))
    found = [one.who for one in audit.read() if one.action == event]
    assert found == [ANN.name] * audit.MOST_REFUSALS + ["bob@example.org"]
    audit.write(Action.LAUNCH, "another")
    assert [one.subject for one in audit.read() if one.action == "launch"] == ["a-run", "another"]


def test_the_same_change_again_and_again_is_one_line_a_minute() -> None:
    for _ in range(10):
        audit.write(Action.CHANGE, "a-run")
        audit.write(Action.CHANGE, "another")
        audit.write(Action.STOP, "a-run")
    audit.write(Action.CHANGE, "a-run", Person("bob@example.org", Role.ADMIN))
    changes = [(one.who, one.subject) for one in audit.read() if one.action == "change"]
    assert changes == [(ANN.name, "a-run"), (ANN.name, "another"), ("bob@example.org", "a-run")]
    assert sum(one.action == "stop" for one in audit.read()) == 10


def test_a_log_that_is_long_becomes_the_older_one(monkeypatch) -> None:
    monkeypatch.setattr(audit, "MOST_BYTES", 1000)
    for number in range(100):
        audit.write(Action.LAUNCH, f"run-{number}")
    sizes = [one.stat().st_size for one in runs_folder().glob("audit*.jsonl")]
    assert all(size < 1300 for size in sizes)
    subjects = [one.subject for one in audit.read()]
    assert subjects == [f"run-{number}" for number in range(100 - len(subjects), 100)]
    assert len(subjects) >= 7


def test_what_was_done_is_not_undone_by_a_log_that_cannot_be_written() -> None:
    runs_folder().mkdir(parents=True)
    (runs_folder() / audit.FILE).mkdir()
    audit.write(Action.LAUNCH, "a-run")


def test_the_command_lists_the_lines_as_text_and_as_json() -> None:
    audit.write(Action.DELETE, "a-run")
    audit.write(actions.REFUSED, "launch", Person("", Role.NOBODY))
    shown = CliRunner().invoke(main, ["audit", "--since", "1h"]).stdout.splitlines()
    assert "ann@example.org (member)" in shown[0]
    assert "a visitor (nobody)" in shown[1]
    lines = CliRunner().invoke(main, ["audit", "--json", "--who", "ANN@example.org"]).stdout
    (line,) = map(json.loads, lines.splitlines())
    assert (line["action"], line["subject"]) == ("delete", "a-run")
    wrong = CliRunner().invoke(main, ["audit", "--since", "soon"])
    assert wrong.exit_code == 2
    assert "write 30m, 12h, 2d or 1w" in wrong.stderr
