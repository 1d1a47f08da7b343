import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError, UnknownRunError
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH, read_run_note, write_run_note


def test_a_note_comes_back_as_it_was_written() -> None:
    run = runs.create_run(EnsembleConfig())
    assert read_run_note(run) == ""
    write_run_note(run.id, "  Larger steps.\n\nπ ≈ 3 <b>not bold</b>\n")
    assert read_run_note(run) == "Larger steps.\n\nπ ≈ 3 <b>not bold</b>"


def test_an_empty_note_takes_it_away() -> None:
    run = runs.create_run(EnsembleConfig())
    write_run_note(run.id, "something")
    write_run_note(run.id, " \n ")
    assert not (run.path / "notes.md").exists()
    write_run_note(run.id, "")


def test_a_note_that_is_too_long_is_refused_and_the_old_one_kept() -> None:
    run = runs.create_run(EnsembleConfig())
    write_run_note(run.id, "a" * MAX_NOTE_LENGTH)
    with pytest.raises(RunError, match=r"at most 4,000 characters; this has 4,001"):
        write_run_note(run.id, "b" * (MAX_NOTE_LENGTH + 1))
    assert read_run_note(run) == "a" * MAX_NOTE_LENGTH


def test_a_note_that_somebody_else_made_too_long_or_not_text_is_cut() -> None:
    run = runs.create_run(EnsembleConfig())
    (run.path / "notes.md").write_bytes(b"\xff" + b"x" * 10_000)
    assert len(read_run_note(run)) == MAX_NOTE_LENGTH


def test_no_note_without_a_run() -> None:
    with pytest.raises(UnknownRunError, match="no run"):
        write_run_note("../elsewhere", "text")
