"""What this ensemble of networks makes of images. It takes NumPy, and nothing else.

    python predict.py images.npy                       a line for each image
    python predict.py images.npy --out answers.npy     and every member's probabilities

In a program of yours: `from predict import predict`. README.md says what the images have to be.
"""

import functools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
BATCH_SIZE = 64


@functools.cache
def read_model() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is known of the ensemble, and the arrays of each member by name."""
    model = json.loads((FOLDER / "model.json").read_text("utf-8"))
    members: list[dict[str, Any]] = [{} for _ in range(model["members"])]
    with np.load(FOLDER / "weights.npz") as file:
        for name in file.files:
            _, member, _, layer = name.split("/", 3)
            members[int(member)][layer] = file[name]
    return model, members


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
    batches = [images[at : at + BATCH_SIZE] for at in range(0, len(images), BATCH_SIZE)]
    answers = np.zeros((len(members), len(images), len(model["class_names"])), np.float32)
    for m, arrays in enumerate(members):
        for b, batch in enumerate(batches):
            logits = compute_logits(model["network"], arrays, batch.astype(np.float32) / 255)
            raised = np.exp(logits - logits.max(axis=1, keepdims=True))
            share = raised / raised.sum(axis=1, keepdims=True)
            answers[m, b * BATCH_SIZE : b * BATCH_SIZE + len(batch)] = share
    return answers


def compute_logits(network: str, arrays: dict[str, Any], x: Any) -> Any:
    """One member's logits (B, C) for images (B, H, W, channels) from 0 to 1."""
    bend = np.tanh if network == "lenet5" else lambda z: np.maximum(z, 0)
    for n in range(sum(name.startswith("Conv_") for name in arrays) // 2):
        inside = network == "lenet5" and n == 1  # this one takes no zeros around
        x = pool(bend(convolve(x, arrays[f"Conv_{n}/kernel"], inside) + arrays[f"Conv_{n}/bias"]))
    x, last = x.reshape(len(x), -1), sum(name.startswith("Dense_") for name in arrays) // 2 - 1
    for n in range(last + 1):
        x = x @ arrays[f"Dense_{n}/kernel"] + arrays[f"Dense_{n}/bias"]
        x = x if n == last else bend(x)
    return x


def convolve(x: Any, kernel: Any, inside: bool) -> Any:
    """A convolution with a kernel (K, K, I, O), K odd, as if zeros stood around; or as it fits."""
    edge = 0 if inside else kernel.shape[0] // 2
    x = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], (1, 2))
    return np.tensordot(windows, kernel, ([4, 5, 3], [0, 1, 2]))


def pool(x: Any) -> Any:
    """The mean of each 2×2 block."""
    height, width = x.shape[1] // 2, x.shape[2] // 2
    even = x[:, : 2 * height, : 2 * width]
    return even.reshape(len(x), height, 2, width, 2, -1).mean((2, 4))


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
