"""A forced export replaces a folder as a whole, wherever its process is killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ensemble.errors import PredictionsError
from ensemble.export import export_members
from ensemble.export.folder_replacement import open_atomic_folder
from tests.documents import REPO
from tests.export.drawn import create_drawn_run

# Replaces a folder again and again, each time killed one file system call later, until one of the
# replacements ends. Prints the content of the folder after each kill, after the recovery, and after
# the next replacement, and all names in the parent folder.
KILL_AT_EVERY_CALL = """
import json, os, signal, sys
from pathlib import Path
from ensemble.export import folder_replacement as replacement
if sys.argv[2] == "two renames":
    replacement.exchange_folders = lambda one, other: False
def read_files(path):
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): file.read_text() for file in files}
def replace(path, word):
    with replacement.open_atomic_folder(path) as folder:
        for name in ("a", "b", "c"):
            (folder / name).write_text(word)
def kill_at_call(parent, last):
    calls = 0
    def count_call(event, arguments):
        nonlocal calls
        if any(str(each).startswith(parent) for each in arguments):
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count_call)
killed = []
while True:
    path = Path(sys.argv[1], str(len(killed)), "f")
    (path / "mine").mkdir(parents=True)
    (path / "mine" / "notes.txt").write_text("mine")
    for name in ("a", "b", "c"):
        (path / name).write_text("old")
    if not (child := os.fork()):
        kill_at_call(str(path.parent), len(killed) + 1)
        replace(path, "new")
        os._exit(0)
    if (code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) != -signal.SIGKILL:
        assert code == 0, code
        break
    states = [read_files(path)]
    replacement.recover_killed_replacements(path)
    states.append(read_files(path))
    left = [each.name for each in path.parent.iterdir()]
    replace(path, "newest")
    killed.append([*states, read_files(path), left])
print(json.dumps(killed))
"""
# Kills an export right after one of its moves.
KILL_EXPORT = """
import os, runpy, signal, sys
from pathlib import Path
from ensemble.export import folder_replacement as replacement
move = sys.argv.pop(1)
exchange, rename = replacement.exchange_folders, Path.rename
def exchange_and_die(one, other):
    if move != "exchange":
        return False
    assert exchange(one, other)
    os.kill(os.getpid(), signal.SIGKILL)
def rename_and_die(path, target):
    rename(path, target)
    if move == ("first rename" if Path(target).suffix == ".old" else "second rename"):
        os.kill(os.getpid(), signal.SIGKILL)
