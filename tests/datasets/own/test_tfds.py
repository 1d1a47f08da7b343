"""TensorFlow Datasets without TensorFlow: a builder that needs none, and one that does."""

import io
from pathlib import Path

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image

from ensemble import datasets
from ensemble.errors import DataError

IMAGES = np.random.default_rng(0).integers(0, 256, (18, 6, 8, 3), np.uint8)
NAMES = ["oak", "elm", "ash"]


def png(pixels: np.ndarray) -> io.BytesIO:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    content.seek(0)
    return content


class MadeUpLeaves(tfds.core.GeneratorBasedBuilder):
    """Eighteen leaves: what a person's own builder looks like."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        features = {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(names=NAMES),
        }
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, manager: object) -> object:
        return {
            "train": self._generate_examples(range(12)),
            "validation": self._generate_examples(range(12, 18)),
        }

    def _generate_examples(self, numbers: range) -> object:
        for number in numbers:
            yield number, {"image": png(IMAGES[number]), "label": number % 3}


@pytest.fixture(autouse=True)
def data_of_tfds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "tfds"))


def test_what_is_prepared_without_tensorflow_comes_out_as_it_went_in(add):
    for name in ("pets", "again"):  # prepared for the first, read by both
        report = add("tfds:made_up_leaves", name)
    assert report.note.said == [
        "There are no test images: the validation images become the test set."
    ]
    found = datasets.load_dataset("again")
    assert found.class_names == tuple(NAMES)
    for images, labels, given in (
        (found.train_images, found.train_labels, IMAGES[:12]),
        (found.test_images, found.test_labels, IMAGES[12:]),
    ):
        places = [
            next(place for place, one in enumerate(given) if (one == image).all())
            for image in images
        ]
        assert sorted(places) == list(range(len(given)))
        assert (labels == np.array(places) % 3).all()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cifar10", r"with TensorFlow only.*--file_format=array_record"),
        ("no_such_thing", r"cannot provide no_such_thing \(Dataset no_such_thing not found\.\)"),
        ("../etc", "is not a name"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_fetched(name, said, add, tmp_path):
    with pytest.raises(DataError, match=said):
        add(f"tfds:{name}")
    assert not list(tmp_path.glob("tfds/**/*"))
