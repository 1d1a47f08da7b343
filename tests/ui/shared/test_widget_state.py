"""The values of widgets, set before they are made and read in callbacks."""

from streamlit.testing.v1 import AppTest


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
