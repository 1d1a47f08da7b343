import logging

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.ui.shared import guard


def mendable() -> None:
    from ensemble.errors import RunError
    from ensemble.ui.shared.guard import guard_page

    with guard_page():
        raise RunError("The disk is full: free some room.")


def buggy() -> None:
    from ensemble.ui.shared.guard import guard_page

    with guard_page():
        raise ZeroDivisionError("secret detail")


def stopping() -> None:
    import streamlit as st

    from ensemble.ui.shared.guard import guard_page

    with guard_page():
        st.write("before")
        st.stop()
    st.write("after")


def shown(at: AppTest) -> list[str]:
    return [str(error.value) for error in at.error]


def test_what_a_person_can_mend_is_shown_as_it_stands() -> None:
    at = AppTest.from_function(mendable).run()
    assert shown(at) == ["The disk is full: free some room."]
    assert not at.exception


def test_a_bug_is_a_plain_sentence_on_the_page_and_a_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        at = AppTest.from_function(buggy).run()
    assert shown(at) == [guard.BUG_MESSAGE]
    assert not at.exception
    assert "ZeroDivisionError: secret detail" in caplog.text


def test_streamlits_own_stop_passes() -> None:
    at = AppTest.from_function(stopping).run()
    assert [text.value for text in at.markdown] == ["before"]
    assert not at.error
