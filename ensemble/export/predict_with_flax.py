"""Classify images with this ensemble of networks. Needs NumPy, JAX and Flax.

    python predict.py images.npy                       print one line per image
    python predict.py images.npy --out answers.npy     also write the probabilities of each member

To use it in your own program: `from predict import predict`. README.md describes the images.
"""

import functools
import importlib.util
import sys
from typing import Any

import jax
import numpy as np

from ensemble.export.predict_common import FOLDER, prepare_images, read_model_files, run_command

_BATCH_SIZE = 256
sys.dont_write_bytecode = True  # bytecode files would contain the path of this folder


@functools.cache
def _read_model() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    model, arrays = read_model_files()
    members: list[dict[str, Any]] = [{} for _ in range(model["members"])]
    for name, array in arrays.items():
        _, member, *path, last = name.split("/")
        place = members[int(member)]
        for word in path:
            place = place.setdefault(word, {})
        place[last] = array
    return model, members


@functools.cache
def _build_program() -> Any:
    """Compile the function from (variables, images) to the probabilities of one member."""
    spec = importlib.util.spec_from_file_location("network", FOLDER / "network.py")
    assert spec is not None
    assert spec.loader is not None
    network = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(network)
    model = _read_model()[0]
    module = network.create_network(len(model["class_names"]), model["width"])
    return jax.jit(lambda variables, x: jax.nn.softmax(module.apply(variables, x, train=False)))


def predict(images: Any) -> Any:
    """Return each member's probabilities, float32 (members, images, classes).

    Their mean over the members is the ensemble's answer.

    Args:
      images: (N, H, W) or (N, H, W, channels), from 0 to 255, or floats from 0 to 1.

    Raises:
      ValueError: the images have another size or range, or the folder mixes two exports.
    """
    model, members = _read_model()
    images = prepare_images(images)
    answers = np.zeros((len(members), len(images), len(model["class_names"])), np.float32)
    room = min(_BATCH_SIZE, len(images))  # the last batch is padded, so that JAX compiles once
    for m, variables in enumerate(members):
        for at in range(0, len(images), room):
            batch = np.zeros((room, *images.shape[1:]), np.float32)
            count = len(images[at : at + room])
            batch[:count] = images[at : at + room].astype(np.float32) / 255
            answers[m, at : at + count] = _build_program()(variables, batch)[:count]
    return answers


if __name__ == "__main__":
    run_command(predict)
