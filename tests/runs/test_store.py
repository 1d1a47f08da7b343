"""The folder of runs."""

import errno
import importlib.metadata
import json
import os
import shutil
from pathlib import Path

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError, UnknownRunError
from ensemble.jobs import folders
from ensemble.jobs.status import write_status
from ensemble.machine.package_versions import read_package_versions
from ensemble.runs.status import Status


@pytest.mark.parametrize(
    "run_id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "digits",
        "digits-1\n",
        "DIGITS-1",
        "x" * 300,
        "digits-0101-000000",
        "digits-1\x00",
        "-digits-1",
        "~",
        "digits-1121-01/../../etc",
    ],
)
def test_what_is_no_run_is_unknown_and_never_a_path(run_id):
    runs.create_run(EnsembleConfig())
    with pytest.raises(UnknownRunError, match="There is no run"):
        runs.find_run(run_id)


def test_a_new_run_is_queued_and_says_what_was_asked():
    config = EnsembleConfig(members=7, learning_rate=0.2, dataset="mnist")
    run = runs.create_run(config)
    kept = json.loads((run.path / "config.json").read_text())
    assert kept["schema"] == 1
    assert kept["settings"] == config.as_dict()
    assert set(kept["packages"]) >= {"jax", "flax", "optax", "numpy"}
    assert runs.find_run(run.id).config == config
    assert (run.state, run.id.split("-")[0]) == ("queued", "mnist")


def test_runs_made_in_one_second_have_ids_of_their_own():
    assert len({runs.create_run(EnsembleConfig()).id for _ in range(5)}) == 5


def test_runs_are_listed_newest_first_without_the_broken_ones():
    first, second = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())
    broken = runs.create_run(EnsembleConfig())
    (broken.path / "config.json").write_text("{")
    (first.path.parent / "stray").mkdir()
    assert [run.id for run in runs.list_runs()] == [second.id, first.id]
    with pytest.raises(RunError, match="cannot be read"):
        runs.find_run(broken.id)


def test_no_folder_of_runs_is_no_run():
    assert runs.list_runs() == []


def test_a_run_is_renamed_and_its_name_taken_away():
    run = runs.create_run(EnsembleConfig())
    assert run.name == run.id
    assert runs.rename_run(run.id, "  big \n <b>one</b> ").name == "big <b>one</b>"
    assert runs.rename_run(run.id, "").name == run.id
    with pytest.raises(RunError, match="at most 80"):
        runs.rename_run(run.id, "x" * 81)


def test_a_deleted_run_is_gone_with_its_files():
    run, other = runs.create_run(EnsembleConfig()), runs.create_run(EnsembleConfig())
    write_status(run.path, Status(state="stopped"))
    runs.delete_run(run.id)
    assert [one.id for one in runs.list_runs()] == [other.id]
    assert [path.name for path in run.path.parent.iterdir()] == [other.id]


def test_a_broken_run_can_be_deleted():
    run = runs.create_run(EnsembleConfig())
    (run.path / "status.json").write_text("")
    runs.delete_run(run.id)
    assert runs.list_runs() == []


def test_an_active_run_is_not_deleted():
    run = runs.create_run(EnsembleConfig())
    with pytest.raises(RunError, match="stop it, then delete"):
        runs.delete_run(run.id)


def test_a_folder_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "file" / "runs"))
    with pytest.raises(RunError, match="ENSEMBLE_RUNS"):
        runs.create_run(EnsembleConfig())


def test_a_run_of_a_newer_version_is_still_read():
    run = runs.create_run(EnsembleConfig())
    status = json.loads((run.path / "status.json").read_text())
    (run.path / "status.json").write_text(json.dumps({**status, "mood": "good"}))
    assert runs.find_run(run.id).status == run.status


def test_ids_are_what_the_pattern_says():
    assert folders.RUN_ID.fullmatch(runs.create_run(EnsembleConfig(dataset="fashion_mnist")).id)


def test_what_could_not_be_read_is_read_as_soon_as_it_can_be(monkeypatch):
    """A file that is closed to us and opened again looks no other than before."""
    run, opened = runs.create_run(EnsembleConfig()), os.open

    def refuse(path, *more):
        if Path(path) == run.path / "status.json":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert runs.list_runs() == []
        (said,) = runs.list_unreadable_runs().values()
    assert "Permission denied" in said
    assert "delete it" not in said
    assert [one.id for one in runs.list_runs()] == [run.id]
    assert runs.list_unreadable_runs() == {}


def test_of_a_run_that_is_a_link_only_the_link_is_deleted(tmp_path):
    run = runs.create_run(EnsembleConfig())
    write_status(run.path, Status(state="stopped"))
    elsewhere = run.path.rename(tmp_path / "elsewhere")
    run.path.symlink_to(elsewhere)
    runs.delete_run(run.id)
    assert runs.list_runs() == []
    kept = sorted(path.name for path in elsewhere.rglob("*"))
    assert kept == ["config.json", "status.json", "worker.lock"]


def test_versions_are_those_installed_now_and_read_again_only_when_packages_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = read_package_versions()
    assert there == {name: importlib.metadata.version(name) for name in there}
    read, version = list[str](), importlib.metadata.version

    def watched(name: str) -> str:
        read.append(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", watched)
    assert read_package_versions() == there
    assert read == []
    monkeypatch.syspath_prepend(tmp_path)
    assert read_package_versions() == there
    for time, number in enumerate(("1.0", "1.1")):  # installed, then updated
        (folder := tmp_path / f"jax-{number}.dist-info").mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jax\nVersion: {number}\n")
        os.utime(tmp_path, (time, time))  # Clocks of file systems may be coarse.
        assert read_package_versions() == {**there, "jax": number}
        shutil.rmtree(folder)
    assert read_package_versions() == there
