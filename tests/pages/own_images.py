"""A dataset that a person has added, as the program keeps one: pictures that a script draws."""

import json

import numpy as np

from ensemble.datasets.own import arrays, custom_registry

CLASSES = tuple(f"leaf {letter}" for letter in "abcdefghij")


def drawn(count: int, shape: tuple[int, int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (N, H, W, channels), a bar on dark ground placed by the class, and labels (N,)."""
    draws, (high, wide, channels) = np.random.default_rng(seed), shape
    labels = (np.arange(count) % len(CLASSES)).astype(np.int32)
    images = draws.integers(0, 12, (count, *shape), np.uint8)
    for image, label in zip(images, labels, strict=True):
        start = 1 + label * (high - 4) // len(CLASSES)
        colour = draws.integers(120, 250, channels)
        image[start : start + 3, 2 : wide - 2] = colour
    return images, labels


def add(name: str = "leaves", shape: tuple[int, int, int] = (16, 16, 3), noun: str = "leaf") -> str:
    """Write the dataset; returns its name."""
    folder = custom_registry.custom_datasets_folder() / name
    folder.mkdir(parents=True)
    sets = {"train": drawn(400, shape, 0), "test": drawn(200, shape, 1)}
    for split, (images, labels) in sets.items():
        np.save(folder / f"{split}_images.npy", images)
        np.save(folder / f"{split}_labels.npy", labels)
    note = custom_registry.CustomDatasetNote(
        format=custom_registry.FORMAT,
        title="My leaves",
        noun=noun,
        class_names=list(CLASSES),
        image_shape=list(shape),
        train_size=400,
        test_size=200,
        most_frequent=20,
        fingerprint=f"{name} {shape}",
        labels_crc32=[arrays.compute_labels_crc32(labels) for _, labels in sets.values()],
        source="a script",
    )
    (folder / custom_registry.NOTE_FILE).write_text(json.dumps(vars(note)))
    return name
