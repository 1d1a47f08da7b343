"""The values of widgets, set before they are made and read in callbacks."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.ui.shared import widget_state


def script() -> None:
    import streamlit as st

    from ensemble.ui.shared import widget_state

    def copied() -> None:
        widget_state.set_widget_value("other", widget_state.get_widget_value("number") * 2)

    widget_state.initialize_widget("number", 4)
    widget_state.initialize_widget("other", 1)
    st.number_input("Number", 0, 20, key="number", on_change=copied)
    st.number_input("Other", 0, 40, key="other")
    st.caption(str(widget_state.get_widget_value("gone", "nothing")))


def test_a_value_begins_once_and_is_set_by_a_callback_before_the_widget_is_made() -> None:
    at = AppTest.from_function(script).run()
    assert [one.value for one in at.number_input] == [4, 1]
    at.number_input[0].set_value(7).run()
    assert not at.exception
    assert [one.value for one in at.number_input] == [7, 14]
    assert at.caption[0].value == "nothing"


def test_a_browser_that_missed_what_was_put_is_told_it_as_the_default() -> None:
    def draws() -> None:
        import streamlit as st

        from ensemble.ui.shared import widget_state

        for key, value in (("number", 4), ("one", "b"), ("several", ["c"]), ("other", 7)):
            widget_state.initialize_widget(key, value)
        draw = widget_state.draw_widget
        draw(st.number_input, "Number", 1, 9, key="number")
        draw(st.selectbox, "One", ["a", "b"], key="one")
        draw(st.multiselect, "Several", ["c", "d"], key="several")
        draw(st.number_input, "Other", 1, 9, 5, key="other")
        st.button("Again")
        widget_state.clear_pending_values()

    at = AppTest.from_function(draws).run()
    assert at.number_input[0].proto.set_value, "told once"
    at.button[0].click().run()
    assert not at.exception
    assert not at.warning
    assert not at.number_input[0].proto.set_value
    assert at.number_input[0].proto.default == 4
    assert at.selectbox[0].proto.default == 1
    assert list(at.multiselect[0].proto.default) == [0]
    assert at.number_input[1].proto.default == 5, "what a caller gives stays"
    at.number_input[0].set_value(8)
    at.multiselect[0].set_value(["d"]).run()
    at.run()
    assert (at.number_input[0].proto.default, list(at.multiselect[0].proto.default)) == (8, [1])


@pytest.mark.parametrize(
    ("held", "given", "can"),
    [
        (None, {}, False),
        (3, {"min_value": 1, "max_value": 3}, True),
        (4, {"min_value": 1, "max_value": 3}, False),
        ((0, 5), {"min_value": 0, "max_value": 4}, False),
        ("a", {"options": ["b"]}, False),
        ("a", {"options": ["b"], "accept_new_options": True}, True),
        (["b"], {"options": {"b": 1, "c": 2}}, True),
        ("words", {}, True),
    ],
)
def test_a_value_that_the_widget_cannot_show_is_no_default(held: object, given: dict[str, Any], can: bool) -> None:
    assert widget_state.can_hold(held, given) == can


def test_a_widget_follows_what_it_is_told_whatever_was_chosen() -> None:
    def follows() -> None:
        import streamlit as st

        from ensemble.ui.shared import widget_state

        widget_state.sync_widget_value("number", 3)
        st.number_input("Number", 0, 9, key="number")

    at = AppTest.from_function(follows).run()
    assert at.number_input[0].set_value(8).run().number_input[0].value == 3


def test_a_widget_that_is_not_there_is_a_fault_unless_a_default_says_otherwise() -> None:
    def asks() -> None:
        import streamlit as st

        from ensemble.ui.shared import widget_state

        try:
            widget_state.get_widget_value("gone")
        except KeyError as error:
            st.caption(str(error))

    assert "gone" in AppTest.from_function(asks).run().caption[0].value
