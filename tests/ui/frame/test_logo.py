"""The app's own name and mark: a file of its own, in the colour of the page's words."""

import xml.etree.ElementTree as ET

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ensemble.ui.frame import logo
from tests.conftest import REPO


def test_the_name_is_a_picture_that_asks_nobody() -> None:
    for file in (logo.WORDMARK, logo.ICON):
        root = ET.fromstring(file.read_text())
        assert not [one for one in root.iter() if one.tag.endswith(("image", "use", "style"))]
        words = [value for one in root.iter() for value in one.attrib.values()]
        assert not any("://" in word or "url(" in word for word in words)


def test_every_screen_has_the_mark_and_the_style(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "logo", lambda image, **more: shown.append(image))
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    assert not at.exception
    assert "Deep ensembles" in shown[-1]
    assert "currentColor" not in shown[-1], "a picture knows nothing of the page's colours"
