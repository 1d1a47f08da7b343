"""The figures of a sweep's settings, one by one."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ensemble import sweeps
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.tune import sweep_views
from tests.sweeps.light import light_config


def all_slices(sweep: "Sweep", trials: "list[Trial]") -> None:
    from ensemble.ui.tune.sweep_views import _show_setting_slices

    _show_setting_slices(sweep, trials, "nll")


def test_two_settings_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_name(sweep: Sweep, complete: list[Trial], goal: str, name: str) -> None:
        st.text(name)

    monkeypatch.setattr(sweep_views, "_show_setting_slice", write_name)
    sweep = sweeps.create_sweep(light_config(space="learning_rate=0.01..0.3 momentum=0.8,0.9 members=1..4"))
    at = AppTest.from_function(all_slices, args=(sweep, [Trial(0, "complete", {}, (1.0,))])).run()
    assert not at.exception
    columns = [[text.value for text in column.text] for column in at.columns]
    assert columns == [["learning_rate"], ["momentum"], ["members"], []]
