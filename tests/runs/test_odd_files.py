"""A run whose files are odd is named with the reason; all others go on, and so does the queue."""

import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ensemble import regression, runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.dataset_fetch import FetchStatus
from ensemble.jobs.queue import list_blocking_jobs, list_queued_jobs
from ensemble.regression import LbfgsConfig, RegressionStatus
from ensemble.runs import Status
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.training.session import _choose_run_devices
from ensemble.shift import StressStatus

KINDS = [Status, RegressionStatus, StressStatus, FetchStatus]
# No field of any status may be one of these.
NOWHERE: list[Any] = [True, [[1]], 10**400, float("inf"), "\ud800"]
SWITCHES = {"machine_fault"}
WORDS = {"state", "message", "host", "platform", "best_on"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_status_has_a_field_that_is_something_else(kind: type[Status]) -> None:
    for field in fields(kind):
        for odd in [*NOWHERE, 3 if field.name in WORDS else "x"]:
            if field.name in SWITCHES and odd is True:
                continue
            with pytest.raises(ValueError, match=f"{field.name} is "):
                kind.from_dict({"state": "queued", field.name: odd})
    for changes in (
        {"pid": -1},
        {"pid": 0},
        {"pid": 2.0},
        {"pid": 2**31},
        {"created": None},
        {"queued": None},
        {"updated": -1},
        {"updated": 1e308},
        {"pid_created": 1e308},
        {"state": "training!"},
        {"state": None},
        {"host": None},
    ):
        if changes.keys() <= {field.name for field in fields(kind)}:
            with pytest.raises(ValueError, match=" is "):
                kind.from_dict(changes)
    for state in kind.kind.states:
        assert kind.from_dict({"state": state, "pid": 1, "later": []}).state == state


def alive(**changes: Any) -> str:
    """The status of a run that this process is at, but for the changes."""
    known = {
        "state": "training",
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "created": time.time(),
        "queued": time.time(),
        "updated": time.time(),
    }
    return json.dumps({**known, **changes})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("status.json", alive(created=None)),
        ("status.json", alive(pid=-1)),
        ("status.json", alive(queued="now")),
        ("status.json", alive(state=[])),
        ("status.json", alive(message={})),
        ("status.json", "[" * 100_000),
        ("config.json", '{"settings": {"members": "many"}}'),
        ("config.json", '{"kind": 7}'),
        ("config.json", '{"settings": [1]}'),
        ("config.json", '{"kind": [], "settings": {}}'),
        ("config.json", '{"settings": {"\\ud800": 1}}'),
        ("config.json", "{" * 100_000),
    ],
)
def test_the_odd_one_is_named_and_the_sound_one_goes_on(name: str, content: str) -> None:
    odd, sound = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())
    (odd.path / name).write_text(content)
    assert [run.id for run in runs.list_runs()] == [sound.id]
    (why,) = runs.list_unreadable_runs().values()
    assert f"The run “{odd.id}” cannot be read (" in why
    assert why.endswith("delete it, or put its files back.")
    assert "\n" not in why
    assert sound.id in [job.id for job in list_queued_jobs()]
    assert list_blocking_jobs()
    listed = CliRunner().invoke(main, ["runs", "list", "--json"], catch_exceptions=False)
    assert [json.loads(row)["run_id"] for row in listed.stdout.splitlines()] == [sound.id]
    shown = CliRunner().invoke(main, ["runs", "show", odd.id], catch_exceptions=False)
    assert (shown.exit_code, f"Error: {json.loads(shown.stdout)['error']}\n") == (1, shown.stderr)
    assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
@pytest.mark.parametrize("name", ["config.json", "status.json"])
def test_what_is_no_file_is_named_too(name: str, make: Callable[[Path], object]) -> None:
    odd, sound = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())
    (odd.path / name).unlink()
    make(odd.path / name)
    assert list(runs.list_unreadable_runs()) == [odd.id]
    assert [run.id for run in runs.list_runs()] == [sound.id]
    with pytest.raises(RunError, match="cannot be read"):
        runs.find_run(odd.id)


def test_an_odd_regression_is_named_and_the_others_are_listed() -> None:
    odd, sound = (regression.create_regression(LbfgsConfig()) for _ in range(2))
    (odd.path / "status.json").write_text('{"devices": "two"}')
    assert [one.id for one in regression.list_regressions()] == [sound.id]
    assert list(regression.list_unreadable_regressions()) == [odd.id]
    assert runs.list_unreadable_runs() == {}


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_an_odd_name_or_note_is_none(make: Callable[[Path], object]) -> None:
    run = runs.create_run(EnsembleConfig())
    for name in ("name.txt", "notes.md"):
        make(run.path / name)
    found = runs.find_run(run.id)
    assert (found.name, read_run_note(found)) == (run.id, "")


def test_a_name_is_one_line_of_at_most_eighty_letters() -> None:
    run = runs.create_run(EnsembleConfig())
    (run.path / "name.txt").write_bytes("é\n\x00  é ".encode() * 100_000 + b"\xff")
    assert 75 < len(runs.find_run(run.id).name) <= 80
    assert runs.find_run(run.id).name.startswith("é \x00 é é")


@pytest.mark.parametrize("used", [0, -1, True, "2", 1.5, None, [], 10**400])
def test_devices_that_nobody_can_have_used_are_chosen_anew(used: Any) -> None:
    run = runs.create_run(EnsembleConfig(devices=2))
    (run.path / "devices.json").write_text(json.dumps({"used": used}))
    assert len(_choose_run_devices(run)) == 2
    (run.path / "devices.json").write_text('{"used": 3}')
    assert len(_choose_run_devices(run)) == 3
