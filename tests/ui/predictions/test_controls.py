"""The buttons under the images: as many pages as there are images for."""

import pytest
from streamlit.testing.v1 import AppTest


def one_gallery(total: int, first: int) -> None:
    import streamlit as st

    from ensemble.ui.predictions.controls import select_gallery_page

    st.text(str(select_gallery_page(total, 60, first)))


@pytest.mark.parametrize(
    ("total", "first", "place", "pages"),
    [(0, 0, 0, 1), (60, 0, 0, 1), (61, 0, 0, 2), (61, 60, 60, 2), (500, 999, 480, 9), (540, 999, 480, 9)],
)
def test_every_page_is_offered_and_a_position_beyond_the_end_shows_the_last(
    total: int, first: int, place: int, pages: int
) -> None:
    at = AppTest.from_function(one_gallery, args=(total, first)).run()
    assert not at.exception
    assert at.text[0].value == str(place)
    offered = at.selectbox[0].options if at.selectbox else ["Page 1 of 1"]
    assert offered == [f"Page {page} of {pages}" for page in range(1, pages + 1)]
