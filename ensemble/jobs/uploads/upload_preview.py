"""A person's images prepared on trial, to be looked at before they become a dataset; or added as a pool."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, owners
from ensemble.datasets import load_dataset
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.own import arrays, custom_registry, dataset_builder, source_lookup
from ensemble.datasets.own.pools import label_pool
from ensemble.datasets.own.request import DatasetNaming, PreparationSettings
from ensemble.datasets.progress import Progress
from ensemble.errors import NotPreparedError
from ensemble.jobs.uploads import upload_request
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.plain_files import parse_json, read_limited_bytes
from ensemble.storage.records.field_checks import Count, parse_dataclass

_PREVIEW_NAME = "trial"  # of a dataset that has none yet
PREPARED_FOLDER, FINDINGS_FILE = "prepared", "found.json"


@dataclass(frozen=True)
class UploadFindings:
    """What was met on the way, for people.

    Attributes:
      sizes: of the images as they came, and how many there are of each, the commonest first.
      unreadable: files that cannot be read, and why: the first of them.
      unreadable_count: how many there are.
    """

    sizes: list[str]
    unreadable: list[str]
    unreadable_count: Count


@dataclass(frozen=True, eq=False)
class UploadPreview:
    """What would be added.

    Attributes:
      note: what would be kept of it; its title and noun are still to be chosen.
      dataset: its images and labels, as memory maps.
      findings: what was met on the way.
    """

    note: custom_registry.CustomDatasetNote
    dataset: Dataset
    findings: UploadFindings

    def count_labels(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many of these labels each class has, (C,)."""
        return np.bincount(labels, minlength=len(self.note.class_names)).astype(np.int64)


def prepare_preview(source: Path, folder: Path, how: PreparationSettings, progress: Progress) -> None:
    """Prepare what lies in `source`, to be looked at in `folder` until it is kept.

    Args:
      source: a folder or an .npz file.
      folder: of the upload, on the disk of the datasets; what was prepared there before goes.
      how: size, split, what may be unreadable.
      progress: called as progress(fraction in [0, 1] or None, message for people).

    Raises:
      DataError: it is not fit to be a dataset; nothing is left of it.
      StorageError: the disk does not take it.
    """
    staged, report = dataset_builder.stage_custom_dataset(
        source_lookup.open_picture_source(str(source), how.seed, how.class_pattern, how.labels_as, how.masks),
        how,
        DatasetNaming(_PREVIEW_NAME),
        progress,
    )
    try:
        shutil.rmtree(folder / PREPARED_FOLDER, ignore_errors=True)
        upload_findings = UploadFindings(
            [f"{width}×{height}: {many:,}" for height, width, many in report.sizes],
            [f"{where}: {why}" for where, why in report.unreadable],
            report.unreadable_count,
        )
        write_json(folder / FINDINGS_FILE, asdict(upload_findings))
        staged.rename(folder / PREPARED_FOLDER)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise


def add_uploaded_pool(folder: Path, dataset: str, progress: Progress) -> None:
    """Add the images in an upload's folder as a pool of the same owner.

    Raises:
      DataError: the dataset does not exist, or has all of the images, or none can be read.
      StorageError: the disk refuses; nothing is left.
    """
    source = folder / upload_request.SOURCE_FOLDER
    archive = source / "upload.zip"
    pool = label_pool.add_label_pool(
        label_pool.suggest_pool_name(dataset), archive if archive.is_file() else source, load_dataset(dataset), progress
    )
    owners.copy_owner(folder, pool.folder)


def load_preview(folder: Path) -> UploadPreview:
    """What was prepared in an upload's folder.

    Raises:
      NotPreparedError: it is not there, or not what was written.
    """
    try:
        note_bytes = read_limited_bytes(
            folder / PREPARED_FOLDER / custom_registry.NOTE_FILE, custom_registry.MAX_NOTE_BYTES
        )
        note = parse_dataclass(custom_registry.CustomDatasetNote, parse_json(note_bytes))
        custom_dataset = arrays.read_custom_dataset(
            folder / PREPARED_FOLDER, custom_registry.convert_note_to_entry(_PREVIEW_NAME, note), note.labels_crc32
        )
        return UploadPreview(note, custom_dataset, parse_dataclass(UploadFindings, read_json(folder / FINDINGS_FILE)))
    except (OSError, ValueError, DamagedFileError) as error:
        raise NotPreparedError(
            f"The preview of this upload cannot be read ({error}): upload the file again."
        ) from error


def accept_preview(folder: Path, called: DatasetNaming) -> None:
    """What was prepared in an upload's folder takes its place among the datasets.

    Raises:
      AccessError: it is somebody else's upload.
      DataError: there is one of that name, or it is not there any more.
      StorageError: the disk refuses; it stays where it was.
    """
    owners.check_folder_access(Action.CHANGE, folder)
    dataset_builder.accept_staged_dataset(folder / PREPARED_FOLDER, called)


def select_class_examples(trial: UploadPreview, classes: NDArray[np.int64], most: int) -> list[NDArray[np.uint8]]:
    """The first training images of some classes, each (E, H, W, channels), E at most `most`."""
    labels = trial.dataset.train_labels
    return [trial.dataset.train_images[np.flatnonzero(labels == c)[:most]] for c in classes]
