"""A run's ensemble on images from outside."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ensemble import data
from ensemble.errors import ImageError
from ensemble.runs.environment import prepare_jax
from ensemble.runs.store import find


def predict_images(
    run_id: str, paths: Sequence[Path]
) -> Iterator[tuple[Path, dict[str, Any] | ImageError]]:
    """For each path what the ensemble sees in it, or why it cannot be read.

    A result holds `label`, `probabilities` (10, averaged over members), `votes` (M) and
    `member_probabilities` (M, 10).

    Raises:
      UnknownRunError: there is no such run.
      RunError: it has no checkpoint that can be read yet.
    """
    run = find(run_id)
    prepare_jax()
    from ensemble.engine import predict_probabilities
    from ensemble.runs.checkpoints import read_params

    params = read_params(run)
    for path in paths:
        try:
            image = data.read_image(path)
        except ImageError as error:
            yield path, error
            continue
        yield path, _describe(predict_probabilities(params, image[None])[:, 0])


def _describe(probabilities: np.ndarray) -> dict[str, Any]:
    mean = probabilities.mean(0)
    return {
        "label": int(mean.argmax()),
        "probabilities": [round(float(p), 6) for p in mean],
        "votes": probabilities.argmax(-1).tolist(),
        "member_probabilities": probabilities.round(6).tolist(),
    }
