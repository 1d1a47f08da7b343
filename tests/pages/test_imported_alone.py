"""What screens say of a run that was trained elsewhere where there is nothing to draw or hold it
against: what would help such a run, not what would help one that was trained here."""

from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st

from ensemble import runs
from tests.pages.test_imported import opened, said
from tests.runs.test_imported_run import entry, imported
from tests.views.summaries import summarize


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """Runs of two tests may be made in one second, and then have one id."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def test_train_draws_no_curves_of_one_epoch_that_was_not_learnt_here() -> None:
    at = opened("train", imported(epochs=1))
    assert "there are no learning curves" in said(at)
    assert not [one for one in at.segmented_control if one.label == "Axes"]
    assert list(at.dataframe[0].value["member"])[:1] == ["ensemble"]
    several = opened("train", imported(epochs=2))
    assert "there are no learning curves" not in said(several)
    assert [one for one in several.segmented_control if one.label == "Axes"]


def test_compare_says_how_another_comes_by_the_same_images() -> None:
    text = said(opened("inspect", imported(images=False), view="compare"))
    assert "same 40 insects" in text
    assert "in the same order" in text
    assert "Import" in text
    assert "Train a second" not in text


def test_one_member_is_not_told_to_train() -> None:
    labels = np.arange(12) % 3
    only = np.eye(3, dtype=np.float32)[labels][None] * 0.7 + 0.1
    run = runs.create_imported_run([only], labels, entry(12), name="one", images=None)
    assert "import two or more" in summarize(run, "agreement").answer
