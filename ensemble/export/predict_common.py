"""Read the model, check the images and run the command: what both scripts of folders share.

predict_folder.py inserts this source into the predict.py that it writes, with the rule for images
that `ensemble serve` applies.
"""

import functools
import hashlib
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.exchange.checks.images import convert_array_to_images

FOLDER = Path(__file__).resolve().parent


@functools.cache
def read_model_files() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of model.json, and the arrays of all members by name.

    Raises:
      ValueError: weights.npz is not the file that model.json was written with.
    """
    model = json.loads((FOLDER / "model.json").read_text("utf-8"))
    with (FOLDER / "weights.npz").open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
        # Earlier versions wrote no checksum.
        if model.get("weights", {}).get("sha256", digest) != digest:
            raise ValueError(
                "weights.npz does not belong to model.json: it comes from another export, or is "
                "damaged. Export the run again."
            )
        weights.seek(0)
        with np.load(weights) as file:
            return model, {name: file[name] for name in file.files}


def prepare_images(images: Any) -> Any:
    """Return images as uint8 (N, H, W, channels), with a warning for each assumption made.

    Raises:
      ValueError: the images have another size, or a range that is not one of pixels.
    """
    pixels, notes = convert_array_to_images(images, read_model_files()[0]["image_shape"])
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return pixels


def run_command(predict: Callable[[Any], Any]) -> None:
    """Print one line per image of the named file; write the probabilities if asked."""
    if len(sys.argv) not in (2, 4) or sys.argv[2:3] not in ([], ["--out"]):
        sys.exit("usage: python predict.py images.npy [--out answers.npy]")
    try:
        names = read_model_files()[0]["class_names"]
        probabilities = predict(np.load(sys.argv[1]))
    except (OSError, ValueError) as error:
        sys.exit(f"Error: {error}")
    for number, average in enumerate(probabilities.mean(axis=0)):
        votes = int((probabilities[:, number].argmax(axis=1) == average.argmax()).sum())
        answer = f"{names[average.argmax()]}  {average.max():.1%}"
        print(f"{number}: {answer}  {votes} of {len(probabilities)} members")
    if sys.argv[3:]:
        np.save(sys.argv[3], probabilities)
