"""Uploads as the process that reads them leaves them, and datasets of a person's own."""

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ensemble.datasets.own import arrays, custom_registry, dataset_builder
from ensemble.datasets.own.custom_registry import CustomDatasetNote
from ensemble.datasets.own.request import DatasetNaming
from ensemble.jobs.uploads import dataset_upload, upload_preview
from ensemble.jobs.uploads.dataset_upload import UploadJob, UploadStatus
from ensemble.jobs.uploads.upload_request import UploadRequest
from ensemble.storage.atomic_files import write_json

IDENT = "0123456789abcdef"
NAMES = ("maple", "oak", "elm")


def prepared(
    folder: Path, names: Sequence[str] = NAMES, said: Sequence[str] = (), tree: Sequence[str] = ()
) -> CustomDatasetNote:
    """A dataset of 16×16 colour images in a folder: 8 to learn from and 2 to test of each class."""
    folder.mkdir(parents=True)
    random, classes = np.random.default_rng(0), len(names)
    crc32s = []
    for split, each in (("train", 8), ("test", 2)):
        labels = np.repeat(np.arange(classes, dtype=np.int32), each)
        images = random.integers(0, 256, (len(labels), 16, 16, 3), np.uint8)
        np.save(folder / f"{split}_images.npy", images)
        np.save(folder / f"{split}_labels.npy", labels)
        crc32s.append(arrays.compute_labels_crc32(labels))
    note = CustomDatasetNote(
        format=custom_registry.FORMAT,
        title="",
        noun="image",
        class_names=list(names),
        image_shape=[16, 16, 3],
        train_size=8 * classes,
        test_size=2 * classes,
        most_frequent=2,
        fingerprint="f" * 64,
        labels_crc32=crc32s,
        source="leaves.zip",
        prepared="All are 16×16 and stay unchanged.",
        said=list(said),
        tree=list(tree),
    )
    write_json(folder / custom_registry.NOTE_FILE, dataclasses.asdict(note))
    return note


def upload(state: str, message: str = "", file: str = "leaves.zip") -> UploadJob:
    """An upload in that state, without anything prepared of it."""
    folder = dataset_upload.uploads_folder() / IDENT
    folder.mkdir(parents=True)
    status = UploadStatus(state=state, message=message, queued=time.time(), updated=time.time())
    write_json(folder / "status.json", dataclasses.asdict(status))
    write_json(folder / "request.json", dataclasses.asdict(UploadRequest(file)))
    job = dataset_upload.read_upload_job(IDENT)
    assert job is not None
    return job


def read_through(
    file: str = "leaves.zip", names: Sequence[str] = NAMES, said: Sequence[str] = (), tree: Sequence[str] = ()
) -> UploadJob:
    """An upload that was read to its end."""
    job = upload("done", file=file)
    custom_registry.custom_datasets_folder().mkdir(exist_ok=True)
    prepared(job.path / upload_preview.PREPARED_FOLDER, names, said, tree)
    unreadable = [f"{number}.png: it is damaged" for number in range(2)] if said else []
    found = upload_preview.UploadFindings(["16×16: 30"], unreadable, len(unreadable))
    write_json(job.path / upload_preview.FINDINGS_FILE, dataclasses.asdict(found))
    return job


def own(name: str = "leaves", title: str = "Leaves", names: Sequence[str] = NAMES) -> None:
    """A dataset of a person's own, added."""
    prepared(custom_registry.custom_datasets_folder() / "beside", names)
    dataset_builder.accept_staged_dataset(
        custom_registry.custom_datasets_folder() / "beside", DatasetNaming(name, title, "leaf")
    )
