"""Labels in doubt one by one: each decision is kept, can be taken back, and mends the dataset."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.access import Person, Role, set_person_source
from ensemble.access.server_access import AccessMode
from ensemble.access.visitor_claims import Visit
from ensemble.cli.program import main
from ensemble.comparison import mended_labels
from ensemble.datasets import registry
from ensemble.datasets.decisions import decision_log, decision_table, relabeling
from ensemble.datasets.own import staging
from ensemble.errors import RunError
from ensemble.runs.history import write_predictions
from ensemble.runs.training_predictions import TRAINING_PREDICTIONS_FILE
from ensemble.storage.arrays.npz import write_arrays
from ensemble.ui.labels import decision_buttons
from ensemble.ui.sign_in import visitors
from ensemble.wording import label_decisions as words
from ensemble.wording.provenance import build_rerun_command
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.runs.test_imported_run import entry, imported

FLIPS = {3: 8, 50: 1, 77: 2, 120: 6, 201: 0, 333: 4, 404: 5, 499: 9}  # test digits, planted labels


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def truth() -> Any:
    return datasets.load_dataset("digits").test_labels


def answer(labels: Any, members: int, seed: int, classes: int = 10) -> Any:
    """(M, N, C): members that know the labels."""
    rng = np.random.default_rng(seed)
    made = rng.uniform(0.5, 1.5, (members, len(labels), classes))
    made[:, np.arange(len(labels)), labels] += rng.uniform(100, 300, len(labels))
    for number in FLIPS:
        if number < len(labels):
            made[:, number, labels[number]] += 900  # surer than of others of that class
    return (made / made.sum(axis=-1, keepdims=True)).astype(np.float32)


def train_on_flips() -> runs.Run:
    """A run on digits some of whose test labels are flipped, whose members know the truth."""
    assert not [n for n, label in FLIPS.items() if truth()[n] == label]
    changes = decision_table.LabelChanges(new_labels={"train": {}, "test": dict(FLIPS)})
    relabeling.relabel_dataset(datasets.load_dataset("digits"), changes, "scribbles")
    run = trained(dataset="scribbles", epochs=1)
    write_predictions(run.path, 1, answer(truth(), 3, 1))
    return run


def said(at: AppTest) -> str:
    elements: Any = (*at.markdown, *at.caption, *at.info, *at.success)
    text = [str(one.value) for one in elements]
    text += [one.proto.text for one in at.get("progress")]
    return " ".join(text).replace("\\", "")


def shown_number(at: AppTest) -> int | None:
    keys = [one.key for one in at.button if one.key and one.key.startswith("labels_keep_")]
    return int(keys[0].removeprefix("labels_keep_")) if keys else None


def invoke(*words: str) -> str:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return done.stdout


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    assert not at.error, at.error[0].value
    return at


def decide_all(at: AppTest) -> dict[int, int]:
    """Go through the queue by what the digits really are; the labels that became others."""
    mended, labels = {}, datasets.load_dataset("scribbles").test_labels
    while (number := shown_number(at)) is not None:
        right = int(truth()[number])
        if labels[number] == right:
            press(at, f"labels_keep_{number}")
        else:
            mended[number] = right
            press(at, f"labels_class_{right}_{number}")
    return mended


def test_planted_flips_come_first_and_are_mended_in_a_version_whose_runs_are_compared() -> None:
    run = train_on_flips()
    at = opened(run, "inspect", view="uncertainty", picture="labels")
    (link,) = [one for one in at.get("page_link") if one.label == "Go through them one by one"]
    assert link.page == "labels"
    assert f"run={run.id}" in link.query_string
    at = opened(run, "labels")
    assert "0 of " in said(at)
    assert f"Labelled {FLIPS[shown_number(at) or 0]}. The members rather say" in said(at)
    assert "All 3 members say" in said(at)
    assert decide_all(at) == {number: int(truth()[number]) for number in FLIPS}
    assert "Every label in doubt is decided" in said(at)
    assert "8 relabelled" in said(at)
    press(at, "labels_new_version")
    assert "scribbles_2 has all of it" in said(at)
    np.testing.assert_array_equal(datasets.load_dataset("scribbles_2").test_labels, truth())
    assert "labels_new_version" not in [one.key for one in at.button]
    assert "Only test images changed." in said(at)
    assert "labels_retrain_scribbles_2" not in [one.key for one in at.button]
    better = trained(dataset="scribbles_2", epochs=1)
    assert mended_labels.is_mended_version(better, run)
    write_predictions(better.path, 1, answer(truth(), 3, 1))
    worse = answer(truth(), 3, 1)
    worse[:, :20] = answer((truth()[:20] + 1) % 10, 3, 1)
    write_predictions(run.path, 1, worse)
    st.cache_resource.clear()
    for one in (run, better):
        text = said(opened(one, "labels"))
        assert "With 8 labels mended: +4.0 points (" in text
        assert "8 test labels were changed, decided by people who looked where" in text
        assert "On the 492 digits whose label nobody changed: +3.9 points" in text
    comparison = mended_labels.compare_mended_runs(better, run)
    assert (comparison.gain.n, comparison.gain.digits) == (500, 20)
    assert comparison.unchanged_gain is not None
    assert comparison.unchanged_gain.digits == 20 - sum(number < 20 for number in FLIPS)
    printed = json.loads(invoke("data", "compare", better.id, run.id, "--json"))
    assert printed["answer"].startswith("With 8 labels mended: +4.0 points (")
    assert printed["gain"]["images"] == 500
    assert printed["gain"]["points"] == pytest.approx(4.0)
    assert printed["gain"]["low"] < 4 < printed["gain"]["high"]
    assert (printed["labels_mended"], printed["test_labels_changed"]) == (8, 8)
    assert "that favours the members" in invoke("data", "compare", better.id, run.id)


def test_steps_are_taken_back_and_a_reload_another_tab_or_another_run_loses_nothing() -> None:
    run = train_on_flips()
    at = opened(run, "labels")
    first = shown_number(at)
    press(at, f"labels_relabel_{first}")
    second = shown_number(at)
    other = opened(run, "labels")
    assert shown_number(other) == second
    press(other, f"labels_remove_{second}")
    third = shown_number(other)
    press(at, f"labels_unsure_{second}")  # This tab has not seen what the other did.
    assert shown_number(at) == third
    at = opened(run, "labels")
    assert "2 of " in said(at)
    assert "1 relabelled, 1 cannot be told" in said(at)
    again = trained(dataset="scribbles", epochs=1, members=2, seed=1)
    write_predictions(again.path, 1, answer(truth(), 2, 5))
    another = opened(again, "labels")
    assert "2 of " in said(another), "another run on the same labels"
    assert shown_number(another) not in (None, first, second)
    shown = [shown_number(press(at, "labels_undo")) for _ in range(3)]
    assert shown == [third, second, first], "at the first the other tab's removal stands again"
    assert at.button(key="labels_undo").disabled
    assert "Decided so far" not in said(at)


def test_labels_of_training_images_are_gone_through_where_a_run_has_folds() -> None:
    right = datasets.load_dataset("digits").train_labels
    flips = {number: (int(right[number]) + 1) % 10 for number in (3, 50, 120, 333)}
    changes = decision_table.LabelChanges(new_labels={"train": flips, "test": {}})
    relabeling.relabel_dataset(datasets.load_dataset("digits"), changes, "scribbles")
    run = trained(dataset="scribbles", epochs=1, members=3, folds=3)
    assert "Training digits" not in str(opened(run, "labels").get("button_group"))
    labels = datasets.load_dataset("scribbles").train_labels
    numbers = np.arange(40, len(labels))  # the first 40 as if they were held out
    averaged = answer(right, 1, 1)[0][numbers]
    arrays = {
        "epoch": np.int64(1),
        "numbers": numbers,
        "averaged": averaged,
        "lowest": averaged[np.arange(len(numbers)), labels[numbers]],
        "votes": averaged.argmax(axis=1).astype(np.int32)[:, None],
    }
    write_arrays(run.path / TRAINING_PREDICTIONS_FILE, arrays)
    at = opened(run, "labels", split="training")
    asked = {}
    while (number := shown_number(at)) is not None:
        assert f"Labelled {labels[number]}. The members rather say" in said(at)
        assert f"Training digit {number}" in said(at)
        assert "One member has not learnt from it, and says another." in said(at)
        asked[number] = int(right[number])
        press(at, f"labels_class_{right[number]}_{number}")
    assert asked == {number: int(right[number]) for number in flips if number >= 40}
    press(at, "labels_new_version")
    mended = datasets.load_dataset("scribbles_2").train_labels
    assert np.flatnonzero(mended != right).tolist() == [number for number in flips if number < 40]
    assert "Test digit " in said(opened(run, "labels"))


def test_a_removed_image_is_left_out_for_both_and_the_command_that_trains_again_is_printed(tmp_path: Path) -> None:
    run = train_on_flips()
    at = opened(run, "labels")
    for decision in ("remove", "relabel"):
        press(at, f"labels_{decision}_{shown_number(at)}")
    table = tmp_path / "decisions.csv"
    table.write_text(invoke("data", "decisions", "scribbles"))
    printed = invoke("data", "relabel", "scribbles", str(table))
    assert "Only test images changed." in printed
    assert "ensemble train" not in printed, "the same members would come of it"
    mended = trained(dataset="scribbles_2", epochs=1)
    comparison = mended_labels.compare_mended_runs(mended, run)
    assert (comparison.gain.n, comparison.left_out, comparison.mended) == (499, 1, (1, 1))
    assert comparison.relabeled == 1
    with pytest.raises(RunError, match="different classes"):
        mended_labels.compare_mended_runs(mended, imported())


def test_changed_training_labels_are_offered_to_train_on_and_no_button_is_preselected(tmp_path: Path) -> None:
    run = train_on_flips()
    at = opened(run, "labels")
    buttons = {one.key: one.proto.type for one in at.button}
    assert {"labels_relabel_", "labels_keep_"} <= {str(key).rstrip("0123456789") for key in buttons}
    labels = datasets.load_dataset("scribbles").train_labels
    table = tmp_path / "decisions.csv"
    table.write_text(f"split,number,label,decision,new_label\ntrain,0,{labels[0]},relabel,{(labels[0] + 1) % 10}\n")
    assert "Train with --dataset scribbles_2" in invoke("data", "relabel", "scribbles", str(table))
    at = opened(run, "labels")
    again = at.button(key="labels_retrain_scribbles_2")
    assert again.label == "Train the same settings on scribbles_2"
    assert {*buttons.values(), again.proto.type} <= {"secondary", "tertiary"}


def versions_alone() -> None:
    """What Labels shows of the versions made of a run's dataset."""
    from ensemble import runs
    from ensemble.ui.labels import mended_versions
    from ensemble.ui.shared import loaders

    loaders.forget_runs()
    (run,) = (run for run in runs.list_runs() if run.config.dataset == "digits")
    mended_versions.show_mended_versions(run)


