"""A full disk and a folder that cannot be written: said in words, nothing left, digits work."""

import dataclasses
import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ensemble import datasets
from ensemble.datasets import store
from ensemble.datasets.advice import convert_storage_errors
from ensemble.datasets.own import staging
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.errors import StorageError
from ensemble.storage.disk_errors import describe_disk_error, describe_remedy

REPO = Path(__file__).resolve().parents[2]
# Writing past a limit on file sizes fails half-way through a write, as on a full disk.
LIMITED = """
import json, os, resource, sys
from pathlib import Path
from ensemble import datasets
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.registry import DatasetEntry
from ensemble.datasets.download_manifest import DownloadManifest, RemoteFile
from ensemble.errors import StorageError
folder, url, limit, text, user = sys.argv[1:]
entry, recipe = json.loads(text)
recipe = DownloadManifest(recipe["version"], tuple(RemoteFile(**file) for file in recipe["files"]))
if user:  # another user may not be able to read the folder that Python is in
    digits = datasets.load_dataset("digits")
    os.setuid(int(user))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
try:
    transfer = datasets.TransferSettings(base_url=url)
    prepare_dataset_files(DatasetEntry(**entry), recipe, Path(folder), None, transfer)
except StorageError as error:
    if not user:
        digits = datasets.load_dataset("digits")
    print(error, len(digits.train_images), datasets.is_dataset_prepared("mnist"))
"""


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def limited(folder, url, limit, tiny, user="") -> "subprocess.CompletedProcess[str]":
    """Prepares in a process that may write files of `limit` bytes, as `user` if one is given."""
    arguments = [str(folder), url, str(limit), tiny.as_json(), user]
    command = [sys.executable, "-W", "error", "-c", LIMITED, *arguments]
    return subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(10_000, set()), (55_000, "all")],  # the first file has 47 kB, the prepared array 63
    ids=["while fetching", "while preparing"],
)
def test_a_full_disk_leaves_nothing_unfinished(limit, kept, server, tiny, transfer, folder):
    assert max(len(body) for body in tiny.files.values()) < 55_000 < tiny.entry.nbytes_prepared
    done = limited(folder, server.base_url, limit, tiny)
    assert done.stderr == ""
    assert "too full for MNIST" in done.stdout
    assert "ENSEMBLE_DATA" in done.stdout
    assert done.stdout.endswith("1297 False\n")
    assert files_in(folder) == (set(tiny.files) if kept == "all" else kept)


def test_too_little_room_is_said_before_anything_is_fetched(server, tiny, transfer, folder):
    vast = dataclasses.replace(tiny.entry, train_size=10**13)
    with pytest.raises(StorageError, match="free 7,850,000,001 MB at"):
        prepare_dataset_files(vast, tiny.recipe, folder, None, transfer)
    assert not server.asked
    assert not files_in(folder)


def test_a_data_folder_that_cannot_be_made(tiny, transfer, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "data"
    monkeypatch.setenv("ENSEMBLE_DATA", str(folder))
    assert not datasets.is_dataset_prepared("mnist")
    with pytest.raises(StorageError) as failure:
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert "Not a directory" in str(failure.value)
    assert "point ENSEMBLE_DATA at a folder that you can write to" in str(failure.value)
    assert len(datasets.load_dataset("digits").test_images) == 500
    assert [info.prepared for info in datasets.list_dataset_infos()] == [True, False, False, False]


@pytest.mark.parametrize(
    ("there", "words"),
    [([], "Permission denied"), (["downloads/mnist", "downloads/manual"], "it cannot be written to")],
)
def test_a_folder_that_is_read_only(there, words, server, tiny, transfer):
    user = "65534" if os.geteuid() == 0 else ""  # root may write anywhere
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # where any user may look
        for inner in there:
            (Path(name) / inner).mkdir(parents=True)
        before = sorted(Path(name).rglob("*"))
        for path in [*before, Path(name)]:
            path.chmod(0o555)
        done = limited(Path(name), server.base_url, 10**9, tiny, user)
        for path in [*before, Path(name)]:
            path.chmod(0o755)
        if "setuid" in done.stderr:
            pytest.skip("root cannot become another user here")
        assert done.stderr == ""
        assert f"MNIST cannot be saved in {name} ({words}: " in done.stdout
        assert "point ENSEMBLE_DATA at a folder that you can write to" in done.stdout
        assert done.stdout.endswith("1297 False\n")
        assert not server.asked
        assert sorted(Path(name).rglob("*")) == before


@pytest.mark.parametrize(
    ("number", "full"),
    [
        (errno.ENOSPC, True),
        (errno.EDQUOT, True),
        (errno.EFBIG, True),
        (errno.EACCES, False),
        (errno.EROFS, False),
        (errno.EIO, False),
    ],
)
def test_a_quota_that_is_used_up_is_a_full_disk_wherever_it_is_met(number, full, tiny, folder):
    error = OSError(number, os.strerror(number), str(folder))
    with pytest.raises(StorageError) as failure, convert_storage_errors(tiny.entry, folder):
        raise error
    said = str(failure.value)
    assert said.startswith("The disk is too full for MNIST: free some space at ") == full
    assert said.startswith(f"MNIST cannot be saved in {folder} ({error.strerror}: ") != full
    assert failure.value.__cause__ is error
    with pytest.raises(StorageError) as failure, staging.convert_staging_errors("leaves"):
        raise error
    said = str(failure.value)
    assert said.startswith("The disk is too full for leaves: free some space at ") == full
    assert said.startswith("The dataset leaves cannot be saved in ") != full
    assert (describe_remedy(error) == "make room") == full
    told = describe_disk_error(OSError(number, os.strerror(number)))
    assert told == (f"The disk is full ({error.strerror}): free some space." if full else None)


def test_a_closed_pipe_is_not_taken_for_the_disk(tiny, transfer, folder):
    def print_to_nobody(fraction, message):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, print_to_nobody, transfer)
    assert not store.is_prepared_dataset_intact(folder, tiny.entry)
