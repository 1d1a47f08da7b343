"""Sources that ask for more than there is, and words that would spoil every screen."""

import dataclasses
import struct
import threading
import time
import zipfile

import numpy as np
import pytest

from ensemble.datasets import registry
from ensemble.datasets.own import dataset_builder, source_lookup
from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
from ensemble.datasets.own.sources.encoded import picture_decoding
from ensemble.datasets.record import parse_dataset_record, serialize_dataset_entry
from ensemble.errors import ConfigError, DataError
from tests.storage.arrays.archives import npy

MARKUP = "[leaf](http://a.example) <b>x</b> `y` $z$ :red[w] _v_ \u202e\n# #"


def header(descr: str, shape: tuple[int, ...]) -> bytes:
    return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}", b"")


def zipped(path, images, labels):
    """An .npz of headers, and as many zeros behind each as it says."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, (descr, shape, content) in {"images": images, "labels": labels}.items():
            with archive.open(f"train_{name}.npy", "w") as file:
                file.write(header(descr, shape))
                file.write(content)
    return path


def idx(folder, shape):
    """A folder of IDX files whose images are said to have this shape."""
    folder.mkdir()
    said = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    (folder / "train-images-idx3-ubyte").write_bytes(said)
    labels = bytes([0, 0, 8, 1]) + struct.pack(">I", shape[0]) + bytes([0, 1] * (shape[0] // 2))
    (folder / "train-labels-idx1-ubyte").write_bytes(labels)
    return folder


def test_arrays_of_vast_images_are_refused_by_their_shape(tmp_path, add):
    rows = zipped(tmp_path / "a.npz", ("|u1", (2, 10_000, 10_000), bytes(2 * 10**8)), ("|u1", (2,), b"\0\1"))
    with pytest.raises(DataError, match="train_images has images of 10,000×10,000 pixels"):
        add(rows, size=28)
    with pytest.raises(DataError, match="images of 4,294,967,295×4,294,967,295 pixels"):
        add(idx(tmp_path / "b", (4, 2**32 - 1, 2**32 - 1)), size=28)


def test_labels_are_counted_before_they_are_looked_at(tmp_path, add):
    many = 20_000_001
    path = zipped(tmp_path / "a.npz", ("|u1", (many, 0, 1), b""), ("|u1", (many,), bytes(many)))
    with pytest.raises(DataError, match="has 20,000,001 labels, but at most 20,000,000"):
        add(path)
    np.savez(tmp_path / "b.npz", images=np.zeros((2000, 1, 1)), labels=np.arange(2000))
    with pytest.raises(DataError, match="has 2,000 classes"):
        add(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", images=np.zeros((2, 4, 4)), labels=np.uint64([2**63, 1]))
    with pytest.raises(DataError, match="labels of 2⁶³ and more"):
        add(tmp_path / "c.npz")


def test_large_pictures_are_decoded_one_at_a_time(draw, add, monkeypatch):
    at_once, most, real = 0, 0, picture_decoding.convert_to_channels
    counting = threading.Lock()

    def watched(image, channels):
        nonlocal at_once, most
        with counting:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.005)
        found = real(image, channels)
        with counting:
            at_once -= 1
        return found

    monkeypatch.setattr(picture_decoding, "convert_to_channels", watched)
    monkeypatch.setattr("ensemble.datasets.own.sources.encoded.encoded_pictures.count_decoder_threads", lambda: 4)
    add(draw({"a": 8, "b": 8}), "small")
    assert most > 1
    most = 0
    monkeypatch.setattr(picture_decoding, "LARGE_PICTURE_PIXELS", 62)  # of 63 pixels
    add(draw({"a": 8, "b": 8}), "large")
    assert most == 1


@pytest.mark.parametrize("noun", ["blood cell", "Blüte", "пиксель", "हिन्दी", "x-ray", "d'or"])
def test_a_noun_is_a_word(noun):
    assert DatasetNaming("a", noun=noun).noun == noun
    for bad in (MARKUP, f"{noun}*", f"<{noun}>", "-"):
        with pytest.raises(ConfigError, match="is not a word"):
            DatasetNaming("a", noun=bad)


def test_a_noun_that_somebody_wrote_into_a_file_is_a_word_too():
    record = serialize_dataset_entry(registry.find_dataset_entry("digits")) | {"noun": MARKUP}
    assert parse_dataset_record(record).noun == "leaf http a example b x b y z red w v"
    assert dataclasses.replace(registry.find_dataset_entry("digits"), noun="\u202e<>").noun == "image"


def test_an_upload_on_trial_needs_no_name(draw, add):
    pictures = draw({"a": 8, "b": 8})
    add(pictures, "trial")  # what uploads are called until they have a name
    waiting, report = dataset_builder.stage_custom_dataset(
        source_lookup.open_picture_source(str(pictures)), PreparationSettings(), DatasetNaming("trial")
    )
    with pytest.raises(DataError, match="A dataset trial already exists"):
        dataset_builder.accept_staged_dataset(waiting, DatasetNaming("trial"))
    dataset_builder.accept_staged_dataset(waiting, DatasetNaming("other"))
    assert registry.find_dataset_entry("other").train_size == report.note.train_size
