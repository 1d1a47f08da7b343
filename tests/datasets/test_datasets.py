"""The package's public face: what there is, loading, and preparing from a person's own files."""

import dataclasses
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from ensemble import datasets
from ensemble.datasets import idx, store
from ensemble.datasets.download_manifest import load_download_manifest
from ensemble.datasets.original_files import has_mismatched_file
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.datasets.registry import DATASETS, ENTRIES
from ensemble.errors import ConfigError, DownloadError, NotPreparedError

REPO = Path(__file__).resolve().parents[2]
FETCHED = [name for name in DATASETS if name != "digits"]
IMAGES = "train-images-idx3-ubyte.gz"


def put(files, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        (place / name).write_bytes(body)


def test_every_dataset_can_be_described_without_any_being_there(folder):
    assert [info.name for info in datasets.list_dataset_infos()] == list(DATASETS)
    assert [info.prepared for info in datasets.list_dataset_infos()] == [True, False, False, False]
    for info in datasets.list_dataset_infos():
        assert len(info.class_names) == 10
        assert datasets.is_dataset_prepared(info.name) is info.prepared
    assert datasets.find_dataset_info("mnist").title == "MNIST"
    assert not folder.exists()


@pytest.mark.parametrize("name", FETCHED)
def test_what_is_known_beforehand_is_what_tfds_says(name, tmp_path):
    import tensorflow_datasets as tfds

    entry, files = ENTRIES[name], load_download_manifest(name).files
    assert entry.nbytes_download == sum(file.size for file in files)
    assert {file.name for file in files} == {
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    }
    assert all(len(file.sha256) == 64 and file.url.startswith("http") for file in files)
    labels = tfds.builder(name, data_dir=tmp_path).info.features["label"]
    assert list(entry.class_names) == labels.names


def test_digits_need_no_preparing(folder):
    told = []
    datasets.prepare_dataset("digits", lambda *words: told.append(words))
    assert told == [(1.0, "Digits is ready")]
    assert not folder.exists()


@pytest.mark.parametrize("name", FETCHED)
def test_loading_what_is_not_there_says_how_to_get_it(name, folder):
    with pytest.raises(NotPreparedError, match=f"`ensemble data prepare {name}`"):
        datasets.load_dataset(name)
    assert not folder.exists()


@pytest.mark.parametrize(
    "call", [datasets.load_dataset, datasets.find_dataset_info, datasets.is_dataset_prepared, datasets.prepare_dataset]
)
def test_an_unknown_name_is_answered_with_those_there_are(call):
    with pytest.raises(ConfigError, match=r"'imagenet'.*digits, mnist, fashion_mnist, kmnist"):
        call("imagenet")


def test_mnist_from_its_original_files_without_network(folder, mnist_files):
    manual = folder / "downloads" / "manual"
    manual.mkdir(parents=True)
    for path in mnist_files.glob("*.gz"):
        (manual / path.name).symlink_to(path)
    nobody = datasets.TransferSettings(base_url="http://unreachable.invalid/")
    datasets.prepare_dataset("mnist", transfer=nobody)
    mnist = datasets.load_dataset("mnist")
    assert mnist.train_images.shape == (60_000, 28, 28, 1)
    assert mnist.test_images.shape == (10_000, 28, 28, 1)
    # Known figures: mean 0.1307 of 255; counts as LeCun's page and every tutorial have them.
    assert round(float(mnist.train_images.mean() / 255), 4) == 0.1307
    assert np.bincount(mnist.train_labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(mnist.test_labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert datasets.find_dataset_info("mnist").prepared
    assert "files on this disk" in mnist.source
    datasets.prepare_dataset("mnist", transfer=nobody)  # there is nothing left to do


def test_mnist_over_the_network(folder, mnist_files, server):
    server.files.update({path.name: path.read_bytes() for path in mnist_files.glob("*.gz")})
    told = []
    transfer = datasets.TransferSettings(base_url=server.base_url)
    datasets.prepare_dataset("mnist", lambda *words: told.append(words), transfer=transfer)
    assert told[0] == (0.0, f"Fetching {IMAGES}, 0.0 of 9.9 MB")
    assert told[-1] == (1.0, "MNIST is ready")
    assert datasets.load_dataset("mnist").test_labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert server.asked == dict.fromkeys(server.files, 1)


@pytest.mark.parametrize("place", ["downloads/manual", "downloads/manual/mnist"])
def test_files_put_there_by_a_person_are_used(place, tiny, folder, server, transfer):
    put(tiny.files, folder / place)
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert not server.asked
    assert store.is_prepared_dataset_intact(folder, tiny.entry)


def test_only_what_a_person_did_not_put_there_is_fetched(tiny, folder, server, transfer):
    put({IMAGES: tiny.files[IMAGES]}, folder / "downloads/manual")
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert server.asked == {name: 1 for name in tiny.files if name != IMAGES}


def test_a_manual_file_that_is_not_the_right_one_is_passed_over(tiny, folder, server, transfer):
    damaged = bytes(len(tiny.files[IMAGES]))  # of the right size
    put({**tiny.files, IMAGES: damaged}, folder / "downloads/manual")
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert server.asked == {IMAGES: 1}
    assert (folder / "downloads/manual" / IMAGES).read_bytes() == damaged


def test_where_names_clash_the_advice_is_a_folder_of_its_own(tiny, folder):
    put({**tiny.files, IMAGES: b"Fashion-MNIST's, say"}, folder / "downloads/manual")
    with pytest.raises(DownloadError) as failure:
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, datasets.TransferSettings())
    assert f"files {IMAGES} into {folder}/downloads/manual/mnist and" in str(failure.value)
    assert "damaged or belong to another dataset" in str(failure.value)
    put({IMAGES: tiny.files[IMAGES]}, folder / "downloads/manual/mnist")
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, datasets.TransferSettings())
    assert store.is_prepared_dataset_intact(folder, tiny.entry)


def test_a_prepared_dataset_is_read_where_nothing_can_be_written(tiny, transfer, folder):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    before = sorted(folder.rglob("*"))
    for path in before:
        os.chmod(path, 0o555 if path.is_dir() else 0o444)
    try:
        assert len(store.read_prepared_dataset(folder, tiny.entry).train_images) == tiny.entry.train_size
        assert sorted(folder.rglob("*")) == before
    finally:
        for path in before:
            os.chmod(path, 0o755)


@pytest.mark.parametrize(
    ("name", "shape", "words"),
    [
        (IMAGES, (60, 28, 27), "shape"),
        (IMAGES, (59, 28, 28), "shape"),
        (IMAGES, (60,), "shape"),
        ("t10k-labels-idx1-ubyte.gz", (21,), "shape"),
    ],
)
def test_an_idx_file_of_another_shape_is_refused(name, shape, words, tiny):
    with pytest.raises(ValueError, match=words):
        idx.parse_idx_file(tiny.files[name], shape)


def test_what_is_no_idx_file_is_refused(tiny):
    with pytest.raises(ValueError, match="gzip"):
        idx.parse_idx_file(b"<html>", (20,))
    with pytest.raises(ValueError, match="gzip"):
        idx.parse_idx_file(tiny.files[IMAGES][:-20], (60, 28, 28))
    longer = gzip.compress(gzip.decompress(tiny.files[IMAGES]) + b"x")
    with pytest.raises(ValueError, match="not an IDX file"):
        idx.parse_idx_file(longer, (60, 28, 28))


def test_a_file_that_is_right_but_not_understood_is_said(tiny, folder, transfer):
    odd = dataclasses.replace(tiny.entry, train_size=61)
    with pytest.raises(DownloadError, match="not an IDX file"):
        prepare_dataset_files(odd, tiny.recipe, folder, None, transfer)
    assert not list(folder.rglob("*.npy"))


def test_the_note_is_for_people_too(tiny, folder, transfer):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    note = json.loads(store.prepared_note_path(folder, "mnist").read_text())
    assert set(note) == {"format", "bytes", "labels_crc32", "source"}
    assert note["bytes"] == store.prepared_array_path(folder, "mnist").stat().st_size


def test_a_valid_file_next_to_another_of_that_name_does_not_clash(tiny, folder):
    (file,) = (each for each in tiny.recipe.files if each.name == IMAGES)
    put({IMAGES: b"Fashion-MNIST's, say"}, folder / "downloads/manual")
    assert has_mismatched_file(file, "mnist", folder)
    put({IMAGES: tiny.files[IMAGES]}, folder / "downloads/manual/mnist")
    assert not has_mismatched_file(file, "mnist", folder)
