"""Runs: what the table and its surroundings say of the runs in them."""

from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.annotations.notes import write_run_note
from ensemble.ui.runs import columns, filters, table
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened, value


def captions(at: AppTest) -> list[str]:
    return [one.value for one in at.caption]


def test_the_best_run_is_named_with_its_share_and_what_cannot_be_read_is_counted() -> None:
    trained(name="poor", best_ensemble_test_accuracy=0.5)
    trained(name="good", best_ensemble_test_accuracy=0.978)
    trained(name="none yet", done=0, state="stopped")
    for torn in (trained(), trained()):
        (torn.path / "status.json").write_text("{")
    at = opened(page="runs")
    assert (
        "Highest test accuracy: Digits 97.8 % (good); the highest of several flatters: expect less "
        "on new images." in captions(at)
    )
    assert [one.value for one in at.warning] == ["2 runs cannot be read and are not listed."]


def test_one_member_has_no_mean_member() -> None:
    alone, two = trained(members=1), trained(members=2)
    means = table.tabulate_runs([alone, two])["mean"]
    assert means.isna().tolist() == [True, False]


def test_a_phone_shows_what_tells_runs_apart_and_the_accuracy() -> None:
    order = list(table.tabulate_runs([trained()]))
    assert order[:7] == ["data", "members", "learning_rate", "seed", "accuracy", "gain", "state"]
    shown = columns.build_column_config(order[:-1])
    assert list(shown) == order
    # 366 pixels are what 400 leave, 35 of them for the box in front of a row.
    wide = [shown[name]["width"] for name in order[:5]]
    assert 35 + sum(wide) <= 366


def test_of_a_note_the_first_line_is_shown_up_to_sixty_characters() -> None:
    assert table.format_note_preview("a" * 60 + "\nmore") == "a" * 60
    assert table.format_note_preview("a" * 61) == "a" * 59 + "…"


def test_runs_are_found_by_words_state_and_data() -> None:
    digits = trained(name="one")
    other = runs.create_run(EnsembleConfig(dataset="mnist"))
    write_run_note(other.id, "Wide")
    both = [digits, other]
    assert filters.find_matching_runs(both) == both
    assert filters.find_matching_runs(both, datasets=["mnist"]) == [other]
    assert filters.find_matching_runs(both, states=["finished"]) == [digits]
    assert filters.find_matching_runs(both, "wIDE") == [other]
    assert filters.find_matching_runs(both, "one wide") == []


def test_the_run_of_the_address_is_the_row_that_is_chosen() -> None:
    trained(created=3000.0)
    run = trained(created=2000.0, state="failed", message="The disk is *full*.")
    trained(created=1000.0)
    how = "Tick a run to open or change it, several to compare."
    at = opened(page="runs")
    assert (rows(at), how in captions(at)) == ([], True)
    at = opened(run, "runs")
    assert (rows(at), how in captions(at)) == ([1], False)
    assert "The disk is \\*full\\*." in captions(at)


def rows(at: AppTest) -> list[int]:
    """The places of the rows that are chosen in the table."""
    key = at.dataframe[0].proto.id.rsplit("-", 1)[1]
    return list(at.session_state[key]["selection"]["rows"])


def unchosen(run_id: str) -> None:
    """What the table calls when the ticked row is pressed again."""
    from types import SimpleNamespace

    import streamlit as st

    from ensemble import runs
    from ensemble.ui.jobs import job_picker
    from ensemble.ui.runs import selection
    from ensemble.ui.shared.run_panel import RUN_SCREEN

    job_picker.remember_shown_job(RUN_SCREEN, runs.find_run(run_id))
    st.session_state["pressed"] = SimpleNamespace(selection=SimpleNamespace(rows=[]))
    selection.update_table_selection("pressed", [run_id])


def test_a_row_that_is_no_longer_chosen_leaves_the_address() -> None:
    at = AppTest.from_function(unchosen, args=(trained().id,)).run()
    assert not at.exception
    assert value(at, "run") is None
