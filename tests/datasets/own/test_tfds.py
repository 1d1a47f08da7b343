"""TensorFlow Datasets without TensorFlow: a builder that needs none, and one that does."""

import http.server
import io
import socketserver
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image
from tensorflow_datasets.core.download import downloader

from ensemble import datasets
from ensemble.datasets.own.sources import host_check
from ensemble.errors import DataError

IMAGES = np.random.default_rng(0).integers(0, 256, (18, 6, 8, 3), np.uint8)
NAMES = ["oak", "elm", "ash"]
NO_HOST = "http://127.0.0.1:9"  # the port of "discard", where nothing listens


def png(pixels: np.ndarray) -> io.BytesIO:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    content.seek(0)
    return content


class MadeUpLeaves(tfds.core.GeneratorBasedBuilder):
    """Eighteen leaves: what a person's own builder looks like."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        features = {"image": tfds.features.Image(shape=(None, None, 3)), "label": tfds.features.ClassLabel(names=NAMES)}
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, manager: object) -> object:
        return {"train": self._generate_examples(range(12)), "validation": self._generate_examples(range(12, 18))}

    def _generate_examples(self, numbers: range) -> object:
        for number in numbers:
            yield number, {"image": png(IMAGES[number]), "label": number % 3}


class MadeUpPacked(MadeUpLeaves):
    """Leaves in an archive, which is unpacked by means of TensorFlow."""

    def _split_generators(self, manager: Any) -> object:
        paths = manager.download({"train": f"{NO_HOST}/train.zip"})
        return {split: self._iterate(manager, path) for split, path in paths.items()}

    def _iterate(self, manager: Any, path: Path) -> object:
        return ((name, file) for name, file in manager.iter_archive(path))


class MadeUpRemote(MadeUpLeaves):
    """Leaves that have to be fetched from where nothing listens."""

    def _split_generators(self, manager: Any) -> object:
        paths = manager.download([f"{NO_HOST}/{number}.bin" for number in range(3)])
        return {"train": self._generate_examples(range(len(paths)))}


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers every request with 405."""

    def do_HEAD(self) -> None:
        self.send_error(405)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def data_of_tfds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "tfds"))


def test_what_is_prepared_without_tensorflow_comes_out_as_it_went_in(add):
    for name in ("pets", "again"):  # prepared for the first, read by both
        report = add("tfds:made_up_leaves", name)
    assert report.note.said == ["There are no test images: the validation images become the test set."]
    found = datasets.load_dataset("again")
    assert found.class_names == tuple(NAMES)
    for images, labels, given in (
        (found.train_images, found.train_labels, IMAGES[:12]),
        (found.test_images, found.test_labels, IMAGES[12:]),
    ):
        places = [next(place for place, one in enumerate(given) if (one == image).all()) for image in images]
        assert sorted(places) == list(range(len(given)))
        assert (labels == np.array(places) % 3).all()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mnist", r"mnist is built in .* `--dataset mnist`"),
        ("fashion_mnist:3.0.1", r"fashion_mnist is built in .* `--dataset fashion_mnist`"),
        ("kmnist", r"kmnist is built in .* data prepare kmnist`"),
        ("beans", r"prepare beans with TensorFlow only"),
        ("food101", r"prepare food101 with TensorFlow only"),
        ("made_up_packed", r"prepare made_up_packed with TensorFlow only"),
        ("cifar10", r"with TensorFlow only.*--file_format=array_record"),
        ("no_such_thing", r"cannot provide no_such_thing \(Dataset no_such_thing not found\.\)"),
        ("../etc", "is not a name"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_fetched(name, said, add, tmp_path):
    with pytest.raises(DataError, match=said):
        add(f"tfds:{name}")
    assert not list(tmp_path.glob("tfds/**/*"))


def test_a_host_that_does_not_answer_is_told_before_the_downloader_tries_ten_times(add, monkeypatch, capsys):
    monkeypatch.setattr(downloader, "_open_with_requests", lambda *_, **__: pytest.fail("tried"))
    with pytest.raises(DataError, match=r"downloaded from 127\.0\.0\.1, which does not answer"):
        add("tfds:made_up_remote")
    assert not capsys.readouterr().out


def test_a_host_whose_name_is_looked_up_without_end_is_not_waited_for(monkeypatch):
    looked_up = threading.Event()
    monkeypatch.setattr(host_check, "LOOKUP_SECONDS", 0.01)
    monkeypatch.setattr(host_check, "ask_host", lambda _: looked_up.wait(60))
    try:
        with pytest.raises(DataError, match=r"from leaves\.example, which does not answer"):
            host_check.check_host_answers("https://leaves.example/a.zip", "leaves")
    finally:
        looked_up.set()


def test_a_host_that_refuses_answers_too():
    with socketserver.TCPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            host_check.check_host_answers(f"http://127.0.0.1:{server.server_address[1]}/a", "a")
        finally:
            server.shutdown()


def test_what_is_not_of_the_web_is_not_asked(monkeypatch):
    monkeypatch.setattr(host_check, "ask_host", lambda _: False)
    host_check.check_host_answers("ftp://leaves.example/a.zip", "leaves")
