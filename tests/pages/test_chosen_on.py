"""What Inspect and Predictions say of the images that a run holds out."""

import re

import numpy as np

from ensemble import datasets
from ensemble.wording.verdicts import selection_basis
from tests.pages.ensembles import held_out, probabilities, trained
from tests.pages.predictions_screen import opened

SHARE = 0.2  # of the 1,297 training images of Digits: 259


def test_an_image_s_set_is_calibrated_on_the_images_held_out() -> None:
    run = trained(validation=SHARE)
    held, labels = held_out(run, 2, 3.0)
    scores = np.sort(1 - held.astype(float).mean(axis=0)[np.arange(len(labels)), labels])
    limit = scores[int(np.ceil(260 * 0.9)) - 1]
    sets = 1 - probabilities("digits", 3, 2, 4.0).astype(float).mean(axis=0) <= limit
    hit = sets[np.arange(500), datasets.load_dataset("digits").test_labels].mean()
    number = int(np.flatnonzero(sets.sum(axis=1) == 4)[0])
    at = opened(run, miss="10", sets="lac", digit=number)
    said = " ".join(str(one.value) for one in (*at.markdown, *at.caption))
    assert f"of the time: {100 * hit:.1f} % do; {int((sets.sum(axis=1) > 1).sum())}" in said
    names = ", ".join(str(c) for c in np.flatnonzero(sets[number]))
    assert f"The set: {{{names}}} at 90 %." in said.replace("\\", "")
    assert "calibrated on the 259 validation images" in " ".join(str(one.help) for one in at.caption)


def test_lost_validation_predictions_are_named_and_the_test_images_are_fitted_on() -> None:
    run = trained(validation=SHARE)
    for file in (run.path / "validation").iterdir():
        file.unlink()
    at = opened(run, "inspect", view="calibration")
    said = " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.info, *at.error))
    assert "no validation predictions of epoch 2" in said
    assert "Fitted on one half of the test digits (250), judged on the other 250: figures" in said


def test_the_epoch_s_control_names_the_best_epoch_and_on_what_it_was_chosen() -> None:
    for validation, page, shown, sentence in (
        (
            SHARE,
            "inspect",
            1,
            f"Epoch 1 stands until you choose another: it was {selection_basis.CHOSEN_ON_VALIDATION}.",
        ),
        (0.0, "predictions", 2, f"Best: epoch 1, {selection_basis.CHOSEN_ON_TEST}."),
    ):
        run = trained(validation=validation, best_epoch=1)
        slider = next(one for one in opened(run, page).select_slider if one.label == "Epoch")
        assert slider.value == shown
        assert sentence in re.sub(r"\s+", " ", str(slider.help))
