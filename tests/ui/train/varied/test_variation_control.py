from typing import Any

from streamlit.testing.v1 import AppTest

from ensemble.config import EnsembleConfig
from ensemble.ui.shared import settings
from ensemble.ui.train.varied import variation_control as varied


def differ_by_member() -> None:
    import streamlit as st

    from ensemble.ui.shared import settings
    from ensemble.ui.train.varied import variation_control as varied

    settings.select_run_setting("members")
    varied.show_variation_control()
    st.session_state["vary"] = settings.get_run_setting("vary")


def shown(vary: str = "", members: int = 8) -> AppTest:
    at = AppTest.from_function(differ_by_member, default_timeout=240)
    at.session_state[settings.format_setting_key("members")] = members
    at.session_state[settings.format_setting_key("vary")] = vary
    return at.run()


def widget(at: AppTest, part: str) -> Any:
    kinds = (*at.selectbox, *at.text_input, *at.get("button_group"))
    return next(one for one in kinds if one.key == varied.WIDGET_KEYS[part])


def said(at: AppTest) -> str:
    assert not at.exception
    return " ".join(one.value for one in at.caption)


def test_nothing_differs_until_a_person_says_so_and_the_ends_become_the_runs_setting() -> None:
    at = shown()
    assert widget(at, "which").value == varied.NO_VARIATION
    assert not at.text_input
    assert not at.caption
    widget(at, "which").select("learning_rate").run()
    assert "Members 1 to 8 get learning rate 0.01, 0.019, 0.037, … 1." in said(at)
    widget(at, "low").set_value(" 0.1").run()
    widget(at, "high").set_value("0.8").run()
    widget(at, "how").set_value(varied.EVEN).run()
    assert at.session_state["vary"] == "learning_rate=0.1..0.8"
    assert "learning rate 0.1, 0.2, 0.3, … 0.8." in said(at)


def test_a_list_is_written_as_people_write_one_and_has_no_more_values_than_members() -> None:
    at = shown("momentum=0.5..0.9")
    widget(at, "how").set_value(varied.LIST).run()
    widget(at, "values").set_value("0.5, 0.9 0.95").run()
    assert at.session_state["vary"] == "momentum=0.5,0.9,0.95"
    at.session_state[settings.format_setting_key("members")] = 2
    assert "gives 3 values of momentum for 2 members" in said(at.run())


def test_what_cannot_be_is_said_beside_the_control_and_kept() -> None:
    at = shown("learning_rate=0.01..1:log")
    widget(at, "high").set_value("a lot").run()
    assert widget(at, "high").value == "alot"
    assert "“alot” is no number: write one such as 0.01." in said(at)
    widget(at, "high").set_value("").run()
    assert "A number is missing" in said(at)
    widget(at, "high").set_value("0.001").run()
    assert "the start of a range has to be below its end" in said(at)
    widget(at, "high").set_value("100").run()
    assert "it has to be a number from 1e-05 to 10.0" in said(at)


def test_several_settings_are_a_text() -> None:
    at = shown("learning_rate=0.01..1:log momentum=0.8,0.9")
    assert widget(at, "which").value == varied.AS_TEXT
    widget(at, "text").set_value("momentum=0.8,0.9").run()
    assert widget(at, "which").value == varied.AS_TEXT  # it is still being written
    assert at.session_state["vary"] == "momentum=0.8,0.9"


def test_the_settings_of_a_run_fill_the_control_and_stay() -> None:
    for text in (
        "",
        "learning_rate=0.01..1:log",
        "momentum=0.5..0.9",
        "weight_decay=0,0.1",
        "learning_rate=0.1 momentum=0.5,0.9",
    ):
        assert shown(text).session_state["vary"] == text
        EnsembleConfig(members=8, vary=text)