def test_a_run_on_an_older_version_of_that_name_is_not_taken_for_one_on_this() -> None:
    trained(epochs=1)
    digits = datasets.load_dataset("digits")
    for number in (3, 4):
        if number == 4:
            staging.remove_custom_dataset("digits_2")
        label = int(digits.train_labels[number] + 1) % 10
        changes = decision_table.LabelChanges()
        changes.new_labels["train"][number] = label
        relabeling.relabel_dataset(digits, changes)
        at = AppTest.from_function(versions_alone, default_timeout=240).run()
        assert not at.exception
        assert [button.key for button in at.button] == ["labels_retrain_digits_2"]
        if number == 3:
            trained(dataset="digits_2", epochs=1)
            assert not AppTest.from_function(versions_alone, default_timeout=240).run().button


def test_a_run_opens_whose_dataset_or_the_version_before_it_has_been_removed() -> None:
    train_on_flips()
    changes = decision_table.LabelChanges()
    changes.removed["train"].add(0)
    relabeling.relabel_dataset(datasets.load_dataset("scribbles"), changes)
    run = trained(dataset="scribbles_2", epochs=1)
    staging.remove_custom_dataset("scribbles")
    assert shown_number(opened(run, "labels")) is not None
    staging.remove_custom_dataset("scribbles_2")
    st.cache_resource.clear()
    assert build_rerun_command(runs.find_run(run.id)).startswith("ensemble train --dataset scr")
    opened(run, "labels")


