"""Predictions in memory made a run of, which every screen that asks predictions alone opens."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ensemble.api.predictions import warn_of_notes
from ensemble.api.run import Run
from ensemble.exchange import import_run
from ensemble.exchange.array_input import convert_arrays_to_outputs


def import_predictions(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    name: str = "",
    logits: bool = False,
    images: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    member_names: Sequence[str] | None = None,
    split: str = "test",
    groups: ArrayLike | None = None,
    labels_as: str = "",
    example_names: Sequence[str] | None = None,
    noun: str = "",
) -> Run:
    """Keep predictions of members from anywhere as a run, in state "imported".

    What was assumed of the arrays stands in the run's note, and is said once as a warning.
    `ensemble import` does the same for files.

    Examples:
      >>> import ensemble
      >>> run = ensemble.import_predictions(
      ...     [[[0.9, 0.1], [0.6, 0.4]], [[0.8, 0.2], [0.2, 0.8]]], labels=["cat", "dog"],
      ...     class_names=["cat", "dog"], member_names=["forest", "net"], name="pets")
      >>> run
      <Run imported-...: imported, pets, epoch 1 of 1>
      >>> run.predictions().accuracy, run.member_names
      (1.0, ('forest', 'net'))

    Args:
      probabilities: (M, N, C), (N, C) of one member, or (E, M, N, C) of several epochs.
      labels: (N,), what the examples are: class numbers in [0, C), or class names.
      name: what to call the run.
      logits: the numbers are logits: a softmax makes probabilities of them.
      images: (N, H, W), or with 1 or 3 channels, from 0 to 255 or to 1, to be shown beside them.
      class_names: what the classes are called; by default their numbers.
      member_names: what the members are called; by default "member 1" and so on.
      split: what the examples are of.
      groups: (N,), which writer, patient or video each example is of: intervals and tests count
        those of one together. None where all are independent.
      labels_as: "names", "positions" or "from-1", where labels could be read several ways; "" for
        what names and predictions say.
      example_names: N of them, what the examples are called.
      noun: what one example is, in the singular: "leaf", "letter"; by default "image" or "example".

    Raises:
      PredictionsError: these are no such predictions; the message names the entry.
      RunError: the folder of runs cannot be written, or the name is too long.
    """
    outputs = convert_arrays_to_outputs(
        probabilities,
        labels,
        logits=logits,
        images=images,
        class_names=class_names,
        member_names=member_names,
        split=split,
        groups=groups,
        labels_as=labels_as,
        example_names=example_names,
        noun=noun,
    )
    warn_of_notes(outputs.assumptions, stacklevel=3)
    return Run(import_run(outputs, name, "arrays in Python").id)
