"""Screens with runs of other sizes: right, or one line on what is left out."""

from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.screens import sizes
from ensemble import runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.report import render_report
from tests.pages.stressed import figure
from tests.pages.test_imported import opened, said
from tests.runs.test_imported_run import entry

HOSTILE = "$x$ <b>bold</b> [a](http://b) :red[no] `code` | a name that goes on and on and on"
CASES = {"two classes": (3, 200, 2), "one member": (1, 120, 12), "thirty images, absent classes": (4, 30, 40)}


def imported(members: int, examples: int, classes: int) -> runs.Run:
    """A run of drawn predictions, whose classes have names that are long and full of markup."""
    probabilities, labels = sizes.drawn(members, examples, classes)
    names = tuple(f"{c} {HOSTILE}" for c in range(classes))
    data = replace(entry(examples), class_names=names)
    st.cache_resource.clear()  # another test's run of this very second had the same id
    st.cache_data.clear()
    return runs.create_imported_run([probabilities], labels, data, name="drawn")


@pytest.mark.long_cases
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_view_is_drawn_at_every_size(case: tuple[int, int, int]) -> None:
    run = imported(*case)
    imported(*case)  # to compare with
    render_report([run])
    # The report has every view but this one, and of each all parts.
    for words in ({"view": "compare"}, {"view": "uncertainty", "picture": "confusion"}):
        assert not opened("inspect", run, **words).error
    assert not opened("predictions", run, digit="7", order="sets").error


def test_of_a_hundred_classes_it_is_said_what_is_left_out() -> None:
    run = imported(3, 400, 100)
    made = evaluate_predictions(*sizes.drawn(3, 400, 100))
    at = opened("inspect", run, view="uncertainty", picture="confusion")
    assert "Of 100 classes these are the 30 of the commonest mistakes" in said(at)
    assert len(figure(at, "inspect_confusion")["data"][0]["customdata"]) == 900
    kinds = len(set(zip(made.labels[~made.right], made.said[~made.right], strict=True)))
    (mistakes,) = (one for one in at.selectbox if one.label == "Shown")
    assert len(mistakes.options) == 1 + kinds
    at = opened("inspect", run, view="selective", mode="sets")
    assert "The 30 classes whose lists hold them least often" in said(at)
    assert sorted(len(one.value) for one in at.dataframe)[-1] == 30
    at = opened("predictions", run, digit="7")
    assert "The 20 likeliest of 100 classes, with what it is" in said(at)
    assert len(figure(at, "digit_bars")["data"][0]["hovertext"]) == 20
    (picker,) = (one for one in at.selectbox if one.label == "Class")
    assert len(picker.options) == 101
    picker.select(picker.options[1]).run()
    assert at.query_params["class"] == "0", "found by its name"


def test_committees_of_many_members_say_how_many_were_drawn_and_how() -> None:
    at: AppTest = opened("inspect", imported(20, 60, 4), view="members")
    # All of sizes 1, 19 and 20, and all 190 of 2 and of 18; of the 15 others 300 each.
    assert (
        f"{20 + 20 + 1 + 190 + 190 + 15 * 300:,} of about 1,050,000 committees that 20 members can "
        "form: of each size all, or 300 drawn at random (seed 0)"
    ) in said(at)