def test_without_images_decisions_go_by_their_numbers_and_come_as_csv() -> None:
    run = imported(images=False)
    at = opened(run, "labels")
    number = shown_number(at)
    assert number is not None
    press(at, f"labels_relabel_{number}")
    assert "its dataset is not here" in said(at)
    tests = runs.load_test_set(run)
    kept = decision_log.list_matching_decisions("test", tests.images, tests.labels, len(tests.class_names))
    table = decision_table.format_decisions_csv({"test": kept}, tests.class_names)
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["number"], row["image"], row["decision"]) == (str(number), "", "relabel")
    assert row["label"] == tests.class_names[tests.labels[number]]
    assert at.get("download_button")


def test_the_recorded_run_can_be_gone_through_before_there_is_one() -> None:
    at = opened(page="labels")
    assert "Recorded example, not one of your runs" in said(at)
    assert shown_number(at) is not None or "in doubt" in said(at)


def test_a_viewer_looks_and_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    run = train_on_flips()
    visit = Visit(Person("ann@example.org", Role.VIEWER))
    monkeypatch.setattr(visitors, "identify_tab_visitor", lambda: visit)
    monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.PROXY)
    set_person_source(visitors.get_current_person)
    try:
        at = opened(run, "labels")
        buttons = [one for one in at.button if str(one.key).startswith("labels_")]
        assert buttons
        assert all(one.disabled for one in buttons)
        assert "but not change: ask an admin" in buttons[0].help
    finally:
        set_person_source(None)


