"""The range of images' numbers is read by one rule at every entry point: data add, predictions, predict and serve."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ensemble.datasets.own import source_lookup
from ensemble.datasets.own.source import DatasetImageFormat
from ensemble.errors import EnsembleError
from ensemble.exchange.checks.images import convert_array_to_images
from ensemble.exchange.prediction_files import read_prediction_files

SHARES = np.random.default_rng(0).uniform(size=(24, 6, 6))
SHARES[0, 0, 0], SHARES[1, 0, 0] = 0.0, 1.0
Images = NDArray[np.uint8]
Read = Callable[[NDArray[np.generic], Path], Images]


def add_to_dataset(images: NDArray[np.generic], folder: Path) -> Images:
    np.savez(folder / "a.npz", images=images, labels=np.arange(len(images)) % 2)
    source = source_lookup.open_picture_source(str(folder / "a.npz"))
    source.survey()
    form = DatasetImageFormat(6, 6, 1, resize=False)
    return np.stack([np.asarray(picture) for picture in source.iterate_pictures("train", form)])


def import_with_predictions(images: NDArray[np.generic], folder: Path) -> Images:
    probabilities = np.tile([0.75, 0.25], (2, len(images), 1))
    np.savez(folder / "p.npz", probabilities=probabilities, labels=np.arange(len(images)) % 2, images=images)
    found = read_prediction_files([folder / "p.npz"]).images
    assert found is not None
    return found


def predict(images: NDArray[np.generic], folder: Path) -> Images:
    """What `run.predict`, `POST /predict` and the exported predict.py have in common."""
    return convert_array_to_images(images, (6, 6, 1))[0]


for_every_entry = pytest.mark.parametrize("read", [add_to_dataset, import_with_predictions, predict])
READ: dict[str, tuple[NDArray[np.generic], NDArray[np.floating]]] = {
    "bytes": (np.rint(SHARES * 255).astype(np.uint8), np.rint(SHARES * 255)),
    "whole floats": (np.rint(SHARES * 255), np.rint(SHARES * 255)),
    "floats to 255": (SHARES * 255, np.rint(SHARES * 255)),
    "floats to 1": (SHARES, np.rint(SHARES * 255)),
    "float32 to 1": (SHARES.astype(np.float32), np.rint(SHARES.astype(np.float32) * 255.0)),
    "one pixel 1.004": (np.where(SHARES == 1, 1.004, SHARES), np.rint(SHARES * 255)),
    "one pixel -0.004": (np.where(SHARES == 0, -0.004, SHARES), np.rint(SHARES * 255)),
    "one pixel 1.02": (np.where(SHARES == 1, 1.02, SHARES), np.rint(SHARES * 255)),
    "booleans": (SHARES > 0.5, 255.0 * (SHARES > 0.5)),
    "12 bits": (np.rint(SHARES * 4095).astype(np.uint16), np.rint(np.rint(SHARES * 4095) / 4095 * 255)),
    "16 bits": (np.rint(SHARES * 65535).astype(np.int32), np.floor(np.rint(SHARES * 65535) / 256)),
    "whole to 16": (np.rint(SHARES * 16), np.rint(np.rint(SHARES * 16) / 16 * 255)),
}
REFUSED: dict[str, tuple[NDArray[np.generic], str]] = {
    "standardized": ((SHARES - 0.5) / 0.3, "before they are standardized"),
    "from -1 to 1": (SHARES * 2 - 1, "before they are standardized"),
    "below 0": (np.rint(SHARES * 255) - 9, "before they are standardized"),
    "beyond 16 bits": (SHARES * 1e6, "before they are standardized"),
    "NaN": (np.where(SHARES > 0.9, np.nan, SHARES), "NaN or infinite"),
    "infinite": (np.where(SHARES > 0.9, np.inf, SHARES), "NaN or infinite"),
    "one pixel 200": (np.where(SHARES == 1, 200.5, SHARES), "would be nearly black"),
    "one pixel of 16 bits": (
        np.where(SHARES == 1, 65535, np.rint(SHARES * 120)).astype(np.uint16),
        "would be nearly black",
    ),
}


@for_every_entry
@pytest.mark.parametrize("name", READ)
def test_the_same_numbers_are_black_and_white(read: Read, name: str, tmp_path: Path) -> None:
    given, expected = READ[name]
    found = read(given, tmp_path)[..., 0].astype(np.float64)
    assert np.abs(found - expected).max() <= (1 if "bits" in name or "16" in name else 0)


@for_every_entry
@pytest.mark.parametrize("name", REFUSED)
def test_the_same_numbers_are_refused(read: Read, name: str, tmp_path: Path) -> None:
    given, said = REFUSED[name]
    with pytest.raises(EnsembleError, match=said):
        read(given, tmp_path)
