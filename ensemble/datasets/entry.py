"""What is known of a dataset without reading its images."""

import math
import unicodedata
from dataclasses import dataclass

ImageShape = tuple[int, int, int]  # height, width, channels


@dataclass(frozen=True)
class DatasetEntry:
    """What is known of a dataset beforehand. Sizes count images.

    Attributes:
      name: its name on the command line and in addresses.
      title: what people call it.
      train_size: training images.
      test_size: test images.
      class_names: what people call the classes, in the labels' order.
      source: where it comes from, one line for people.
      most_frequent: test images of the commonest class: what always giving that answer gets right.
      nbytes_download: 0 for a dataset that comes with the package or is a person's own; else the
        bytes of its files as TensorFlow Datasets lists them, kept here so that the page can say
        them without importing it.
      handwritten: whether its classes are signs that a pen writes: only then can what a person
        has written be prepared as its images were.
      image_shape: (H, W, channels) of every image; 1 channel is grey, 3 are red, green and blue.
      noun: what one image is called, in the singular. It stands in the midst of sentences on every
        screen: all but letters, digits, blanks and hyphens is left out of it.
      own: whether a person has added it.
      fingerprint: of a person's own, the SHA-256 of all its images and labels; else "".
      alone: training images that are the only one of their class, which no run holds out.
    """

    name: str
    title: str
    train_size: int
    test_size: int
    class_names: tuple[str, ...]
    source: str
    most_frequent: int
    nbytes_download: int = 0
    handwritten: bool = True
    image_shape: ImageShape = (28, 28, 1)
    noun: str = "image"
    own: bool = False
    fingerprint: str = ""
    alone: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "noun", sanitize_noun(self.noun))

    @property
    def is_mnist_like(self) -> bool:
        """Whether its images are signs that a pen wrote, as MNIST has them: 28×28, light on dark.

        Only these can be cut out of a photograph of a page. Of any other dataset one picture is
        one image.
        """
        return self.handwritten and self.image_shape == (28, 28, 1)

    @property
    def bytes_per_image(self) -> int:
        """Bytes of one image: one for each pixel and channel."""
        return math.prod(self.image_shape)

    @property
    def splittable_size(self) -> int:
        """Training images of which a run can hold out a share."""
        return self.train_size - self.alone

    @property
    def nbytes_prepared(self) -> int:
        """Bytes of the prepared images (one a pixel and channel) and labels (one byte)."""
        return (self.train_size + self.test_size) * (self.bytes_per_image + 1)


def sanitize_noun(text: str) -> str:
    """Text as a word or several, whatever it was: "image" where nothing is left of it."""
    kept = (
        letter if letter.isalnum() or letter in "-’'" or unicodedata.category(letter)[0] == "M" else " "
        for letter in text
    )
    return " ".join("".join(kept).split()).strip("-’' ") or "image"
