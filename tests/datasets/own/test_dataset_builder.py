"""A dataset of one's own is there whole or not at all, and what it says of itself is so."""

import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from ensemble import datasets
from ensemble.datasets.duplicates import load_training_copies
from ensemble.datasets.own import dataset_builder, source_lookup, staging
from ensemble.datasets.own.report import serialize_preparation_report
from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
from ensemble.datasets.registry import DATASETS, find_dataset_entry, list_dataset_names
from ensemble.errors import ConfigError, DataError, NotPreparedError, StorageError
from ensemble.runs.test_groups import count_training_copies

REPO = Path(__file__).resolve().parents[3]


def left_in(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "own").iterdir())


def test_it_is_found_like_those_that_come_with_the_program(draw, add):
    report = add(draw({"a": 5, "b": 15}), noun="leaf")
    assert list_dataset_names() == (*DATASETS, "pets")
    entry, found = find_dataset_entry("pets"), datasets.load_dataset("pets")
    assert (entry.own, entry.noun, entry.image_shape, entry.title) == (True, "leaf", (9, 7, 3), "Pets")
    assert entry.most_frequent == np.bincount(found.test_labels).max() == 3
    assert entry.fingerprint == found.fingerprint == report.note.fingerprint
    assert datasets.is_dataset_prepared("pets")
    assert not found.train_images.flags.writeable
    assert isinstance(found.train_images.base, np.memmap)


def test_test_images_that_are_also_learnt_from_are_counted(tmp_path, add):
    images = np.random.default_rng(0).integers(0, 256, (20, 5, 5), np.uint8)
    tests = np.concatenate([images[:3], 255 - images[:4]])
    np.savez(tmp_path / "a.npz", x_train=images, y_train=np.arange(20) % 2, x_test=tests, y_test=np.arange(7) % 2)
    report = add(tmp_path / "a.npz")
    assert report.duplicates == 3
    assert report.note.said[-1].startswith("3 test images are also among the training images")


def test_copies_that_were_saved_again_are_said_and_known_to_runs(tmp_path, add):
    draw = np.random.default_rng(0)
    images = np.repeat(np.repeat(draw.integers(0, 256, (20, 4, 4)), 3, 1), 3, 2).astype(np.uint8)
    again = np.clip(images[:4].astype(int) + draw.integers(-2, 3, (4, 12, 12)), 0, 255)
    others = 255 - images[:6]
    tests = np.concatenate([images[:1], again[1:], others, others[:2]]).astype(np.uint8)
    np.savez(tmp_path / "a.npz", x_train=images, y_train=np.arange(20) % 2, x_test=tests, y_test=np.arange(12) % 2)
    report = add(tmp_path / "a.npz")
    assert (report.duplicates, report.training_copies, report.test_copies) == (1, 4, 2)
    said = report.note.said
    assert said[-2].startswith("3 more test images are copies of training images that differ by")
    assert said[-1] == "2 test images are copies of other test images: intervals count them once."
    # It was counted: nobody looks again.
    assert load_training_copies(report.note.fingerprint, None) == 4
    assert load_training_copies("unknown", None) is None
    found = datasets.load_dataset("pets")
    assert count_training_copies(found.train_images, found.test_images, found.fingerprint) == 4


@pytest.mark.parametrize("name", ["", "digits", "synthetic", "../x", "a/b", "Leaves", "9lives", "a" * 33, ".a", "a\n"])
def test_what_is_no_name_is_refused_before_anything_is_read(name):
    with pytest.raises(ConfigError, match="name"):
        DatasetNaming(name)
    with pytest.raises(DataError):
        staging.remove_custom_dataset(name)


def test_a_name_is_given_once(draw, add, data):
    root = draw({"a": 4, "b": 4})
    before = add(root).note.fingerprint
    with pytest.raises(DataError, match="A dataset pets already exists"):
        add(root, seed=5)
    assert (find_dataset_entry("pets").fingerprint, left_in(data)) == (before, ["pets"])


