"""A folder of runs that is none: one sentence that says what to do, before anything is begun."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from streamlit.testing.v1 import AppTest

from ensemble.cli.program import main
from ensemble.errors import RunError
from ensemble.jobs.folders import delete_run_folder, find_run_folder
from ensemble.storage.disk_errors import describe_disk_error
from ensemble.storage.folders import count_folder_bytes, runs_folder

WRONG = ("file", "below a file", "dangling link", "link to itself", "not UTF-8", "long", "pipe")


def wrong(kind: str, at: Path) -> Path:
    """A path below `at` that runs cannot be kept in."""
    path = at / "runs-here"
    match kind:
        case "file" | "below a file":
            path.write_text("in the way")
            return path if kind == "file" else path / "runs"
        case "dangling link":
            path.symlink_to(at / "nowhere")
        case "link to itself":
            path.symlink_to(path)
        case "not UTF-8":
            return Path(os.fsdecode(os.fsencode(at) + b"/\xff\xfe"))
        case "long":
            return at / ("x" * 300)
        case "pipe":
            os.mkfifo(path)
    return path


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(
    "words", [("runs", "list"), ("runs", "show", "digits-1"), ("train", "--epochs", "1"), ("lbfgs",)]
)
def test_the_command_line_says_one_sentence(
    kind: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(wrong(kind, tmp_path)))
    done = call(*words)
    assert done.exit_code == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith("Error: Runs cannot be saved in ")
    assert said.endswith("Point ENSEMBLE_RUNS at a folder, existing or new.")
    said.encode()


def drawn() -> None:
    """A page that lists runs, as `app.py` draws it."""
    from ensemble.ui.shared import loaders
    from ensemble.ui.shared.guard import guard_page

    with guard_page():
        loaders.list_cached_runs()


def test_a_page_says_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(wrong("not UTF-8", tmp_path)))
    at = AppTest.from_function(drawn).run()
    assert not at.exception
    said = at.error[0].value.replace("\\\\", "\\")  # as Markdown shows it
    assert r"\udcff\udcfe: its name is not UTF-8" in said


@pytest.mark.parametrize("made", [False, True])
def test_a_folder_or_a_link_to_one_is_taken(made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    chosen = tmp_path / "link" if made else tmp_path / "new" / "runs"
    monkeypatch.setenv("ENSEMBLE_RUNS", str(chosen))
    assert runs_folder() == chosen
    assert call("runs", "list").exit_code == 0


def test_a_working_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENSEMBLE_RUNS")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(RunError, match="started in no longer exists"):
        runs_folder()


def test_of_a_run_that_is_a_link_the_link_is_deleted(runs_of_one_test: Path) -> None:
    elsewhere = runs_of_one_test.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text(json.dumps({"settings": {}}))
    runs_of_one_test.mkdir()
    (runs_of_one_test / "digits-0101-000000").symlink_to(elsewhere)
    delete_run_folder(find_run_folder("digits-0101-000000"))
    assert list(runs_of_one_test.iterdir()) == []
    assert [file.name for file in elsewhere.iterdir()] == ["config.json"]


def test_the_bytes_of_a_folder_are_those_of_its_own_files(tmp_path: Path) -> None:
    """A link counts as what it is itself, or a limit could be reached by what lies elsewhere."""
    outside, folder = tmp_path / "outside", tmp_path / "runs"
    (outside / "inner").mkdir(parents=True)
    (outside / "large").write_bytes(b"x" * 100_000)
    (folder / "one" / "two").mkdir(parents=True)
    (folder / "one" / "a").write_bytes(b"x" * 1_000)
    (folder / "one" / "two" / "b").write_bytes(b"x" * 234)
    assert count_folder_bytes(folder) == 1_234
    links = {"file": outside / "large", "folder": outside, "gone": outside / "gone"}
    for name, to in links.items():
        (folder / name).symlink_to(to)
    (folder / "round").symlink_to(folder)
    themselves = sum(len(os.fsencode(to)) for to in (*links.values(), folder))
    assert count_folder_bytes(folder) == 1_234 + themselves
    assert count_folder_bytes(tmp_path / "nowhere") == 0


def test_an_error_elsewhere_stays_a_bug(runs_of_one_test: Path) -> None:
    """A sentence is for what was done to the folders; the program's own files are its business."""
    with pytest.raises(FileNotFoundError) as ours:
        (Path(__file__).parent / "missing").read_bytes()
    with pytest.raises(FileNotFoundError) as theirs:
        (runs_of_one_test / "digits-1" / "status.json").read_bytes()
    assert describe_disk_error(ours.value) is None
    assert "check what is there, or point ENSEMBLE_RUNS" in str(describe_disk_error(theirs.value))
