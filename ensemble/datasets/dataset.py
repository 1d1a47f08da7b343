"""A dataset in memory, and what can be said of one without loading it."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.entry import ImageShape


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels, all read-only.

    Attributes:
      name: the registry's name, such as "mnist".
      train_images: uint8 (N, H, W, channels), of written signs 0 (ground) to 255 (ink).
      train_labels: int32 (N,), each an index into `class_names`.
      test_images: uint8 (N, H, W, channels), as `train_images`.
      test_labels: int32 (N,), as `train_labels`.
      class_names: what people call the classes.
      source: where the images came from, one line for people.
      noun: what one image is called, in the singular.
      train_groups: int64 (N,), who wrote each training image, or whose it is, numbers from 0;
        None where that is not known.
      test_groups: likewise of the test images, by the same numbers.
      digest: the SHA-256 of all images and labels where it was taken as they were written, or "".
    """

    name: str
    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.int32]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.int32]
    class_names: tuple[str, ...]
    source: str
    noun: str = "image"
    digest: str = ""
    train_groups: NDArray[np.int64] | None = None
    test_groups: NDArray[np.int64] | None = None

    @property
    def image_shape(self) -> ImageShape:
        """(H, W, channels) of every image."""
        height, width, channels = self.train_images.shape[1:]
        return height, width, channels

    @property
    def fingerprint(self) -> str:
        """A word that differs where the images or labels do.

        Where no digest of all was taken: where the sizes, the labels or every hundredth image do.
        """
        if self.digest:
            return self.digest
        digest = hashlib.sha256(f"{self.train_images.shape} {self.test_images.shape}".encode())
        for array in (self.train_labels, self.test_labels, self.train_images[::100], self.test_images[::100]):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class DatasetInfo:
    """What a page can say of a dataset before it is loaded, or even fetched.

    Attributes:
      name: the registry's name, such as "mnist".
      title: what people call it, such as "MNIST".
      train_size: training images.
      test_size: test images.
      class_names: what people call the classes.
      prepared: whether `load` will find it.
      source: where it comes from, one line for people.
      nbytes_download: bytes to fetch when it is not prepared; 0 for `digits`.
      image_shape: (H, W, channels) of every image.
      noun: what one image is called, in the singular.
      own: whether a person has added it.
      fingerprint: of a person's own, the SHA-256 of all its images and labels; else "".
    """

    name: str
    title: str
    train_size: int
    test_size: int
    class_names: tuple[str, ...]
    prepared: bool
    source: str
    nbytes_download: int
    image_shape: ImageShape = (28, 28, 1)
    noun: str = "image"
    own: bool = False
    fingerprint: str = ""


def fingerprint_labels(labels: NDArray[np.integer], classes: int) -> str:
    """A word that differs where the labels do, or the number of classes.

    Args:
      labels: (N,), class numbers in [0, classes).
      classes: C.
    """
    digest = hashlib.sha256(f"{classes} {len(labels)}".encode())
    digest.update(np.ascontiguousarray(labels, np.int32).tobytes())
    return digest.hexdigest()
