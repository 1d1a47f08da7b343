"""One mark of a picture as the screen Classify opens it, for views that are drawn by themselves."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from ensemble.figures.thumbnails import encode_picture_png
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import prepare_picture
from ensemble.recognition.picture_reading import Digit, Reading
from ensemble.runs import Run
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark

NAMES = tuple("0123456789")
# In the networks' own form, so that it is taken as it is.
IMAGE = np.zeros((28, 28, 1), np.uint8)
IMAGE[6:22, 13:16] = np.random.default_rng(0).integers(150, 256, (16, 3, 1), np.uint8)


def shown(run: Run, digit: Digit | None = None, classifier: Any = None) -> ClassifiedMark:
    """The mark as `classifier` reads it; a given digit for views that ask nobody."""
    prepared = prepare_picture(open_picture(encode_picture_png(Image.fromarray(IMAGE[..., 0]))))
    assert np.array_equal(prepared.marks[0].image, IMAGE)
    if digit:
        classifier = SimpleNamespace(epoch=2, class_names=NAMES, members=len(digit.votes), written=True)
        reading = Reading((digit,), NAMES[digit.label], 0.9, "")
    else:
        reading = classifier.read_images(IMAGE[None])
    return ClassifiedMark(run, classifier, prepared, reading, 0, "a <b>name</b>.png", "a1b2", 0.05)
