"""Uploads from the file to a dataset: what was handed in comes out, or a sentence says why not."""

import dataclasses
import gzip
import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from PIL import Image

from ensemble import datasets
from ensemble.access import Action, Person, Role, owners, set_person_source
from ensemble.datasets.own.pools import label_pool
from ensemble.datasets.own.request import DatasetNaming
from ensemble.errors import ConfigError, DataError, RunError, StorageError
from ensemble.jobs.job import request_job_stop
from ensemble.jobs.status import JobStatus
from ensemble.jobs.uploads import dataset_upload, upload_preview
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.storage import file_lock
from tests.workers import held_by_a_worker

CLASSES = ("maple", "oak")
RANDOM = np.random.default_rng(0)
IMAGES = {
    f"leaves/{split}/{name}/{number}.png": RANDOM.integers(0, 256, (16, 16, 3), np.uint8)
    for split, each in (("train", 4), ("test", 2))
    for name in CLASSES
    for number in range(each)
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where datasets live; what lies among the uploads after the test can be found, and so discarded."""
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: None)
    yield tmp_path / "data"
    assert [one.name for one in tmp_path.glob("data/uploads/*") if not dataset_upload.read_upload_job(one.name)] == []


def png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def packed(more: dict[str, bytes] | None = None, rename: Callable[[str], str] = lambda name: name) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {**{n: png(i) for n, i in IMAGES.items()}, **(more or {})}.items():
            archive.writestr(rename(name), content)
    return file.getvalue()


def read_through(content: bytes, file: str = "My leaves.zip", **how: Any) -> UploadJob:
    """An upload once its worker has ended."""
    job = dataset_upload.receive_upload(io.BytesIO(content), UploadRequest(file, **how))
    return worked(job)


def worked(job: UploadJob) -> UploadJob:
    assert job.state == "queued"
    dataset_upload.execute_upload(job.id)
    found = dataset_upload.read_upload_job(job.id)
    assert found is not None
    return found


def of_split(images: np.ndarray) -> list[bytes]:
    return sorted(one.tobytes() for one in images)


def test_a_folder_that_was_packed_becomes_the_dataset_pixel_by_pixel(folder: Path) -> None:
    job = read_through(packed())
    assert (job.state, job.message) == ("done", "Read: check it, then add it.")
    assert upload_preview.load_preview(job.path).note.source == "Your own: pictures of the folder My leaves"
    upload_preview.accept_preview(job.path, DatasetNaming("leaves", noun="leaf"))
    dataset_upload.discard_upload(job.id)
    made = datasets.load_dataset("leaves")
    assert (made.class_names, made.noun) == (CLASSES, "leaf")
    for split, images, labels in (
        ("train", made.train_images, made.train_labels),
        ("test", made.test_images, made.test_labels),
    ):
        for number, name in enumerate(CLASSES):
            truth = [i for n, i in IMAGES.items() if n.startswith(f"leaves/{split}/{name}/")]
            assert of_split(images[labels == number]) == of_split(np.stack(truth))
    left = {path.name for path in folder.iterdir() if any(path.rglob("*"))}
    assert left == {"kept", "own"}  # in "kept", how many are copies of one another


@pytest.mark.parametrize("twin", ["Oak", "oak_", "OAK"])
def test_classes_that_are_spelt_almost_alike_in_a_zip_are_asked_about(folder: Path, twin: str) -> None:
    spelt = packed(rename=lambda name: name.replace("/oak/0", f"/{twin}/0"))
    job = read_through(spelt)
    assert job.state == "failed"
    assert f"“{twin}”" in job.message
    assert "“oak”" in job.message
    assert "“Similar classes” below" in job.message
    request = dataclasses.replace(job.request, merge_classes=True)
    merged = worked(dataset_upload.start_upload_reading(job.id, request))
    assert merged.state == "done"
    preview = upload_preview.load_preview(job.path)
    assert preview.note.class_names == list(CLASSES)
    both = np.concatenate([preview.dataset.train_images, preview.dataset.test_images])
    assert of_split(both) == of_split(np.stack(list(IMAGES.values())))
    request = dataclasses.replace(job.request, merge_classes=False)
    worked(dataset_upload.start_upload_reading(job.id, request))
    kept = upload_preview.load_preview(job.path).note
    assert sorted(kept.class_names) == sorted([*CLASSES, twin])


def test_labels_are_read_another_way_where_the_page_says_so(folder: Path) -> None:
    file, images = io.BytesIO(), RANDOM.integers(0, 256, (20, 12, 12), np.uint8)
    np.savez(file, images=images, labels=np.arange(20) % 2 + 1, class_names=np.array(["a", "b"]))
    job = read_through(file.getvalue(), "letters.npz")
    assert job.state == "failed"
    assert "have that done (“Read labels as” below)" in job.message
    request = dataclasses.replace(job.request, labels_as="from-1")
    assert worked(dataset_upload.start_upload_reading(job.id, request)).state == "done"
    said = " ".join(upload_preview.load_preview(job.path).note.said)
    assert "Labels were read as positions of classes from 1" in said


def test_arrays_in_a_file_become_the_dataset(folder: Path) -> None:
    file = io.BytesIO()
    images = RANDOM.integers(0, 256, (20, 12, 12), np.uint8)
    np.savez(file, train_images=images, train_labels=np.arange(20) % 2)
    job = read_through(file.getvalue(), "digits of mine.npz", test_share=0.3)
    found = upload_preview.load_preview(job.path).dataset
    both = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert of_split(both) == of_split(images)
    assert len(found.test_images) == 6


@pytest.mark.parametrize("file", ["my.digits.csv", "my.digits.CSV.gz", "digits.mat", "digits.zip"])
def test_a_data_set_as_it_was_published_becomes_the_dataset(file: str, folder: Path) -> None:
    images, labels = RANDOM.integers(0, 256, (20, 12, 12), np.uint8), np.arange(20) % 2
    rows = [[label, *image.ravel()] for label, image in zip(labels, images, strict=True)]
    names = ["label", *(f"pixel{number}" for number in range(144))]
    table = "\n".join(",".join(map(str, row)) for row in [names, *rows]).encode()
    content = io.BytesIO()
    if file.endswith(".mat"):
        scipy.io.savemat(content, {"X": images.transpose(1, 2, 0), "y": labels})
    elif file.endswith(".zip"):
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("published/train.csv", table)
    else:
        content.write(gzip.compress(table) if file.endswith(".gz") else table)
    job = read_through(content.getvalue(), file)
    assert (job.state, job.message) == ("done", "Read: check it, then add it.")
    found = upload_preview.load_preview(job.path).dataset
    both = np.concatenate([found.train_images, found.test_images])[..., 0]
    assert of_split(both) == of_split(images)


def add_leaves() -> None:
    job = read_through(packed())
    upload_preview.accept_preview(job.path, DatasetNaming("leaves", noun="leaf"))
    dataset_upload.discard_upload(job.id)


def name_file(content: bytes, name: str) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def test_images_without_labels_become_a_pool_of_whoever_uploaded_them(folder: Path) -> None:
    add_leaves()
    new = RANDOM.integers(0, 256, (2, 16, 16, 3), np.uint8)
    set_person_source(lambda: Person("mia@example.org", Role.MEMBER))
    try:
        pictures = [name_file(png(image), "../ä b.PNG") for image in new]
        job = dataset_upload.receive_pool_upload(pictures, "leaves")
        broken = dataset_upload.receive_pool_upload([name_file(b"x", "a.zip")], "leaves")
    finally:
        set_person_source(None)
    assert job.request.file == "2 pictures"
    assert (worked(job).state, worked(broken).state) == ("done", "failed")
    (pool,) = label_pool.list_label_pools()
    np.testing.assert_array_equal(pool.images, new)
    assert pool.read_image_names() == ("0001_ä_b.png", "0002_ä_b.png")
    assert owners.read_owner(pool.folder) == "mia@example.org"
    with pytest.raises(DataError, match="not both"):
        dataset_upload.receive_pool_upload([*pictures, name_file(b"", "b.zip")], "leaves")


def test_what_is_refused_says_why_in_words_of_the_page(folder: Path) -> None:
    job = read_through(packed({"../evil.png": b"x"}))
    assert job.state == "failed"
    assert "“../evil.png” in the archive points outside it" in job.message
    one = {"one/a.png": png(next(iter(IMAGES.values())))}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(*next(iter(one.items())))
    job = read_through(file.getvalue(), "../../ét/c.zip")
    assert job.state == "failed"
    assert str(folder) not in job.message
    assert job.message.startswith("c")
    assert list(folder.rglob("*.part")) == []


def test_classes_spelt_almost_alike_are_asked_about_in_words_of_the_page(folder: Path) -> None:
    content = packed({"a.txt": b""}, lambda name: name.replace("test/oak", "test/Oak"))
    job = read_through(content)
    assert job.state == "failed"
    assert "“Oak” and “oak” differ" in job.message
    assert job.message.endswith("say whether they are one class with “Similar classes” below.")
    merged = read_through(content, merge_classes=True)
    note = upload_preview.load_preview(merged.path).note
    assert (note.class_names, note.test_size) == (["maple", "oak"], 4)
    assert note.tree[1] == "├── train → 8 training images"


def test_too_many_unreadable_files_are_named_and_can_be_let_pass(folder: Path) -> None:
    job = read_through(packed({"leaves/train/oak/bad.png": b"no picture"}))
    assert job.state == "failed"
    assert "bad.png" in job.message
    assert "“Unreadable” below" in job.message
    assert "--" not in job.message
    job = worked(dataset_upload.start_upload_reading(job.id, UploadRequest(job.request.file, max_unreadable=0.2)))
    found = upload_preview.load_preview(job.path)
    assert found.note.train_size == 8
    assert found.findings.unreadable_count == 1
    assert "bad.png" in found.findings.unreadable[0]


def test_another_size_takes_the_place_of_the_first(folder: Path) -> None:
    job = read_through(packed())
    job = worked(dataset_upload.start_upload_reading(job.id, UploadRequest(job.request.file, size=8)))
    assert upload_preview.load_preview(job.path).note.image_shape == [8, 8, 3]
    with pytest.raises(ConfigError, match="size"):
        dataset_upload.start_upload_reading(job.id, UploadRequest(job.request.file, size=2))
    assert upload_preview.load_preview(job.path).note.image_shape == [8, 8, 3]


def test_a_stop_leaves_nothing_half_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = dataset_upload.receive_upload(io.BytesIO(packed()), UploadRequest("a.zip"))
    request_job_stop(job)
    job = worked(job)
    assert job.state == "stopped"
    with pytest.raises(DataError):
        upload_preview.load_preview(job.path)
    dataset_upload.discard_upload(job.id)
    assert not job.path.exists()


def test_an_upload_that_is_read_is_neither_let_go_nor_begun_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "GRACE_SECONDS", 0.05)
    job = dataset_upload.receive_upload(io.BytesIO(packed()), UploadRequest("a.zip"))
    with held_by_a_worker(job.path):
        with pytest.raises(RunError, match="stop that first"):
            dataset_upload.discard_upload(job.id)
        assert dataset_upload.start_upload_reading(job.id, job.request).status == job.status
        with pytest.raises(RunError, match="still being read"):
            dataset_upload.start_upload_reading(job.id, UploadRequest("a.zip", size=16))
    assert dataset_upload.read_upload_job(job.id).request == job.request
    assert job.path.exists()


@pytest.mark.parametrize("file", ["a.tar", "a", ".zip.exe", ""])
def test_a_file_of_another_kind_is_refused_before_it_is_kept(file: str, folder: Path) -> None:
    with pytest.raises(DataError, match="neither a"):
        dataset_upload.receive_upload(io.BytesIO(b"x"), UploadRequest(file))
    assert not folder.exists()


def test_a_disk_that_does_not_take_it_keeps_nothing(folder: Path) -> None:
    class Full(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(28, os.strerror(28))

    with pytest.raises(StorageError, match="ENSEMBLE_DATA"):
        dataset_upload.receive_upload(Full(b"x"), UploadRequest("a.zip"))
    assert list((folder / "uploads").iterdir()) == []


def test_an_upload_that_cannot_be_read_in_that_way_is_not_kept(folder: Path) -> None:
    with pytest.raises(ConfigError, match="size"):
        dataset_upload.receive_upload(io.BytesIO(packed()), UploadRequest("a.zip", size=2))
    assert list((folder / "uploads").iterdir()) == []


def test_an_upload_that_no_worker_can_read_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: UploadJob, action: Action) -> None:
        raise RunError("The log cannot be written.")

    monkeypatch.setattr("ensemble.jobs.store.start_worker", refuse)
    with pytest.raises(RunError, match="log cannot be written"):
        dataset_upload.receive_upload(io.BytesIO(packed()), UploadRequest("a.zip"))
    assert list((folder / "uploads").iterdir()) == []


@pytest.mark.parametrize("ident", ["../../etc", "0" * 16, "", "A" * 16])
def test_what_is_no_upload_is_none(ident: str, folder: Path) -> None:
    assert dataset_upload.read_upload_job(ident) is None
    dataset_upload.discard_upload(ident)


def test_an_upload_is_a_job_like_others(folder: Path) -> None:
    job = dataset_upload.receive_upload(io.BytesIO(packed()), UploadRequest("a.zip"))
    assert isinstance(job.status, JobStatus)
    assert job.status_file.is_file()
