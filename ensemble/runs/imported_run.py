"""A run made of predictions from elsewhere: all that they say, and nothing of how they came."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.config import ImportedConfig
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails, write_details
from ensemble.datasets.record import serialize_dataset_entry
from ensemble.datasets.registry import DatasetEntry
from ensemble.jobs.folders import SCHEMA, change_job_files, create_run_folder
from ensemble.jobs.kinds import IMPORTED
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.runs.status import Status, build_epoch_status_fields
from ensemble.runs.store import Run, find_run
from ensemble.runs.test_set import DETAILS_FILE, GROUPS_FILE, IMAGES_FILE, LABELS_FILE, REPEATS_FILE
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.atomic_files import open_atomic_write, write_bytes, write_json
from ensemble.storage.records.json_lines import Line, append_line, convert_to_json


def create_imported_run(
    epochs: Iterable[Floats],
    labels: Ints,
    data: DatasetEntry,
    *,
    name: str = "",
    images: NDArray[np.uint8] | None = None,
    member_names: Sequence[str] = (),
    groups: Ints | None = None,
    repeats: Ints | None = None,
    details: ExampleDetails = NO_DETAILS,
) -> Run:
    """A new run, state `imported`, of predictions that were made elsewhere.

    Args:
      epochs: an epoch's probabilities (M, N, C) each; taken one after the other, so that they
        need not all be there at once. They are kept as float32.
      labels: (N,), class numbers in [0, C).
      data: what the examples are: `class_names` C, `test_size` N, `image_shape` of `images`.
      name: for people; "" for none.
      images: uint8 (N, H, W, channels), where there are any.
      member_names: M of them, or none.
      groups: (N,), which examples belong together, where that is known.
      repeats: (N,), equal numbers for examples that are copies, if there are no images to tell.
      details: what the examples are called, where that is known.

    Raises:
      RunError: the folder cannot be written. What was begun is removed.
    """
    now = time.time()
    with create_run_folder(IMPORTED, now) as folder:
        status = Status(state="imported", created=now, queued=now, updated=now, best_on="test")
        members = 0
        write_arrays(folder / LABELS_FILE, {"labels": np.asarray(labels, np.int32)})
        if images is not None:
            write_image_array(folder / IMAGES_FILE, images)
        if groups is not None:
            write_arrays(folder / GROUPS_FILE, {"groups": np.asarray(groups, np.int64)})
        if repeats is not None:
            write_arrays(folder / REPEATS_FILE, {"groups": np.asarray(repeats, np.int64)})
        if details:
            write_details(folder / DETAILS_FILE, details)
        count = 0
        for count, probabilities in enumerate(epochs, 1):
            members = len(probabilities)
            write_predictions(folder, count, probabilities)
            line = build_epoch_line(probabilities, labels, count)
            append_line(folder / "history.jsonl", line)
            fields = build_epoch_status_fields(status, line)
            status = replace(status, epoch=count, epochs=count, **fields)
        if name:
            write_bytes(folder / "name.txt", name.encode())
        write_status(folder, status)
        # config.json comes last: a folder without it is not yet a run.
        write_json(
            folder / "config.json",
            {
                "schema": SCHEMA,
                "kind": IMPORTED,
                "settings": ImportedConfig(members=members, epochs=count).as_dict(),
                "dataset": serialize_dataset_entry(data),
                "member_names": list(member_names),
            },
        )
    with change_job_files(folder, action=None):
        return find_run(folder.name)


def build_epoch_line(probabilities: Floats, labels: Ints, epoch: int) -> Line:
    """An epoch's line of the history, as far as its test predictions tell.

    Args:
      probabilities: (M, N, C).
      labels: (N,).
      epoch: counted from 1.
    """
    predictions, unknown = evaluate_predictions(probabilities, labels), [None] * len(probabilities)
    loss = np.array([compute_mean_nll(member, labels) for member in probabilities])
    return convert_to_json(
        {
            "kind": "epoch",
            "epoch": epoch,
            "step": epoch,
            "progress": float(epoch),
            "train_loss": unknown,
            "train_accuracy": unknown,
            "test_loss": loss,
            "ensemble_test_loss": loss.mean(),
            "test_accuracy": (predictions.votes == labels).mean(axis=1),
            "ensemble_test_nll": compute_mean_nll(predictions.averaged, labels),
            "ensemble_test_accuracy": predictions.right.mean(),
            "disagreement": predictions.disagreement.mean() if predictions.members > 1 else None,
            "member_disagreement": (predictions.votes != predictions.said).mean(axis=1),
        }
    )


def compute_mean_nll(probabilities: Floats, labels: Ints) -> float:
    """Mean of −log p(label), in nats: of (N, C) and (N,); a p of 0 counts as float32's least."""
    chosen = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    return float(-np.log(np.maximum(chosen, np.finfo(np.float32).tiny)).mean())


def write_image_array(path: Path, images: NDArray[np.uint8]) -> None:
    """Write images as .npy; OSError of a full disk too, of which NumPy's own writing loses why."""
    content = np.ascontiguousarray(images)
    header = np.lib.format.header_data_from_array_1_0(content)
    with open_atomic_write(path) as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(content.data)
