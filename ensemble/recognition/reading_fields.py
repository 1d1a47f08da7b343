"""What an ensemble says of pictures and images, ready for JSON: the same names on every face."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ensemble.pictures.preparation import SegmentedPicture
from ensemble.recognition.classifier import Classifier
from ensemble.recognition.picture_reading import Digit, Reading

JSON_DECIMALS = 6  # of probabilities, scores and nats


def serialize_reading(classifier: Classifier, prepared: SegmentedPicture, reading: Reading) -> dict[str, Any]:
    """What is read in a picture.

    `digits` stand in reading order, `line` counting from 0; `box` is left, top, right and
    bottom in pixels of the upright picture.
    """
    digits = [
        {
            "box": [int(side) for side in mark.box],
            "line": int(mark.line),
            **_serialize_digit(digit, classifier.class_names),
        }
        for mark, digit in zip(prepared.marks, reading.digits, strict=True)
    ]
    return {
        "run_id": classifier.run_id,
        "epoch": classifier.epoch,
        "digits": digits,
        "text": reading.text,
        "confidence": round(reading.confidence, JSON_DECIMALS),
        "refused": reading.picture_rejection,
        "notes": list(prepared.notes),
    }


def _serialize_digit(digit: Digit, names: Sequence[str]) -> dict[str, Any]:
    """What is said of one digit, every measure by its name."""
    return {
        "label": int(digit.label),
        "name": names[digit.label],
        "probabilities": [round(float(p), JSON_DECIMALS) for p in digit.probabilities],
        "votes": [int(vote) for vote in digit.votes],
        "named_votes": [names[vote] for vote in digit.votes],
        **{name: round(value, JSON_DECIMALS) for name, value in digit.measures.items()},
        **serialize_rejection(digit),
    }


def serialize_rejection(digit: Digit) -> dict[str, Any]:
    """Whether a digit is rejected, and why.

    `rejected` says that `score` is above `threshold`, None if there is none; `signs` are what each
    sign of novelty adds to the score, in nats.
    """
    return {
        "rejected": bool(digit.rejected),
        "score": round(float(digit.score), JSON_DECIMALS),
        # JSON has no infinity: null where no score is too high.
        "threshold": round(float(digit.threshold), JSON_DECIMALS) if isfinite(digit.threshold) else None,
        "why": digit.rejection_reason,
        "signs": {name: round(value, JSON_DECIMALS) for name, value in digit.signs.items()},
    }
