"""Fetching from a real server that cuts, stalls, serves wrong bytes, and then behaves."""

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest

from ensemble.datasets import store
from ensemble.datasets.download_manifest import RemoteFile
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.transfer import TransferError, TransferSettings, fetch_remote_file
from ensemble.errors import DownloadError

IMAGES = "train-images-idx3-ubyte.gz"
LAST = "t10k-labels-idx1-ubyte.gz"
FAULTS = {
    "cut": "broke off after",
    "cut without a length": "broke off after",
    "reset": "reset",
    "stall": "sent nothing for",
    "silent": "sent nothing for",
    "trickle": "stalled",
    "wrong": "wrong checksum",
    "longer": "wrong checksum",
    "login page": "broke off after 42 of",
    "503": "answered 503",
}


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix == ".part"]


def same_as(tiny, dataset) -> None:
    """The dataset read back is the arrays that the files were made of."""
    arrays = tiny.arrays
    np.testing.assert_array_equal(dataset.train_images[..., 0], arrays[IMAGES])
    np.testing.assert_array_equal(dataset.test_images[..., 0], arrays["t10k-images-idx3-ubyte.gz"])
    np.testing.assert_array_equal(dataset.train_labels, arrays["train-labels-idx1-ubyte.gz"])
    np.testing.assert_array_equal(dataset.test_labels, arrays[LAST])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_tried_again_and_forgotten(fault, server, tiny, hasty, folder):
    server.moods[IMAGES].append(fault)
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, hasty)
    same_as(tiny, store.read_prepared_dataset(folder, tiny.entry))
    assert server.asked[IMAGES] >= 2
    assert not leftovers(folder)


@pytest.mark.parametrize(("fault", "words"), FAULTS.items())
def test_a_fault_that_stays_is_said_and_leaves_nothing(fault, words, server, tiny, hasty, tmp_path):
    server.moods[IMAGES].extend([fault] * 2)
    file = tiny.recipe.files[0]
    twice = dataclasses.replace(hasty, attempts=2)
    begun = time.monotonic()
    with pytest.raises(TransferError, match=words):
        fetch_remote_file(file, tmp_path / "here", twice, lambda done, attempt: None)
    assert time.monotonic() - begun < 5  # two stalls of 0.3 s each
    assert server.asked[IMAGES] == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("code", ["408", "425", "429", "500", "503"])
def test_a_server_that_is_busy_is_asked_again(code, server, tiny, transfer, tmp_path):
    server.moods[IMAGES].append(code)
    fetch_remote_file(tiny.recipe.files[0], tmp_path / "here", transfer, lambda done, attempt: None)
    assert (tmp_path / "here").read_bytes() == tiny.files[IMAGES]
    assert server.asked[IMAGES] == 2


def test_the_pause_doubles_from_try_to_try(server, tiny, transfer, tmp_path, monkeypatch):
    server.moods[IMAGES].extend(["503"] * 3)
    patient = dataclasses.replace(transfer, attempts=4, pause_seconds=1.5)
    pauses: list[float] = []
    monkeypatch.setattr("ensemble.datasets.transfer.time.sleep", pauses.append)
    fetch_remote_file(tiny.recipe.files[0], tmp_path / "here", patient, lambda done, attempt: None)
    assert pauses == [1.5, 3.0, 6.0]


def test_a_missing_file_is_not_asked_for_again(server, tiny, transfer, folder):
    del server.files[IMAGES]
    with pytest.raises(DownloadError, match="answered 404"):
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert server.asked[IMAGES] == 1
    assert not store.is_prepared_dataset_intact(folder, tiny.entry)


def test_what_came_whole_is_kept_for_the_next_try(server, tiny, transfer, folder):
    server.moods[LAST].append("404")
    with pytest.raises(DownloadError) as failure:
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert LAST in str(failure.value)
    assert IMAGES not in str(failure.value)
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert server.asked == {**dict.fromkeys(tiny.files, 1), LAST: 2}
    same_as(tiny, store.read_prepared_dataset(folder, tiny.entry))


def test_without_network_it_says_which_files_to_put_where(tiny, folder):
    transfer = TransferSettings(pause_seconds=0)  # the recipe's own host does not exist
    with pytest.raises(DownloadError) as failure:
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    said = str(failure.value)
    assert "looked up" in said
    assert all(name in said for name in tiny.files)
    assert f"into {folder}/downloads/manual and" in said
    assert "use digits meanwhile" in said
    assert (folder / "downloads" / "manual").is_dir()


def test_a_refused_connection_is_a_download_error(server, tiny, folder):
    nobody = TransferSettings(base_url="http://127.0.0.1:1/", attempts=2, pause_seconds=0)
    with pytest.raises(DownloadError, match="refused"):
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, nobody)


def test_an_endless_answer_is_broken_off(server, tmp_path):
    server.files["endless"] = bytes(50_000_000)
    came = []
    file = RemoteFile("endless", "http://unreachable.invalid/endless", 1000, "0" * 64)
    transfer = TransferSettings(base_url=server.base_url, attempts=1)
    with pytest.raises(TransferError, match="wrong checksum"):
        fetch_remote_file(file, tmp_path / "here", transfer, lambda done, attempt: came.append(done))
    assert came == [0]
    assert not list(tmp_path.iterdir())


def test_progress_rises_to_one_and_names_each_file(server, tiny, transfer, folder):
    told = []
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, lambda *words: told.append(words), transfer)
    fractions = [fraction for fraction, message in told if fraction is not None]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert told[-1] == (1.0, "MNIST is ready")
    assert (None, "Preparing MNIST") in told
    for name in tiny.files:
        size = f"{len(tiny.files[name]) / 1e3:.0f}"
        assert any(message == f"Fetching {name}, 0 of {size} kB" for _, message in told)


def test_a_second_attempt_is_told(server, tiny, transfer, folder):
    server.moods[IMAGES].append("wrong")
    told = []
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, lambda *words: told.append(words[1]), transfer)
    assert f"Fetching {IMAGES}, 0 of 47 kB (attempt 2)" in told


def test_giving_up_half_way_leaves_nothing_and_lets_go(server, tiny, transfer, folder):
    def leave(fraction, message):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, leave, transfer)
    assert not leftovers(folder)
    begun = time.monotonic()
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert time.monotonic() - begun < 5
