"""Predictions in memory made a run of, which every screen that asks predictions alone opens."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble import runs
from ensemble.api.checks import array_of, checked_labels, checked_probabilities, softmax
from ensemble.api.run import Run
from ensemble.config import ImportedConfig
from ensemble.datasets.record import MOST_CLASSES
from ensemble.datasets.registry import Entry
from ensemble.errors import DataError
from ensemble.jobs.kinds import IMPORTED
from ensemble.runs.store import checked_name


def import_predictions(
    probabilities: ArrayLike, labels: ArrayLike, *, name: str = "", logits: bool = False,
    images: ArrayLike | None = None, class_names: Sequence[str] | None = None,
    member_names: Sequence[str] | None = None, noun: str = "image",
) -> Run:  # fmt: skip
    """Keep predictions of members from anywhere as a run, in state "imported".

    >>> import ensemble
    >>> run = ensemble.import_predictions(
    ...     [[[0.9, 0.1], [0.6, 0.4]], [[0.8, 0.2], [0.2, 0.8]]], labels=[0, 1],
    ...     class_names=["cat", "dog"], member_names=["forest", "net"], name="pets")
    >>> run
    <Run imported-...: imported, pets, epoch 1 of 1>
    >>> run.predictions().accuracy, run.member_names
    (1.0, ('forest', 'net'))

    Args:
      probabilities: (M, N, C), (N, C) of one member, or (E, M, N, C) of several epochs.
      labels: (N,), what the examples are, as class numbers in [0, C).
      name: what to call the run.
      logits: the numbers are logits: a softmax makes probabilities of them.
      images: uint8 (N, H, W), (N, H, W, 1) or (N, H, W, 3), to be shown beside them.
      class_names: what the classes are called; by default their numbers.
      member_names: what the members are called; by default they have numbers.
      noun: what one example is called, in the singular.

    Raises:
      DataError: these are no such predictions; the message names the entry.
      ConfigError: there are more than 64 members or 1,000 epochs.
      RunError: the folder of runs cannot be written, or the name is too long.
    """
    given, check = array_of(probabilities, "Probabilities"), checked_probabilities
    if logits:
        check = softmax
    made = [check(one, e) for e, one in enumerate(given)] if given.ndim == 4 else [check(given)]
    if not made:
        raise DataError("There is no epoch: give probabilities of one or more.")
    M, N, C = made[0].shape
    ImportedConfig(members=M, epochs=len(made))  # checks both
    known, pictures = checked_labels(labels, N, C), checked_images(images, N)
    classes = texts(class_names, C, "class") or tuple(map(str, range(C)))
    if C > MOST_CLASSES:
        raise DataError(f"{C:,} classes are more than the {MOST_CLASSES:,} that a run may have.")
    name, shape = checked_name(name), (28, 28, 1) if pictures is None else pictures.shape[1:]
    data = Entry(
        name=IMPORTED, title=name or "Imported predictions", train_size=0, test_size=N,
        class_names=classes, source="imported from Python", noun=noun, own=True,
        most_frequent=int(np.bincount(known).max()), handwritten=False,
        image_shape=(int(shape[0]), int(shape[1]), int(shape[2])),
    )  # fmt: skip
    members = texts(member_names, M, "member")
    run = runs.create_imported(made, known, data, name=name, images=pictures, member_names=members)
    return Run(run.id)


def checked_images(given: ArrayLike | None, examples: int) -> NDArray[np.uint8] | None:
    """(N, H, W, channels) of what is given as that or as (N, H, W); None where nothing is.

    Raises:
      DataError: it has another shape or type.
    """
    if given is None:
        return None
    found = array_of(given, "Images")
    if found.ndim == 3:
        found = found[..., None]
    fits = found.ndim == 4 and len(found) == examples and found.shape[3] in (1, 3)
    if not fits or 0 in found.shape:
        raise DataError(
            f"Images of shape {np.shape(given)} for {examples:,} examples: give (examples, height, "
            "width), or the same with 1 or 3 channels last."
        )
    if found.dtype != np.uint8:
        raise DataError(f"Images are of type {found.dtype}: give uint8, from 0 to 255.")
    return found


def texts(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    """The names as text, one for each; () where there are none.

    Raises:
      DataError: there are fewer or more than `count`.
    """
    if names is None:
        return ()
    if len(names) != count:
        raise DataError(f"{len(names):,} {what} names for {count:,}: give one for each.")
    return tuple(map(str, names))
