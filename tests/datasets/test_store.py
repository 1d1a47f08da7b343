"""What is prepared is whole or not there; what is damaged is noticed and made again."""

import json
import os

import numpy as np
import pytest

from ensemble import datasets
from ensemble.datasets import store
from ensemble.datasets.preparation import prepare_dataset_files
from ensemble.errors import NotPreparedError


def shorten(folder):
    array = store.prepared_array_path(folder, "mnist")
    os.truncate(array, array.stat().st_size - 1000)


def lengthen(folder):
    with store.prepared_array_path(folder, "mnist").open("ab") as array:
        array.write(b"more")


def empty(folder):
    os.truncate(store.prepared_array_path(folder, "mnist"), 0)


def blank_the_end(folder):
    array = store.prepared_array_path(folder, "mnist")
    length = array.stat().st_size
    os.truncate(array, length - 40)
    os.truncate(array, length)


def lose_the_note(folder):
    store.prepared_note_path(folder, "mnist").unlink()


def lose_the_array(folder):
    store.prepared_array_path(folder, "mnist").unlink()


def cut_the_note(folder):
    os.truncate(store.prepared_note_path(folder, "mnist"), 20)


def another_note(folder):
    store.prepared_note_path(folder, "mnist").write_text("[]")


def a_note_that_breaks_the_reader(folder):
    store.prepared_note_path(folder, "mnist").write_text("[" * 100_000)


def an_older_note(folder):
    note = store.prepared_note_path(folder, "mnist")
    note.write_text(json.dumps({**json.loads(note.read_text()), "format": store.FORMAT - 1}))


def another_array(folder):
    array = store.prepared_array_path(folder, "mnist")
    length = array.stat().st_size
    array.write_bytes(os.urandom(length))


DAMAGES = [
    shorten,
    lengthen,
    empty,
    blank_the_end,
    lose_the_note,
    lose_the_array,
    cut_the_note,
    another_note,
    a_note_that_breaks_the_reader,
    an_older_note,
    another_array,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_noticed_and_mended(damage, server, tiny, transfer, folder):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert store.is_prepared_dataset_intact(folder, tiny.entry)
    damage(folder)
    assert not store.is_prepared_dataset_intact(folder, tiny.entry)
    with pytest.raises(store.IncompleteDatasetError):
        store.read_prepared_dataset(folder, tiny.entry)
    assert not datasets.is_dataset_prepared("mnist")
    with pytest.raises(NotPreparedError, match=r"MNIST is damaged on disk: .*data prepare mnist"):
        datasets.load_dataset("mnist")
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    labels = store.read_prepared_dataset(folder, tiny.entry).test_labels
    np.testing.assert_array_equal(labels, tiny.arrays["t10k-labels-idx1-ubyte.gz"])
    assert set(server.asked.values()) == {1}  # the files as they came are still here


def test_what_another_has_prepared_meanwhile_is_not_made_again(tiny, transfer, folder):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    files = [place(folder, "mnist") for place in (store.prepared_array_path, store.prepared_note_path)]
    before = [(file.stat().st_ino, file.stat().st_mtime_ns) for file in files]
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    assert [(file.stat().st_ino, file.stat().st_mtime_ns) for file in files] == before


def test_images_are_a_read_only_view_of_the_file(tiny, transfer, folder):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    dataset = store.read_prepared_dataset(folder, tiny.entry)
    owner = dataset.train_images
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    assert isinstance(owner, np.memmap)
    assert owner.mode == "r"
    assert dataset.train_images.flags.c_contiguous
    for array in (dataset.train_images, dataset.test_images, dataset.train_labels):
        assert not array.flags.writeable
    assert dataset.train_images.shape == (60, 28, 28, 1)
    assert dataset.train_images.dtype == np.uint8
    assert dataset.test_labels.shape == (20,)
    assert dataset.test_labels.dtype == np.int32


def test_the_source_says_where_the_files_came_from(server, tiny, transfer, folder):
    prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    source = store.read_prepared_dataset(folder, tiny.entry).source
    assert f"version 3.0.1 of TensorFlow Datasets, from {server.base_url}" in source


def test_files_may_be_read_by_others(tiny, transfer, folder):
    umask = os.umask(0o022)
    try:
        prepare_dataset_files(tiny.entry, tiny.recipe, folder, None, transfer)
    finally:
        os.umask(umask)
    assert store.prepared_array_path(folder, "mnist").stat().st_mode & 0o777 == 0o644
