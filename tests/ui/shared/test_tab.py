"""What a tab remembers: defaults, forgetting, things told once, things of several."""

from streamlit.testing.v1 import AppTest

from ensemble.ui.shared.tab import KeyedTabValue, Tab, TabValue

DECLARED = [one for one in vars(Tab).values() if isinstance(one, TabValue)]
EACH = [one for one in vars(Tab).values() if isinstance(one, KeyedTabValue)]


def reading() -> None:
    """A script that keeps what it reads before and after it writes."""
    import streamlit as st

    from ensemble.ui.shared.tab import Tab, tab

    said: dict[str, object] = {"before": (tab.inspected_run_id, tab.held_epoch, tab.grid_columns["a"])}
    tab.inspected_run_id, tab.held_epoch = "run-1", ("run-1", 4)
    tab.grid_columns["a"] = 5
    tab.runs_message = "done", "Deleted."
    said["after"] = (tab.inspected_run_id, tab.held_epoch, tab.grid_columns["a"], tab.grid_columns["b"])
    said["told"] = Tab.runs_message.pop(), Tab.runs_message.pop()
    del tab.inspected_run_id
    del tab.inspected_run_id  # what is forgotten can be forgotten again
    said["forgotten"] = tab.inspected_run_id
    st.session_state["said"] = said


def test_a_thing_is_its_default_until_it_is_remembered_and_again_when_forgotten() -> None:
    at = AppTest.from_function(reading).run()
    assert not at.exception
    said = at.session_state["said"]
    assert said["before"] == ("", ("", 0), 12)
    assert said["after"] == ("run-1", ("run-1", 4), 5, 12)
    assert said["told"] == (("done", "Deleted."), ("", ""))
    assert said["forgotten"] == ""


def test_it_is_remembered_from_one_drawing_to_the_next_and_under_its_key() -> None:
    def script() -> None:
        from ensemble.ui.shared.tab import tab

        tab.tried_image_count += 2

    at = AppTest.from_function(script).run().run()
    assert at.session_state["classify_tried"] == at.session_state[Tab.tried_image_count.key] == 4


def test_one_tab_knows_nothing_of_another() -> None:
    def script() -> None:
        from ensemble.ui.shared.tab import tab

        tab.drawing = {**tab.drawing, str(len(tab.drawing)): 1}

    one, other = AppTest.from_function(script), AppTest.from_function(script)
    one.run().run()
    other.run()
    assert [len(at.session_state[Tab.drawing.key]) for at in (one, other)] == [2, 1]
    assert Tab.drawing.default == {}


def test_every_thing_has_a_key_of_its_own() -> None:
    keys = [*(one.key for one in DECLARED), *(one.key for one in EACH)]
    assert len(keys) > 30
    assert len(set(keys)) == len(keys)
    assert all(one.key.count("{}") == 1 for one in EACH)


def test_a_page_is_just_opened_until_it_has_been_drawn_to_its_end() -> None:
    def script() -> None:
        import streamlit as st

        from ensemble.ui.shared import navigation
        from ensemble.ui.shared.tab import tab

        def main() -> None:
            st.session_state["opened"] = navigation.is_page_opening()
            if st.session_state["ended"]:
                st.stop()

        tab.entered_through_app = True
        navigation.draw_page(st.session_state["page"], main)

    at = AppTest.from_function(script)
    said = []
    for page, ended in (
        ("train", True),
        ("train", False),
        ("train", True),
        ("train", False),
        ("runs", True),
        ("train", False),
        ("train", False),
    ):
        at.session_state["page"], at.session_state["ended"] = page, ended
        assert not at.run().exception
        said.append(at.session_state["opened"])
    assert said == [True, True, False, False, True, True, False]
