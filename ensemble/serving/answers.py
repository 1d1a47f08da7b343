"""A request's answer: what the ensemble says of each image, ready for JSON."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.example_measures import MemberOutputs, compute_measures
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.engine import Activations
from ensemble.pictures.preparation import SegmentedPicture
from ensemble.recognition.picture_reading import MarkPlacement, Reading
from ensemble.recognition.reading_fields import JSON_DECIMALS, serialize_reading, serialize_rejection
from ensemble.serving.request_images import InputImages
from ensemble.serving.served_ensemble import ServedEnsemble


@dataclass(frozen=True)
class AnswerOptions:
    """What a request asks for beside the averaged probabilities.

    Attributes:
      members: each member's probabilities.
      rejection: whether an image is rejected, and why; of a picture always.
    """

    members: bool = False
    rejection: bool = True


def serialize_array_answer(
    served: ServedEnsemble, images: InputImages, activations: Activations, options: AnswerOptions
) -> dict[str, Any]:
    """What is said of the images of an array; `digits` has one for each, in their order."""
    probabilities = activations.probabilities
    digits = _serialize_ensemble_answers(served, probabilities)
    if options.rejection:
        reading = served.classifier.read_activations(images.pixels, activations, served.refuse)
        for fields, digit in zip(digits, reading.digits, strict=True):
            fields |= serialize_rejection(digit)
    return {
        **_identify_answer(served),
        "digits": _add_member_fields(digits, probabilities, options),
        "notes": list(images.notes),
    }


def serialize_picture_answer(
    served: ServedEnsemble,
    prepared: SegmentedPicture,
    marks: NDArray[np.uint8],
    places: MarkPlacement,
    activations: Activations | None,
    options: AnswerOptions,
) -> dict[str, Any]:
    """What is read in a picture, as `ensemble predict` has it, and what arrays have beside.

    Args:
      served: whose members.
      prepared: the picture.
      marks: uint8 (N, H, W, channels), the images of its marks.
      places: where these are.
      activations: what the members made of them; None where there are none.
      options: what is asked for.
    """
    if activations is None:
        reading, digits = Reading((), "", 0.0, ""), list[dict[str, Any]]()
    else:
        reading = served.classifier.read_activations(marks, activations, served.refuse, places)
        digits = _serialize_ensemble_answers(served, activations.probabilities)
        digits = _add_member_fields(digits, activations.probabilities, options)
    answer = serialize_reading(served.classifier, prepared, reading)
    answer["digits"] = [{**fields, **more} for fields, more in zip(answer["digits"], digits, strict=True)]
    return _identify_answer(served) | answer


def _identify_answer(served: ServedEnsemble) -> dict[str, Any]:
    return {
        "run_id": served.classifier.run_id,
        "epoch": served.classifier.epoch,
        "class_names": list(served.classifier.class_names),
        "member_names": list(served.member_names),
    }


def _serialize_ensemble_answers(served: ServedEnsemble, probabilities: NDArray[np.float32]) -> list[dict[str, Any]]:
    """What the ensemble says of N images, by its members' probabilities (M, N, C).

    Every measure has its name; `set` has the names of the classes that it may be, None where none
    can be built.
    """
    names = served.classifier.class_names
    outputs = MemberOutputs(probabilities)
    averaged = outputs.averaged
    labels = averaged.argmax(axis=-1).tolist()
    votes = most_likely_classes(probabilities).T.tolist()
    sets: list[list[str] | None] = [None] * len(labels)
    if served.sets is not None:
        rows = served.sets.threshold.build_sets(averaged)
        sets = [[names[c] for c in row.nonzero()[0]] for row in rows]
    measures = compute_measures(outputs)
    columns = zip(
        labels,
        _round_numbers(averaged),
        votes,
        sets,
        zip(*map(_round_numbers, measures.values()), strict=True),
        strict=True,
    )
    return [
        {
            "label": label,
            "name": names[label],
            "probabilities": row,
            "votes": voted,
            "named_votes": [names[vote] for vote in voted],
            **dict(zip(measures, values, strict=True)),
            "set": classes,
        }
        for label, row, voted, classes, values in columns
    ]


def _add_member_fields(
    digits: list[dict[str, Any]], probabilities: NDArray[np.float32], options: AnswerOptions
) -> list[dict[str, Any]]:
    """The same with `members`, each member's probabilities (M, C), where they are asked for."""
    if options.members:
        for fields, rows in zip(digits, _round_numbers(probabilities.transpose(1, 0, 2)), strict=True):
            fields["members"] = rows
    return digits


def _round_numbers(numbers: NDArray[np.floating[Any]]) -> list[Any]:
    # Adding 0 makes 0 of −0, which would be written with its sign.
    rounded: list[Any] = (np.round(numbers.astype(np.float64), JSON_DECIMALS) + 0.0).tolist()
    return rounded
