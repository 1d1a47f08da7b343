"""The mistakes to choose from: what each image is, what it is taken for, and how often."""

import numpy as np

from ensemble import exchange
from ensemble.exchange.array_input import convert_arrays_to_outputs
from tests.views.summaries import summarize

# Two of class 0 are taken for 2, one of class 1 is taken for 0; all others are right.
LABELS = np.array([0, 0, 0, 1, 1, 2])
SAID = np.array([0, 2, 2, 1, 0, 2])


def test_a_mistake_names_the_label_before_the_prediction() -> None:
    probabilities = np.repeat(0.7 * np.eye(3)[SAID][None] + 0.1, 2, axis=0)
    run = exchange.import_run(convert_arrays_to_outputs(probabilities, LABELS), "three mistakes")
    summary = summarize(run, "confusion", cell="0-2")
    names = run.data.class_names
    assert summary.choices["cell"].values == {
        "": "All mistakes · 3",
        "0-2": f"{names[0]} taken for {names[2]} · 2",
        "1-0": f"{names[1]} taken for {names[0]} · 1",
    }
    [images] = summary.images
    assert sorted(images.numbers) == [1, 2]
