"""Folders that others may have been in first: links, other owners, wide modes; and none at all."""

import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from ensemble.errors import StorageError
from ensemble.jobs import slots
from ensemble.storage.file_lock import try_lock
from ensemble.storage.folders import cache_folder, data_folder, lock_folders
from ensemble.storage.private_folder import create_private_folder

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
ANOTHER = 54321


@pytest.fixture(autouse=True)
def folders_of_one_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A login's folder, a cache folder and one for temporary files, of this test alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr("socket.gethostname", lambda: "node 7/a")
    for variable, name in {"XDG_RUNTIME_DIR": "login", "XDG_CACHE_HOME": "cache", "": "tmp"}.items():
        (tmp_path / name).mkdir(mode=0o755)
        if variable:
            monkeypatch.setenv(variable, str(tmp_path / name))


def wanted(tmp_path: Path) -> list[Path]:
    mine = tmp_path / "tmp" / f"ensemble-{os.geteuid()}"
    return [tmp_path / "login" / "ensemble", mine, tmp_path / "cache/ensemble/locks-node_7_a"]


def squat(folder: Path, how: str) -> None:
    """Another user was first at a folder's name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = folder.parents[1] / "another's"
    elsewhere.mkdir(exist_ok=True)
    if how == "link":
        folder.symlink_to(elsewhere)
    elif how == "dangling link":
        folder.symlink_to(folder.parent / "nowhere")
    elif how == "file":
        folder.touch()
    else:
        folder.mkdir(mode=0o777 if how == "owner, open" else 0)
        (folder / "training.lock").touch()
        os.chown(folder, ANOTHER, ANOTHER)


HOW = [
    "link",
    "dangling link",
    "file",
    pytest.param("owner, open", marks=as_root),
    pytest.param("owner, unreadable", marks=as_root),
]


def test_a_turn_is_locked_in_every_folder_of_the_user_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "elsewhere"))
    with slots.acquire_slots(1):
        assert lock_folders() == wanted(tmp_path)
        for folder in wanted(tmp_path):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert (folder / "training.lock").stat().st_mode & 0o777 == 0o600
        # Started by cron, in another login, or with its home elsewhere: one in common will do.
        monkeypatch.delenv("XDG_RUNTIME_DIR")
        assert slots.acquire_slots(1) is None
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
        assert slots.acquire_slots(1) is None
    with slots.acquire_slots(1), try_lock(tmp_path / "login" / "ensemble" / "training.lock") as free:
        assert free, "what was not needed was not locked"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("how", HOW)
def test_a_folder_that_somebody_else_made_is_left_alone_and_training_goes_on(how: str, tmp_path: Path) -> None:
    login, temporary, cache = wanted(tmp_path)
    squat(temporary, how)
    before = temporary.lstat()
    theirs = try_lock(temporary / "training.lock") if "owner" in how else nullcontext()
    # They hold what would be the lock, for ever: nobody waits for it.
    with theirs, slots.acquire_slots(1), pytest.raises(OSError, match=r"link|no folder|another|exists"):
        create_private_folder(temporary)
    assert lock_folders() == [login, cache]
    assert temporary.lstat() == before
    other = tmp_path / "another's"
    assert list(other.iterdir()) == [], "nothing is made through a link"


@pytest.mark.parametrize("how", HOW)
def test_where_no_folder_is_the_users_own_it_is_said_and_what_to_do(how: str, tmp_path: Path) -> None:
    for folder in wanted(tmp_path):
        squat(folder, how)
    with pytest.raises(StorageError, match=r"no folder for the queue .*XDG_CACHE_HOME at a folder of your own"):
        slots.acquire_slots(1)


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    login = create_private_folder(wanted(tmp_path)[0])
    (login / "training.lock").symlink_to(tmp_path / "made through a link")
    with pytest.raises(StorageError, match=r"login/ensemble/training\.lock cannot be locked"):
        slots.acquire_slots(1)
    assert not (tmp_path / "made through a link").exists()


def test_a_folder_that_stands_open_is_closed(tmp_path: Path) -> None:
    for mode in (0o777, 0o750, 0o000):
        (tmp_path / str(mode)).mkdir()
        (tmp_path / str(mode)).chmod(mode)
        assert stat.S_IMODE(create_private_folder(tmp_path / str(mode)).stat().st_mode) == 0o700


@as_root
def test_the_folder_of_somebody_elses_login_is_not_used(tmp_path: Path) -> None:
    os.chown(tmp_path / "login", ANOTHER, ANOTHER)
    assert lock_folders() == wanted(tmp_path)[1:]


def test_who_has_no_home_has_data_among_the_temporary_files_if_nobody_was_there_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("ENSEMBLE_DATA")
    monkeypatch.setattr(Path, "home", no_home)
    mine = wanted(tmp_path)[1]
    assert cache_folder() == mine
    assert data_folder() == mine / "ensemble"
    assert lock_folders() == [wanted(tmp_path)[0], mine, mine / "ensemble" / "locks-node_7_a"]
    mine.rename(tmp_path / "away")
    squat(mine, "link")
    with pytest.raises(StorageError, match=r"no home folder.*Point XDG_CACHE_HOME at"):
        data_folder()
    assert lock_folders() == [wanted(tmp_path)[0]]
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(Path, "home", lambda: Path("/"))
    with pytest.raises(StorageError, match="no home folder"):
        cache_folder()
