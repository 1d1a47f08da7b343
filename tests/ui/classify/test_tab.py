"""What one tab of Classify keeps: its pictures, the open one and its open mark, overrulings."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble.ui.classify.answer import overrides, preparation_stages
from ensemble.ui.classify.input import open_mark, picture_list, tab_pictures
from ensemble.ui.classify.state import create_input_picture
from ensemble.ui.shared.tab import Tab

Session = dict[str, Any]


def added(*names: str) -> tuple[Any, ...]:
    return tab_pictures.add_tab_pictures, [create_input_picture(name, name.encode(), name) for name in names]


THREE = added("a", "b", "c")


@pytest.mark.parametrize(
    ("steps", "names", "here"),
    [
        ([THREE], "abc", "a"),
        ([THREE, added("d", "e")], "deabc", "d"),  # the latest on top
        ([THREE, added("c", "d")], "cdab", "c"),  # handed in again
        ([THREE, added()], "abc", "a"),
        ([THREE, (tab_pictures.open_adjacent_picture, 1)], "abc", "b"),
        ([THREE, (tab_pictures.open_adjacent_picture, -1)], "abc", "c"),
        ([THREE, (tab_pictures.open_tab_picture, "b"), (tab_pictures.remove_tab_picture, "b")], "ac", "c"),
        ([THREE, (tab_pictures.open_tab_picture, "c"), (tab_pictures.remove_tab_picture, "c")], "ab", "b"),
        ([THREE, (tab_pictures.remove_tab_picture, "z")], "abc", "a"),
    ],
)
def test_pictures_come_go_and_give_way_to_a_neighbour(
    steps: list[tuple[Any, ...]], names: str, here: str, state: Session
) -> None:
    for function, *values in steps:
        function(*values)
    assert [one.id for one in state[Tab.pictures.key]] == list(names)
    assert (found := tab_pictures.find_open_picture())
    assert found.id == here


def test_of_what_is_overruled_the_latest_pictures_stay(state: Session) -> None:
    most = overrides.MAX_PICTURES
    for number in (*range(most + 1), 1, "new"):
        overrides.update_overrides(str(number))
    kept = list(state[Tab.overrules.key])
    assert len(kept) == most
    assert kept[-3:] == [str(most), "1", "new"]
    assert kept[0] == "3", "1 was overruled again, and is none of the oldest"


@pytest.mark.parametrize(
    ("kept", "ident", "marks", "index"),
    [(("p", 2), "p", 3, 2), (("p", 2), "p", 2, 1), (("p", 2), "q", 3, 1), (("p", 0), "p", 3, 0), (("p", 2), "q", 0, 0)],
)
def test_another_picture_or_one_with_fewer_marks_opens_with_the_usual_one(
    kept: tuple[str, int], ident: str, marks: int, index: int, state: Session
) -> None:
    state["classify_mark"] = kept
    assert open_mark.find_open_mark(ident, marks, 1) == index


@pytest.mark.parametrize(
    ("across", "down", "crop"),
    [
        ((0, 50), (20, 80), (0.0, 0.2, 0.5, 0.8)),
        ((40, 40), (97, 100), (0.4, 0.95, 0.45, 1.0)),
        ((100, 100), (0, 2), (0.95, 0.0, 1.0, 0.05)),
    ],
)
def test_a_part_keeps_a_twentieth_of_the_picture(
    across: tuple[int, int], down: tuple[int, int], crop: tuple[float, ...], state: Session
) -> None:
    state |= {"classify_across_p": across, "classify_down_p": down}
    preparation_stages.apply_crop_sliders("p")
    assert state[Tab.overrules.key]["p"].crop == pytest.approx(crop)


@pytest.mark.parametrize(
    ("since", "done", "said"),
    [
        ((0.0, 2), 12, "12 of 32 read · about 1 min 40 s left"),
        ((0.0, 9), 12, "12 of 32 read"),
        ((0.0, 8), 12, "12 of 32 read · about 4 min 10 s left"),
    ],
)
def test_the_time_left_goes_by_the_pace_so_far(
    since: tuple[float, int], done: int, said: str, state: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_list.time, "monotonic", lambda: 50.0)
    state["classify_files_since"] = since
    assert picture_list.describe_reading_progress(done, 32) == said


def uploading() -> None:
    """An uploader that stays, as a browser's does until the page has been drawn anew."""
    import streamlit as st

    from ensemble.ui.classify.input import input_methods

    st.file_uploader("Pictures", accept_multiple_files=True, key="uploader")
    input_methods.add_uploaded_pictures("uploader")


def test_files_that_a_browser_sends_once_more_are_taken_once() -> None:
    at = AppTest.from_function(uploading).run()
    at.file_uploader[0].upload("a.png", b"a" * 10).upload("b.png", b"b" * 20).run()
    at.session_state[Tab.pictures.key] = ()  # the person lets both go
    at.run()
    assert not at.exception
    assert at.session_state[Tab.pictures.key] == ()
    at.file_uploader[0].upload("c.png", b"c" * 5).run()
    assert [one.name for one in at.session_state[Tab.pictures.key]] == ["c.png"]
    assert at.session_state[Tab.classify_uploader_count.key] == 2
    assert at.session_state[Tab.uploaded_bytes.key] == 35


def test_the_files_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab_pictures, "MAX_TOTAL_BYTES", 25)
    every = [create_input_picture(str(n), bytes([n]) * 10) for n in range(4)]
    kept = tab_pictures.limit_tab_pictures(every)
    assert [one.content is None for one in kept] == [False, False, True, True]


@pytest.mark.parametrize("shape", [(28, 28), (10, 40), (40, 10)])
def test_a_small_stage_is_enlarged_by_the_least_whole_number(shape: tuple[int, int]) -> None:
    across = preparation_stages._compute_stage_width(np.zeros(shape, np.uint8))
    large = preparation_stages._enlarge_stage_image(np.zeros(shape, np.uint8), across)
    times = large.shape[1] // shape[1]
    assert large.shape == (times * shape[0], times * shape[1])
    assert (times - 1) * shape[1] < across <= times * shape[1]
