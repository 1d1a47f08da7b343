"""The groups of a run: a line each, or one line for many that opens and closes."""

from streamlit.testing.v1 import AppTest

from tests.pages.grouped import in_groups


def show_chosen_run() -> None:
    import streamlit as st

    from ensemble import runs
    from ensemble.ui.runs.groups import show_run_groups

    show_run_groups(runs.find_run(st.session_state["chosen"]))


def test_four_groups_have_a_line_each_and_five_are_one_line_that_opens_and_closes() -> None:
    four, five, other = (in_groups(dict.fromkeys(range(1, count + 1), "finished"), members=10) for count in (4, 5, 5))
    at = AppTest.from_function(show_chosen_run)
    at.session_state["chosen"] = four.id
    at.run()
    assert [one.value.count("members") for one in at.caption] == [4]
    assert (len(at.button), len(at.dataframe)) == (0, 0)
    assert len(at.get("space")) == 1, "the toggle stays where it is, however long the line is"
    at.session_state["chosen"] = five.id
    at.run()
    assert (len(at.caption), len(at.button), len(at.dataframe)) == (0, 1, 0)
    assert at.button[0].label == "5 groups: 5 finished"
    at.button[0].click().run()
    assert at.dataframe[0].value["members"].tolist() == ["1–2", "3–4", "5–6", "7–8", "9–10"]
    at.session_state["chosen"] = other.id
    at.run()
    assert len(at.dataframe) == 0, "the other run was not opened"
    at.session_state["chosen"] = five.id
    at.run()
    assert len(at.dataframe) == 1
    at.button[0].click().run()
    assert len(at.dataframe) == 0
    assert not at.exception
