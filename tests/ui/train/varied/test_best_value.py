"""Which value was best, on the page: read of a run on disk."""

import json
from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.history import write_predictions
from ensemble.storage.records.json_lines import append_line
from tests.analysis.draws import distributions


def page(run_id: str) -> None:
    import streamlit as st

    from ensemble import runs
    from ensemble.ui.shared import loaders
    from ensemble.ui.train.varied import best_value

    run = runs.find_run(run_id)
    best_value.show_best_value(run, loaders.load_run_history(run), st.container())


def made(vary: str, epochs: int = 1, **status: object) -> runs.Run:
    """Three members after so many epochs of ten steps: the second is best, by far."""
    run = runs.create_run(EnsembleConfig(members=3, epochs=2, vary=vary))
    known = replace(run.status, steps=20, epochs=2, epoch=epochs, state="finished", **status)
    (run.path / "status.json").write_text(json.dumps(vars(known)))
    line = {"train_loss": [2.0, 1.0, 1.5], "step": 4, "epoch": 1, "kind": "steps"}
    append_line(run.path / "history.jsonl", line)
    for epoch in range(1, epochs + 1):
        probabilities = distributions(3, run.data.test_size, 10)
        probabilities[1, np.arange(run.data.test_size), runs.load_test_set(run).labels] += 1
        probabilities /= probabilities.sum(-1, keepdims=True)
        write_predictions(run.path, epoch, probabilities)
        ended = line | {"kind": "epoch", "epoch": epoch, "step": 10 * epoch}
        figures = {"test_loss": [1.0, 0.4, 1.0], "test_accuracy": [0.5, 0.9, 0.5]}
        append_line(run.path / "history.jsonl", ended | figures)
    return runs.find_run(run.id)


def shown(run: runs.Run) -> AppTest:
    at = AppTest.from_function(page, args=(run.id,), default_timeout=240).run()
    assert not at.exception
    return at


def test_a_member_that_was_set_aside_is_no_part_of_the_choice() -> None:
    at = shown(made("learning_rate=0.01..1:log", set_aside={1: 7}))
    assert "show no member to be worse than the best" in at.markdown[0].value
    assert "1 member set aside" in at.get("plotly_chart")[0].proto.alt


def test_before_the_first_epoch_has_ended_the_training_loss_is_said() -> None:
    at = shown(made("momentum=0.5,0.8,0.9", epochs=0))
    assert at.caption[0].value.startswith("So far momentum 0.8 has the lowest training loss, 1.00;")
    assert not at.get("plotly_chart")


def test_members_that_are_alike_have_no_such_picture() -> None:
    for vary in ("", "learning_rate=0.1"):
        at = shown(made(vary))
        assert not at.markdown
        assert not at.get("plotly_chart")


def test_the_best_value_is_named_above_its_picture_and_of_several_settings_one_is_chosen() -> None:
    at = shown(made("learning_rate=0.01..1:log momentum=0.5,0.9"))
    said = [one.value for one in at.markdown]
    assert said[0].startswith("#### The member at rate 0.1 did best")
    assert "Chosen on the test images: expect less on new ones" in said[1]
    assert len(at.get("plotly_chart")) == 1
    at.get("button_group")[0].set_value("momentum").run()
    assert "NLL after epoch 1" in at.markdown[1].value
    assert "at momentum 0." in at.markdown[1].value
