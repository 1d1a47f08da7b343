"""What every source of pictures comes to, wherever they are read from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.request import MAX_NAME_LENGTH, sanitize_text
from ensemble.errors import DataError
from ensemble.files.columns import ROLE_NAMES
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels

Pixels = NDArray[np.uint8]
Size = tuple[int, int]  # height and width, as shown

# What arrays and columns are called that say which pictures belong together.
GROUP_NAMES = frozenset(ROLE_NAMES["picture group"])
VALIDATION_TRAINED_NOTE = (
    "The validation images become training images: `train --validation 0.1` holds out a share of all of them."
)
VALIDATION_ONLY_NOTE = "There are no training images: the validation images become training images."
TEST_ONLY_NOTE = "There are no training images: the test images become training images."
VALIDATION_TESTED_NOTE = "There are no test images: the validation images become the test set."


@dataclass(frozen=True)
class DatasetImageFormat:
    """The one form that all pictures of a dataset have.

    Attributes:
      height, width, channels: of the result; 1 channel is grey, 3 are red, green and blue.
      resize: whether pictures of another size are brought to this one.
    """

    height: int
    width: int
    channels: int
    resize: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, W, channels)."""
        return self.height, self.width, self.channels

    @property
    def description(self) -> str:
        """How a picture comes to this form, a sentence for people."""
        colour = "grey" if self.channels == 1 else "in colour"
        if not self.resize:
            return f"All are {self.width}×{self.height} pixels, {colour}, and stay unchanged."
        return (
            f"Each is resized to fit within {self.width}×{self.height}, {colour}: "
            "with antialiasing, in its proportions, the rest filled with the median colour of its edge."
        )


@dataclass(frozen=True)
class UnreadablePicture:
    """A picture that cannot be taken: where it is and why, in a few words."""

    location: str
    reason: str


@dataclass
class PictureSurvey:
    """What is known of all pictures before they are read.

    Attributes:
      sizes: how many there are of each.
      grey: whether all are.
      levels: what is black and white in them, and stands behind transparent ones.
      tree: how folders were understood, a line for each; none where there are none.
    """

    sizes: Counter[Size] = field(default_factory=Counter)
    grey: bool = True
    levels: PictureLevels = STANDARD_LEVELS
    tree: list[str] = field(default_factory=list)


class PictureSource(Protocol):
    """Pictures with labels.

    Attributes:
      origin: where they come from, one line for people.
      class_names: of the labels from 0, one list for all splits.
      labels: of "train", and of "test" where there are test images: int32 (N,).
      groups: likewise, int64 (N,): pictures of one writer or patient have one number; of the
        splits of which that is known.
      notes: what was left out or stood out, a sentence each.
    """

    origin: str
    class_names: tuple[str, ...]
    notes: list[str]

    @property
    def labels(self) -> Mapping[str, NDArray[np.int32]]:
        """Of each split."""

    @property
    def groups(self) -> Mapping[str, NDArray[np.int64]]:
        """Of the splits of which they are known."""

    def survey(self) -> PictureSurvey:
        """The pictures' sizes and whether they are grey, as far as their headers say."""

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split in the order of its labels: uint8 (H, W, channels)."""


def sort_class_names(class_names: Iterable[str]) -> list[str]:
    """The classes in order: by number where all are numbers, else by letter."""
    each = set(class_names)
    numbers = all(class_name.isascii() and class_name.isdigit() and len(class_name) < 10 for class_name in each)
    return sorted(each, key=lambda class_name: (int(class_name) if numbers else 0, class_name))


def format_class_names(names: Sequence[str]) -> tuple[str, ...]:
    """Classes' names as they are shown: in one line, at most `MAX_NAME_LENGTH` characters.

    Raises:
      DataError: two of them are the same then, or one is empty.
    """
    display_names = [sanitize_text(name) for name in names]
    display_names = [
        name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…" for name in display_names
    ]
    for name, times in Counter(display_names).items():
        if times > 1 or not name:
            raise DataError(
                f"{times} classes would be called “{name}”: give each a different name, of "
                f"{MAX_NAME_LENGTH} characters at most."
            )
    return tuple(display_names)


def format_name_list(names: Sequence[str], most: int = 3) -> str:
    """A few of several names: "a, b, c and 4 more"."""
    listing = ", ".join(sanitize_text(name)[:MAX_NAME_LENGTH] for name in names[:most])
    return f"{listing} and {len(names) - most:,} more" if len(names) > most else listing