def test_of_two_who_add_one_name_at_once_one_does(draw, add, data):
    root, together = draw({"a": 30, "b": 30}), threading.Barrier(2)
    outcomes = []

    def work(seed):
        source, how = (source_lookup.open_picture_source(str(root), seed), PreparationSettings(seed=seed))
        together.wait()
        try:
            outcomes.append(dataset_builder.add_custom_dataset(source, how, DatasetNaming("pets")).note.fingerprint)
        except DataError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [one for one in outcomes if one.startswith("A dataset pets already exists")]
    assert len(refused) == 1
    assert find_dataset_entry("pets").fingerprint in outcomes
    assert datasets.load_dataset("pets").fingerprint in outcomes
    assert left_in(data) == ["pets"]


def test_a_full_disk_leaves_nothing(draw, add, data):
    root = draw({"a": 30, "b": 30}, shape=(32, 32, 3))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(StorageError, match=r"too full for pets.*no unfinished files are left"):
            add(root)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (left_in(data), list_dataset_names()) == ([], DATASETS)


def test_what_a_killed_process_left_goes_with_the_next(draw, add, data):
    root = draw({"a": 4, "b": 4})
    killed = (
        "import os\nfrom ensemble.datasets.own import staging\n"
        "with staging.open_staging_folder('pets') as folder:\n"
        "    (folder / 'train_images.npy').write_bytes(b'x')\n    os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", killed], cwd=REPO, timeout=240)
    assert len(left_in(data)) == 1
    assert list_dataset_names() == DATASETS
    add(root)
    assert left_in(data) == ["pets"]


def test_one_that_is_staged_is_added_when_it_is_accepted_under_another_name(draw, data):
    source = source_lookup.open_picture_source(str(draw({"a": 4, "b": 4})))
    folder, report = dataset_builder.stage_custom_dataset(source, PreparationSettings(), DatasetNaming("pets"))
    assert list_dataset_names() == DATASETS
    dataset_builder.accept_staged_dataset(folder, DatasetNaming("beasts", "My beasts", "beast"))
    entry = find_dataset_entry("beasts")
    assert (entry.title, entry.noun, entry.fingerprint) == ("My beasts", "beast", report.note.fingerprint)
    with pytest.raises(DataError, match="no longer exist"):
        dataset_builder.accept_staged_dataset(folder, DatasetNaming("again"))


@pytest.mark.parametrize("harm", ["cut", "labels", "gone", "note"])
def test_damage_is_told_from_a_dataset(harm, draw, add, data):
    add(draw({"a": 4, "b": 4}))
    folder = data / "own" / "pets"
    entry = find_dataset_entry("pets")
    if harm == "cut":
        os.truncate(folder / "train_images.npy", 500)
    if harm == "labels":
        np.save(folder / "test_labels.npy", 1 - np.load(folder / "test_labels.npy"))
    if harm == "gone":
        (folder / "test_images.npy").unlink()
    if harm == "note":
        (folder / "dataset.json").write_text('{"format": 1}')
        assert list_dataset_names() == DATASETS
    else:
        assert not datasets.is_dataset_prepared("pets")
        with pytest.raises(NotPreparedError, match=r"remove it with .* data remove pets"):
            datasets.load_dataset(entry.name)
    staging.remove_custom_dataset("pets")
    assert (left_in(data), list_dataset_names()) == ([], DATASETS)


def test_one_added_again_with_other_pictures_has_another_fingerprint(draw, add):
    root = draw({"a": 6, "b": 6})
    first, held = add(root).note.fingerprint, datasets.load_dataset("pets").train_images
    copy = np.array(held)
    staging.remove_custom_dataset("pets")
    assert (held == copy).all()  # who has it open keeps it
    (root / "a" / "003.png").unlink()
    second = add(root).note.fingerprint
    assert first != second == datasets.load_dataset("pets").fingerprint


def test_a_dataset_of_a_thousand_classes_keeps_them_apart(tmp_path, add):
    labels = np.repeat(np.arange(1000), 3)
    images = np.zeros((3000, 4, 4), np.uint8)
    images[:, 0, 0], images[:, 0, 1] = labels // 256, labels % 256
    np.savez(tmp_path / "many.npz", images=images, labels=labels)
    report = add(tmp_path / "many.npz", test_share=0.33)
    found = datasets.load_dataset("pets")
    tops = found.test_images[:, 0, :2, 0].astype(int)
    said = tops[:, 0] * 256 + tops[:, 1]
    assert (said == found.test_labels).all()
    assert (max(report.counts["test"]), report.note.test_size) == (1, 990)
    assert json.loads(json.dumps(serialize_preparation_report(report)))["note"]["most_frequent"] == 1
