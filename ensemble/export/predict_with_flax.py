"""What this ensemble of networks makes of images. It takes NumPy, JAX and Flax; see requirements.

    python predict.py images.npy                       a line for each image
    python predict.py images.npy --out answers.npy     and every member's probabilities

In a program of yours: `from predict import predict`. README.md says what the images have to be.
"""

import functools
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

FOLDER = Path(__file__).resolve().parent
BATCH_SIZE = 256
sys.dont_write_bytecode = True  # else it lies in this folder, and says where that is


@functools.cache
def read_model() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is known of the ensemble, and the variables of each member as Flax nests them."""
    model = json.loads((FOLDER / "model.json").read_text("utf-8"))
    members: list[dict[str, Any]] = [{} for _ in range(model["members"])]
    with np.load(FOLDER / "weights.npz") as file:
        for name in file.files:
            _, member, *path, last = name.split("/")
            place = members[int(member)]
            for word in path:
                place = place.setdefault(word, {})
            place[last] = file[name]
    return model, members


@functools.cache
def build_program() -> Any:
    """(variables, images) -> probabilities of one member, compiled."""
    spec = importlib.util.spec_from_file_location("network", FOLDER / "network.py")
    assert spec is not None
    assert spec.loader is not None
    network = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(network)
    model = read_model()[0]
    module = network.create_network(len(model["class_names"]), model["width"])
    return jax.jit(lambda variables, x: jax.nn.softmax(module.apply(variables, x, train=False)))


def predict(images: Any) -> Any:
    """Every member's probabilities, float32 (members, images, classes); their mean is the answer.

    Images are (N, H, W) or (N, H, W, channels), from 0 to 255.
    """
    model, members = read_model()
    images = np.asarray(images)
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or list(images.shape[1:]) != model["image_shape"]:
        raise ValueError(f"images are {images.shape}, not (N, *{model['image_shape']})")
    answers = np.zeros((len(members), len(images), len(model["class_names"])), np.float32)
    room = min(BATCH_SIZE, max(len(images), 1))  # the last batch is filled up: one program for all
    for m, variables in enumerate(members):
        for at in range(0, len(images), room):
            batch = np.zeros((room, *images.shape[1:]), np.float32)
            count = len(images[at : at + room])
            batch[:count] = images[at : at + room].astype(np.float32) / 255
            answers[m, at : at + count] = build_program()(variables, batch)[:count]
    return answers


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or sys.argv[2:3] not in ([], ["--out"]):
        sys.exit("usage: python predict.py images.npy [--out answers.npy]")
    probabilities = predict(np.load(sys.argv[1]))
    names = read_model()[0]["class_names"]
    for number, average in enumerate(probabilities.mean(axis=0)):
        votes = int((probabilities[:, number].argmax(axis=1) == average.argmax()).sum())
        said = f"{names[average.argmax()]}  {average.max():.1%}  {votes} of {len(probabilities)}"
        print(f"{number}: {said} members")
    if sys.argv[3:]:
        np.save(sys.argv[3], probabilities)
