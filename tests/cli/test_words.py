"""What the command line says to people, line by line."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli import progress_line
from ensemble.cli.output import exit_with_result
from ensemble.cli.program import main
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.results.predict import format_prediction_line
from ensemble.cli.train import describe_best_epoch
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.recognition.picture_reading import PICTURE_REJECTED_SENTENCE
from ensemble.runs import Status
from ensemble.shift.stress_job import StressStatus

FOUND: dict[str, Any] = {
    "image": "a.png",
    "text": "47",
    "confidence": 0.9731,
    "refused": "",
    "notes": [],
    "digits": [{"named_votes": ["4", "9"], "rejected": False}, {"named_votes": ["7", "7"], "rejected": False}],
}
GONE = {"named_votes": ["4", "4"], "rejected": True, "why": "The members cannot decide what it is."}
STATUS = Status(
    state="training",
    epoch=1,
    epochs=3,
    step=1500,
    steps=4000,
    img_member_per_s=6712.3,
    ensemble_test_accuracy=0.98125,
    seconds_left=12.6,
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "47  (97.3 %; votes 4 9 | 7 7)"),
        ({"refused": PICTURE_REJECTED_SENTENCE}, PICTURE_REJECTED_SENTENCE),
        ({"text": "", "digits": [], "confidence": 0.0}, "no digits."),
        (
            {"text": "?", "digits": [GONE], "confidence": 0.0},
            "I would rather not say. The members cannot decide what it is.",
        ),
        (
            {"text": "??", "digits": [GONE, GONE], "confidence": 0.0},
            "I would rather not say: I recognise none of the 2 marks.",
        ),
        ({"text": "4?", "digits": [FOUND["digits"][0], GONE]}, "4?  (97.3 % of the other; votes 4 9 | –)"),
        (
            {"text": "4?7", "digits": [FOUND["digits"][0], GONE, FOUND["digits"][1]]},
            "4?7  (97.3 % that the other 2 are right; votes 4 9 | – | 7 7)",
        ),
        ({"notes": ["First of 2 pages.", "Turned."]}, "47  (97.3 %; votes 4 9 | 7 7) First of 2 pages. Turned."),
    ],
)
def test_a_picture_is_read_rejected_or_empty(changes: dict[str, Any], said: str) -> None:
    assert format_prediction_line(FOUND | changes) == f"a.png: {said}"


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        (1.0, "over 99.9 %"),
        (0.999999, "over 99.9 %"),
        (0.9995, "over 99.9 %"),
        (0.9994, "99.9 %"),
        (0.61, "61.0 %"),
        (0.0005, "0.1 %"),
        (0.0004, "under 0.1 %"),
    ],
)
def test_a_reading_is_never_a_whole_0_or_100_per_cent_sure(confidence: float, said: str) -> None:
    assert f"({said}; votes" in format_prediction_line(FOUND | {"confidence": confidence})


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (STATUS, "training · epoch 2 of 3 · step 1,500 of 4,000 · 6,712 img·member/s · ensemble 98.12 % · 13 s left"),
        (
            replace(STATUS, state="finished", epoch=3, step=4000, seconds_left=0.0),
            "finished · epoch 3 of 3 · step 4,000 of 4,000 · 6,712 img·member/s · ensemble 98.12 %",
        ),
        (Status(), "queued"),
    ],
)
def test_how_a_run_stands_is_one_line(status: Status, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine("run-1") as line:
        line.show_run(status)
    assert capsys.readouterr().err == f"run-1 · {said}\n"


def test_a_log_gets_a_line_now_and_then_and_every_end_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1000.0
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now)
    line = ProgressLine("stress")
    for later, status in (
        (0.0, StressStatus("queued", message="Waits")),
        (0.1, StressStatus("queued", message="Waits still")),
        (9.0, StressStatus("measuring", steps=1, total=9)),
        (4.9, StressStatus("measuring", steps=2, total=9)),
        (0.2, StressStatus("measuring", steps=3, total=9)),
        (0.1, StressStatus("finished", steps=9, total=9)),
        (9.0, StressStatus("finished", steps=9, total=9)),
    ):
        now += later
        line.show_stress(status)
    assert capsys.readouterr().err.splitlines() == [
        "stress · queued · Waits",
        "stress · queued · Waits still",
        "stress · measuring · 1 of 9 steps",
        "stress · measuring · 3 of 9 steps",
        "stress · finished · 9 of 9 steps",
    ]


def test_a_terminal_has_one_line_written_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressLine("mnist") as line:
        line.show_fraction(None, "Asking")
        line.show_fraction(0.25, "Fetching")
    assert capsys.readouterr().err == "\r\x1b[Kmnist · Asking\r\x1b[Kmnist · Fetching · 25 %\n"


HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\rforged\nline"
SPELT = r"\x1b[2J\x1b]0;title\x07\x9b31m\rforged\nline"


def test_a_name_and_an_id_from_outside_do_not_steer_the_terminal() -> None:
    run = runs.create_run(EnsembleConfig())
    (run.path / "name.txt").write_text(HOSTILE)
    (line,) = CliRunner().invoke(main, ["runs", "list"]).output.splitlines()
    assert line.endswith(SPELT.replace(r"\r", " ").replace(r"\n", " "))
    said = CliRunner().invoke(main, ["runs", "show", HOSTILE])
    assert said.exit_code == 1
    assert json.loads(said.stdout)["error"].startswith(f"There is no run “{HOSTILE}”.")
    assert said.stdout[:-1].isprintable()
    assert said.stderr.startswith(f"Error: There is no run “{SPELT}”.")


def test_what_a_status_says_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine("stress") as line:
        line.show_stress(StressStatus("measuring", message=HOSTILE))
    with pytest.raises(SystemExit):
        exit_with_result("failed", HOSTILE, {"run_id": "x"})
    assert format_prediction_line(FOUND | {"image": HOSTILE}).startswith(HOSTILE)  # until it is printed
    out, err = capsys.readouterr()
    assert err == f"stress · measuring · {SPELT}\n{SPELT}\n"
    assert out == '{"run_id": "x"}\n'


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"epoch": 9}, "Best epoch 2, 98.2 % on the test images; chosen on the test images: expect less on new ones."),
        (
            {"epoch": 9, "best_on": "validation"},
            "Best epoch 2, 98.2 % on the test images; chosen on the validation images, not on the test images.",
        ),
        ({"epoch": 9, "best_ensemble_test_accuracy": 0.102}, ""),
    ],
    ids=["the last", "by test", "by validation", "of a run that only guesses"],
)
def test_the_best_epoch_is_named_with_what_it_was_chosen_on(changes: dict[str, Any], said: str) -> None:
    run = runs.create_run(EnsembleConfig())
    status = Status(epoch=2, best_epoch=2, best_ensemble_test_accuracy=0.982)
    assert describe_best_epoch(replace(run, status=replace(status, **changes))) == said


def test_one_that_patience_ended_is_said_to_be_at_its_own_last_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine("run-1") as line:
        line.show_run(Status(state="finished", epoch=12, epochs=100, step=120, steps=1000))
    assert capsys.readouterr().err == "run-1 · finished · epoch 12 of 100 · step 120 of 1,000\n"


@pytest.mark.parametrize(("share", "guesses"), [(0.09, True), (0.9, False)])
def test_a_run_that_only_guesses_is_said_to(share: float, guesses: bool) -> None:
    run = runs.create_run(EnsembleConfig())
    reached = replace(run.status, state="finished", step=100, ensemble_test_accuracy=share)
    write_status(run.path, reached)
    listed = CliRunner().invoke(main, ["runs", "list"]).output
    (line,) = [line for line in listed.splitlines() if line.startswith(run.id)]
    assert line.endswith(" · at chance level") == guesses
    said = CliRunner().invoke(main, ["runs", "list", "--json"]).output
    assert [json.loads(one)["at_chance"] for one in said.splitlines() if run.id in one] == [guesses]