def test_a_class_is_chosen_by_its_digit_or_from_a_list_where_there_are_many() -> None:
    assert decision_buttons.list_class_keys(registry.DIGIT_NAMES) == list("0123456789")
    assert decision_buttons.list_class_keys(registry.FASHION_NAMES) == list("1234567890")
    assert decision_buttons.list_class_keys(("7", "1")) == ["7", "1"]


def test_of_many_classes_one_is_chosen_from_a_list() -> None:
    labels = np.arange(60) % 12
    said_by_members = [answer((labels + (np.arange(60) == 3)) % 12, 2, 1, 12)]
    known = replace(entry(60), class_names=tuple(f"kind {letter}" for letter in "abcdefghijkl"), most_frequent=5)
    run = runs.create_imported_run(said_by_members, labels, known, name="many")
    at = opened(run, "labels")
    assert shown_number(at) == 3
    at.selectbox(key="labels_class_3").select_index(6).run()
    assert not at.exception
    tests = runs.load_test_set(run)
    (decision,) = decision_log.list_matching_decisions("test", None, tests.labels, 12)
    assert (decision.label, decision.new_label) == (3, 7)
    assert shown_number(at) != 3


def test_the_name_of_a_class_is_shortened_to_28_letters_on_its_button() -> None:
    labels = np.arange(60) % 3
    said_by_members = [answer((labels + (np.arange(60) == 3)) % 3, 2, 1, 3)]
    known = replace(entry(60), class_names=("a" * 28, "b" * 29, "c"), most_frequent=20)
    at = opened(runs.create_imported_run(said_by_members, labels, known, name="long"), "labels")
    texts = {button.label for button in at.button}
    assert {f"Keep {'a' * 28}", f"Relabel as {'b' * 27}…"} <= texts


def test_the_sentence_of_the_queue_counts_what_is_left() -> None:
    assert words.describe_next_finds(6.8, 20) == "Of the next 20 labels at least about 7 are wrong."
    assert words.describe_next_finds(0.6, 9) == "Of the next 9 labels at least about 1 is wrong."
    for expected, count in ((0.2, 20), (0.9, 1), (0.0, 0)):  # What is not shown is not claimed.
        assert words.describe_next_finds(expected, count) == ""
