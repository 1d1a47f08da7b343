"""Predictions: an image that is opened, its neighbours, the pages, and the ways on."""

from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.jobs.status import write_status
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.ui.predictions.controls import restrict_predictions_view
from ensemble.ui.predictions.predictions_view import PredictionsView
from tests.pages.ensembles import probabilities, trained
from tests.pages.predictions_screen import numbers, opened, value, widget

MADE = evaluate_predictions(probabilities("digits", 3, 2, 4.0), datasets.load_dataset("digits").test_labels)
AWAY = "which is in now"


def test_an_image_that_the_filter_leaves_out_stands_before_all_others() -> None:
    right = int(np.flatnonzero(MADE.right)[0])
    at = opened(trained(), show="wrong", digit=right)
    first = numbers(at)[0]
    assert widget(at, "button", "digit_previous").disabled
    assert not any(one.value.startswith("1 of ") for one in at.caption)
    widget(at, "button", "digit_next").click().run()
    assert value(at, "digit") == str(first)
    assert any(one.value.startswith("1 of ") for one in at.caption)


def test_another_epoch_keeps_the_page_and_what_is_open() -> None:
    at = opened(trained(), first=60, digit=3)
    widget(at, "select_slider", "digits_epoch").set_value(1).run()
    assert [value(at, name) for name in ("epoch", "first", "digit")] == ["1", "60", "3"]


def test_a_later_epoch_is_offered_also_of_a_run_that_has_ended_unless_one_was_chosen() -> None:
    run = trained(epochs=3, done=1, state="stopped")
    at = opened(run)
    assert "newer" not in [one.key for one in at.button], "there is none"
    runs.history.write_predictions(run.path, 2, probabilities("digits", 3, 2, 4.0))
    assert AWAY in widget(at.run(), "button", "newer").label
    at = opened(run, epoch=1)
    assert "newer" not in [one.key for one in at.button], "it was chosen by hand"


def epoch_slider_alone() -> None:
    """The slider of epochs of a run that trains, and the epoch that is shown."""
    import streamlit as st

    from ensemble import runs
    from ensemble.ui.predictions import controls, epoch_availability, predictions_view
    from ensemble.ui.shared.tab import tab

    (run,) = runs.list_runs()
    epochs = runs.list_prediction_epochs(run.id)
    wanted = predictions_view.read_predictions_view().epoch
    epoch = epoch_availability.select_shown_epoch(run, epochs, wanted)
    tab.current_page = "predictions"
    controls.show_predictions_epoch_slider(epochs, epoch, run)
    st.session_state["shown"] = epoch


def test_a_chosen_epoch_stays_when_another_becomes_the_best() -> None:
    run = trained(epochs=4, done=3, validation=0.1, state="training", best_on="validation", best_epoch=1)

    def improve(best: int) -> None:
        write_status(run.path, replace(run.status, best_epoch=best))

    at = AppTest.from_function(epoch_slider_alone).run()
    assert at.session_state["shown"] == 1
    improve(2)
    assert at.run().session_state["shown"] == 1, "nobody asked for another"
    at.select_slider[0].set_value(2).run()
    assert (value(at, "epoch"), at.session_state["shown"]) == (None, 2)
    improve(3)
    assert at.run().session_state["shown"] == 2


def shown_epoch_alone() -> None:
    """The epoch of a run that is shown where the address names none, and whether another is offered."""
    import streamlit as st

    from ensemble import runs
    from ensemble.ui.predictions import epoch_availability
    from ensemble.ui.shared.tab import tab

    run = runs.find_run(st.session_state["run"])
    epochs = runs.list_prediction_epochs(run.id)
    epoch = epoch_availability.select_shown_epoch(run, epochs, None)
    tab.current_page = "predictions"
    epoch_availability.show_newer_epoch_notice(run, epochs, epoch)
    st.session_state["shown"] = epoch


def test_the_epoch_that_is_held_is_that_of_its_run_while_it_is_there() -> None:
    first, second = (
        trained(epochs=3, validation=0.1, best_on="validation", best_epoch=best, seed=best) for best in (2, 3)
    )
    at = AppTest.from_function(shown_epoch_alone)
    for run, epoch in ((first, 2), (second, 3), (first, 2)):
        at.session_state["run"] = run.id
        assert at.run().session_state["shown"] == epoch
    locate_epoch_file(first.path, "predictions", 2).unlink()
    assert at.run().session_state["shown"] == 3


def test_another_epoch_is_offered_when_it_is_the_usual_one_and_not_when_it_is_the_last() -> None:
    run = trained(epochs=5, done=3, validation=0.1, state="stopped", best_on="validation", best_epoch=1)
    at = AppTest.from_function(shown_epoch_alone)
    at.session_state["run"] = run.id
    at.run()
    assert not at.button, "the third is the last, and the first the best"
    write_status(run.path, replace(run.status, best_epoch=2))
    assert AWAY in at.run().button[0].label
    assert at.button[0].label.startswith("Show epoch 2,")


def test_what_these_predictions_do_not_have_is_left_out_of_the_view() -> None:
    assert restrict_predictions_view(PredictionsView(label=9, digit=499), MADE, 10, True) == PredictionsView(
        label=9, digit=499
    )
    assert restrict_predictions_view(PredictionsView(label=10, digit=500), MADE, 10, True) == PredictionsView()
    assert restrict_predictions_view(PredictionsView(order="sets"), MADE, 10, False) == PredictionsView()


def dialog_alone() -> None:
    """The inside of the dialog, which is drawn again by itself when the address has changed."""
    import numpy as np

    from ensemble import runs
    from ensemble.analysis.predictions import evaluate_predictions
    from ensemble.ui.predictions import image_dialog

    (run,) = runs.list_runs()
    data = runs.load_test_set(run)
    made = evaluate_predictions(runs.read_run_predictions(run.id, 2), data.labels)
    image_dialog.show_image_dialog_body(
        image_dialog.ImageDialogContext(made, data, np.arange(3), "digit", "a run", "a place", None)
    )


def test_the_dialog_itself_opens_no_image_that_is_not_there() -> None:
    trained()
    at = AppTest.from_function(dialog_alone)
    agreed = int(np.flatnonzero(~MADE.split)[-1])  # Others have a link to a page of the whole app.
    for number, images in ((agreed, 1), (len(MADE.labels), 0)):
        at.query_params["digit"] = str(number)
        at.run()
        assert (len(at.error), len(at.exception), len(at.subheader)) == (0, 0, images)
