"""Classify images with this ensemble of networks. Needs NumPy only.

    python predict.py images.npy                       print one line per image
    python predict.py images.npy --out answers.npy     also write the probabilities of each member

To use it in your own program: `from predict import predict`. README.md describes the images.
"""

import functools
from typing import Any

import numpy as np

from ensemble.export.predict_common import prepare_images, read_model_files, run_command

_BATCH_SIZE = 64


@functools.cache
def _read_model() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    model, arrays = read_model_files()
    members: list[dict[str, Any]] = [{} for _ in range(model["members"])]
    for name, array in arrays.items():
        _, member, _, layer = name.split("/", 3)
        members[int(member)][layer] = array
    return model, members


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
    batches = [images[at : at + _BATCH_SIZE] for at in range(0, len(images), _BATCH_SIZE)]
    answers = np.zeros((len(members), len(images), len(model["class_names"])), np.float32)
    for m, arrays in enumerate(members):
        for b, batch in enumerate(batches):
            logits = compute_logits(model["network"], arrays, batch.astype(np.float32) / 255)
            raised = np.exp(logits - logits.max(axis=1, keepdims=True))
            share = raised / raised.sum(axis=1, keepdims=True)
            answers[m, b * _BATCH_SIZE : b * _BATCH_SIZE + len(batch)] = share
    return answers


def compute_logits(network: str, arrays: dict[str, Any], x: Any) -> Any:
    """Compute one member's logits (B, C) for images (B, H, W, channels) from 0 to 1."""
    bend = np.tanh if network == "lenet5" else lambda z: np.maximum(z, 0)
    for n in range(sum(name.startswith("Conv_") for name in arrays) // 2):
        inside = network == "lenet5" and n == 1  # this convolution has no padding
        x = pool(bend(convolve(x, arrays[f"Conv_{n}/kernel"], inside) + arrays[f"Conv_{n}/bias"]))
    x, last = x.reshape(len(x), -1), sum(name.startswith("Dense_") for name in arrays) // 2 - 1
    for n in range(last + 1):
        x = x @ arrays[f"Dense_{n}/kernel"] + arrays[f"Dense_{n}/bias"]
        x = x if n == last else bend(x)
    return x


def convolve(x: Any, kernel: Any, inside: bool) -> Any:
    """Convolve with a kernel (K, K, I, O), K odd, padding x with zeros unless `inside`."""
    edge = 0 if inside else kernel.shape[0] // 2
    x = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], (1, 2))
    return np.tensordot(windows, kernel, ([4, 5, 3], [0, 1, 2]))


def pool(x: Any) -> Any:
    """Average each 2×2 block."""
    height, width = x.shape[1] // 2, x.shape[2] // 2
    even = x[:, : 2 * height, : 2 * width]
    return even.reshape(len(x), height, 2, width, 2, -1).mean((2, 4))


if __name__ == "__main__":
    run_command(predict)
