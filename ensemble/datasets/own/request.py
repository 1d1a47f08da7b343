"""What is asked for when a dataset is added: checked before a single picture is read."""

from dataclasses import dataclass

from ensemble.datasets.entry import sanitize_noun
from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.datasets.own import custom_registry
from ensemble.errors import ConfigError
from ensemble.settings import Settings, declare_setting

DEFAULT_SIDE = 28
LEAST_SIDE = 4
MAX_NAME_LENGTH = 80  # characters of a title, a noun, a class's name
# What says whether classes that are spelt almost alike are one, in `PreparationSettings` and here.
CHOICE_OPTIONS = "--merge-classes or --keep-classes"
CLASS_PATTERN_OPTION = "--class-pattern"
COMPANION_OPTION = "--masks"
COMPANION_CHOICES = ("keep", "leave-out")
# What names something else: problems of the regression, out-of-distribution images.
RESERVED_NAMES = ("digits", "mnist", "fashion_mnist", "kmnist", "synthetic", "noise", "scrambled")


@dataclass(frozen=True)
class PreparationSettings(Settings):
    """How pictures become a dataset, checked when made.

    Attributes:
      merge_classes: whether classes whose names differ only in capitals, spaces or underscores are
        one; None where nobody has said: such classes are then refused.
      class_pattern: where the class stands in a picture's name, as in "{class}_#"; "" where the
        folder or a table says it.
      labels_as: one of `LABEL_READINGS`, what labels in arrays are where classes have names; "" for
        names where all are, else positions.
      masks: one of `COMPANION_CHOICES`, what to do with masks, thumbnails and segmentation images next to pictures;
        "" to refuse such pictures.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    size: int = declare_setting(
        0,
        "Side in pixels to resize every picture to; 0 keeps pictures unchanged if all have "
        f"the same size, and otherwise resizes them to {DEFAULT_SIDE}.",
        low=0,
        high=custom_registry.MOST_SIDE,
    )
    test_share: float = declare_setting(
        0.2, "Share of each class to use as test images if the source has none.", low=0.01, high=0.5
    )
    seed: int = declare_setting(
        0, "Seed for drawing test images and for the order of a folder's images.", low=0, high=2**31 - 1
    )
    max_unreadable: float = declare_setting(
        0.01, "Share of files that may be unreadable; these are listed and left out.", low=0.0, high=1.0
    )
    merge_classes: bool | None = None
    class_pattern: str = ""
    labels_as: str = ""
    masks: str = ""

    def __post_init__(self) -> None:
        self.check()
        if self.merge_classes not in (True, False, None):
            raise ConfigError("merge_classes has to be true, false or left out.")
        if self.labels_as not in ("", *LABEL_READINGS):
            raise ConfigError(
                f"labels_as is {self.labels_as!r:.40}: it has to be {', '.join(LABEL_READINGS)} or left out."
            )
        if self.masks not in ("", *COMPANION_CHOICES):
            raise ConfigError(
                f"masks is {self.masks!r:.40}: it has to be {' or '.join(COMPANION_CHOICES)}, or left out."
            )
        if 0 < self.size < LEAST_SIDE:
            raise ConfigError(
                f"size is {self.size}: it has to be from {LEAST_SIDE} to "
                f"{custom_registry.MOST_SIDE:,}, or 0 to keep them unchanged."
            )


@dataclass(frozen=True)
class DatasetNaming:
    """What a dataset and its images are called, checked when made.

    Attributes:
      name: on the command line and in addresses.
      title: for people; by default the name in words.
      noun: one image of it, in the singular.

    Raises:
      ConfigError: no name, or one that is taken by something else; a title or noun too long, or
        a noun that is no word.
    """

    name: str
    title: str = ""
    noun: str = "image"

    def __post_init__(self) -> None:
        _check_dataset_name(self.name)
        title = sanitize_text(self.title) or self.name.replace("_", " ").capitalize()
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "noun", sanitize_text(self.noun) or "image")
        if self.noun != sanitize_noun(self.noun):
            raise ConfigError(
                f"The noun {self.noun!r:.60} is not a word: use letters, digits, spaces and hyphens, as in leaf."
            )
        for what, text in (("title", self.title), ("noun", self.noun)):
            if len(text) > MAX_NAME_LENGTH:
                raise ConfigError(f"The {what} has {len(text):,} characters: it has to have {MAX_NAME_LENGTH} at most.")


def _check_dataset_name(name: str) -> None:
    """Raises ConfigError unless this can be the name of a person's own dataset."""
    if name in RESERVED_NAMES:
        raise ConfigError(f"The name {name} is reserved by the program: choose another.")
    if not custom_registry.NAME_PATTERN.fullmatch(name):
        raise ConfigError(
            f"{name!r:.60} is not a valid name for a dataset: use lower-case letters, digits "
            "and _, a letter first, 32 at most, as in my_leaves."
        )


def sanitize_text(text: str) -> str:
    """Text in one line that can be shown and written: no control characters, no half ones."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