replacement.exchange_folders, Path.rename = exchange_and_die, rename_and_die
sys.argv[0] = "ensemble"
runpy.run_module("ensemble", run_name="__main__")
"""
NOTES = {"mine/notes.txt": "mine"}


def run_script(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        env={**os.environ, "PYTHONPATH": str(REPO), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("way", ["one exchange", "two renames"])
def test_a_replacement_that_is_killed_at_any_call_leaves_a_whole_folder(way: str, tmp_path: Path) -> None:
    if way == "one exchange" and sys.platform != "linux":
        pytest.skip("only Linux exchanges two folders in one step")
    done = run_script(KILL_AT_EVERY_CALL, str(tmp_path), way)
    assert done.returncode == 0, done.stderr
    old, new, newest = ({**dict.fromkeys(("a", "b", "c"), word), **NOTES} for word in ("old", "new", "newest"))
    killed = json.loads(done.stdout)
    assert len(killed) > 20
    missing = [found for found, *_ in killed if not found]
    assert bool(missing) == (way == "two renames")
    for found, recovered, replaced, left in killed:
        assert found in ([old, new] if way == "one exchange" else [old, new, {}])
        assert recovered in ([found] if found else [old])
        assert left == ["f"]
        assert replaced == newest
    assert [each[1] for each in (killed[0], killed[-1])] == [old, new]


@pytest.mark.long_cases
@pytest.mark.parametrize(
    ("format_name", "move"),
    [
        ("folder", "exchange"),
        ("folder", "first rename"),
        ("folder", "second rename"),
        ("tensorboard", "exchange"),
        ("tensorboard", "first rename"),
    ],
)
def test_an_export_that_is_killed_between_its_moves_leaves_a_whole_folder(
    format_name: str, move: str, tmp_path: Path
) -> None:
    old, new = create_drawn_run("logistic"), create_drawn_run("logistic", members=3)
    for run in (old, new):
        (run.path / "history.jsonl").write_text("")
    folder = tmp_path / "f"
    export_members(old.id, folder, format_name)
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("mine")
    before = read_bytes(folder)
    words = ["export", new.id, str(folder), "--format", format_name, "--force"]
    killed = run_script(KILL_EXPORT, move, *words, *["--with-members"] * (format_name == "folder"))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    if move == "first rename":
        assert not folder.exists()
    else:
        assert_whole_export(folder, new.id)
    assert len(list(tmp_path.iterdir())) > 1, "there is nothing to clean up"
    if move == "first rename":  # the next export, of whatever run, begins with the old folder
        with open_atomic_folder(folder):
            assert read_bytes(folder) == before
    export_members(old.id, folder, format_name, replace=True)
    assert_whole_export(folder, old.id)
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def read_bytes(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def assert_whole_export(folder: Path, run_id: str) -> None:
    """Check that every file that names its run, or its weights, comes from this run."""
    files = read_bytes(folder)
    assert files.pop("mine/notes.txt") == b"mine"
    if "model.json" in files:
        model = json.loads(files["model.json"])
        digest = hashlib.sha256(files["weights.npz"]).hexdigest()
        assert (model["run"], model["weights"]["sha256"]) == (run_id, digest)
        assert f"{model['members']} networks".encode() in files["README.md"]
    else:
        (about,) = files.values()
        assert run_id.encode() in about


def test_a_folder_in_use_by_another_export_is_not_cleaned_up(tmp_path: Path) -> None:
    with open_atomic_folder(tmp_path / "f") as slow:
        (slow / "a").write_text("slow")
        with open_atomic_folder(tmp_path / "f") as fast:
            (fast / "a").write_text("fast")
        assert (tmp_path / "f" / "a").read_text() == "fast"
    assert (tmp_path / "f" / "a").read_text() == "slow"
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_what_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "notes.txt").write_text("mine")
    (folder / "b").write_text("mine")
    before = read_bytes(folder)
    with pytest.raises(FileExistsError), open_atomic_folder(folder) as new:
        (new / "a").write_text("a file in the place of a folder")
    with pytest.raises(FileExistsError), open_atomic_folder(folder) as new:
        (new / "b").mkdir()  # a folder in the place of a file
    with pytest.raises(ZeroDivisionError), open_atomic_folder(folder) as new:
        (new / "c").write_text(str(1 / 0))
    assert read_bytes(folder) == before
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_links_and_permissions_of_a_replaced_folder_are_kept(tmp_path: Path) -> None:
    folder, link = tmp_path / "f", tmp_path / "link"
    folder.mkdir(mode=0o750)
    (folder / "mine").symlink_to(tmp_path)
    (folder / "broken").symlink_to("nowhere")
    link.symlink_to(folder)
    with open_atomic_folder(link) as new:
        (new / "a").write_text("new")
    assert link.is_symlink()
    assert (folder / "a").read_text() == "new"
    assert (folder / "mine").readlink() == tmp_path
    assert (folder / "broken").readlink() == Path("nowhere")
    assert folder.stat().st_mode & 0o777 == 0o750


def test_the_working_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_drawn_run("logistic")
    (tmp_path / "f" / "inside").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "f" / "inside")
    with pytest.raises(PredictionsError) as refused:
        export_members(run.id, tmp_path / "f", "folder", replace=True)
    assert str(refused.value) == (
        f"{tmp_path / 'f'} contains the working folder, so it cannot be replaced. Change to "
        "another folder, or choose another name."
    )
    assert [each.name for each in (tmp_path / "f").iterdir()] == ["inside"]
