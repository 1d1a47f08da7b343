import dataclasses
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.config import EnsembleConfig
from ensemble.ui.shared import settings
from ensemble.wording import run_names


def every_control() -> None:
    import dataclasses

    import streamlit as st

    from ensemble.config import EnsembleConfig
    from ensemble.ui.shared import settings

    for field in dataclasses.fields(EnsembleConfig):
        settings.select_run_setting(field.name)
    st.session_state["made"] = settings.collect_run_config()


def fresh() -> AppTest:
    return AppTest.from_function(every_control, default_timeout=240)


def test_untouched_controls_make_the_default_config_and_have_the_settings_help() -> None:
    at = fresh().run()
    assert not at.exception
    assert at.session_state["made"] == EnsembleConfig()
    for field in dataclasses.fields(EnsembleConfig):
        key = settings.format_setting_key(field.name)
        widgets = [
            w
            for kind in ("selectbox", "select_slider", "slider", "number_input", "text_input", "toggle")
            for w in at.get(kind)
            if w.key == key
        ]
        assert [widget.help for widget in widgets] == [field.metadata["help"]]


ODD = EnsembleConfig(
    members=9,
    learning_rate=0.0123,
    momentum=0.42,
    epochs=123,
    batch_size=77,
    seed=12345,
    devices=3,
    schedule="cosine",
    warmup_epochs=2.5,
    bootstrap=True,
    shift_pixels=2,
    rotation_degrees=12.5,
    optimizer="adamw",
    weight_decay=0.003,
    label_smoothing=0.07,
    adversarial=0.03,
    vary="momentum=0.4,0.5,0.9",
)


def test_a_runs_settings_can_be_copied_whatever_they_are() -> None:
    at = fresh()
    for name, value in ODD.as_dict().items():
        at.session_state[settings.format_setting_key(name)] = value
    at.run()
    assert not at.exception
    assert at.session_state["made"] == ODD


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (form, name)
        for form in (settings.RUN_FORM, settings.TABLE_FORM)
        for name in sorted(form.fields.keys() & {*settings.SLIDER_VALUES, "learning_rate", "width"})
        if (form, name) != (settings.RUN_FORM, "width")
    ],
)
def test_a_sliders_steps_rise_within_the_range_and_hold_the_default(form: settings.SettingsForm, name: str) -> None:
    field = form.fields[name]
    steps = settings.list_slider_steps(name, form)
    assert list(steps) == sorted(set(steps))
    assert steps[0] >= field.metadata["low"]
    assert steps[-1] <= field.metadata["high"]
    if form is settings.RUN_FORM:
        assert (steps[0], steps[-1]) == (field.metadata["low"], field.metadata["high"])
    assert field.default in steps


@pytest.mark.parametrize("form", [settings.RUN_FORM, settings.TABLE_FORM])
def test_every_setting_of_a_task_is_on_its_page(form: settings.SettingsForm) -> None:
    shown = {name for names in settings.SETTING_GROUPS.values() for name in names}
    assert set(form.fields) - shown - {*settings.PRIMARY_FIELDS, "dataset", "network"} == set()


def test_the_summary_names_what_is_unusual_and_only_that() -> None:
    plain = settings.summarize_run_settings(EnsembleConfig(members=1))
    assert plain == "1 member · rate 0.1 · momentum 0.9 · 10 epochs · batch 128 · seed 0"
    assert settings.summarize_run_settings(ODD).startswith("9 members · rate 0.0123")
    for said in ("cosine schedule", "bootstrap", "shift pixels 2", "rotation degrees 12.5", "adversarial step 0.03"):
        assert said in settings.summarize_run_settings(ODD)


@pytest.mark.parametrize(("value", "said"), [(0.00001, "0.00001"), (0.1, "0.1"), (10.0, "10"), (4096, "4,096")])
def test_values_are_written_out(value: Any, said: str) -> None:
    assert settings.format_slider_value(value) == said


def test_a_run_is_called_by_the_values_that_its_members_have() -> None:
    rates = EnsembleConfig(members=8, vary="learning_rate=0.01..1:log momentum=0.8,0.9")
    assert run_names.format_ensemble_settings(rates) == "8 members · rate 0.01 to 1 · digits"
    assert settings.summarize_run_settings(rates) == (
        "8 members · rate 0.01 to 1 · momentum 0.8 and 0.9 · 10 epochs · batch 128 · seed 0"
    )
    decay = EnsembleConfig(members=2, vary="weight_decay=0.0001,0.01")
    assert settings.summarize_unnamed_settings(decay).endswith("seed 0 · weight decay 0.0001 and 0.01")
