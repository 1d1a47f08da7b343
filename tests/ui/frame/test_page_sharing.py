"""The address for phones is one that they can reach, and that nobody else has chosen."""

import xml.etree.ElementTree as ET

import pytest
import streamlit as st
from streamlit import config

from ensemble.ui.frame import page_sharing
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.ui.frame import qr_reader

NAMES = ["localhost", "lab-pc", "*.school.example"]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """A server at an address, asked under a name."""
    monkeypatch.delenv(page_sharing.ADDRESS_VARIABLE, raising=False)

    def serve(host: str, *, on: str = "0.0.0.0", allowed: object = NAMES, base: str = "") -> None:
        options = {
            "server.address": on,
            "server.allowedHosts": allowed,
            "server.baseUrlPath": base,
            "server.sslCertFile": None,
        }
        usual = config.get_option
        monkeypatch.setattr(st, "get_option", lambda name: options[name] if name in options else usual(name))

        class Asked:
            headers = {"Host": host}  # noqa: RUF012

        monkeypatch.setattr(st, "context", Asked())

    return serve


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("lab-pc:8501", "http://lab-pc:8501/ensemble"),
        ("a.school.example", "http://a.school.example/ensemble"),
        ("localhost:8501", None),
        ("127.0.0.1:8501", None),
        ("evil.example", None),
        ("lab-pc/@evil.example", None),
        ('lab-pc" onload=', None),
        ("", None),
    ],
)
def test_only_a_name_that_is_allowed_and_not_this_machines_own(served, host, found) -> None:
    served(host, base="ensemble")
    assert page_sharing.find_shared_address() == found


@pytest.mark.parametrize(
    ("on", "allowed"), [("localhost", NAMES), ("127.0.0.1", NAMES), ("::1", NAMES), ("0.0.0.0", ["*"]), ("0.0.0.0", [])]
)
def test_none_on_a_server_of_ones_own_or_that_takes_any_name(served, on, allowed) -> None:
    served("lab-pc:8501", on=on, allowed=allowed)
    assert page_sharing.find_shared_address() is None


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://lab.example.org/ensemble/", "https://lab.example.org/ensemble"),
        ("http://10.0.0.7:8501", "http://10.0.0.7:8501/sub"),
        ("javascript:alert(1)", None),
        ("https://user:word@lab.example.org", None),
        ("lab.example.org", None),
        ("http://[", None),
    ],
)
def test_whoever_runs_the_server_may_say_it(served, monkeypatch, given, found) -> None:
    served("localhost", on="localhost", base="sub")
    monkeypatch.setenv(page_sharing.ADDRESS_VARIABLE, given)
    assert page_sharing.find_shared_address() == found


@pytest.mark.parametrize("letters", [40, 60, 80, 100])
def test_the_code_says_the_address(letters: int) -> None:
    address = "http://lab-pc:8501/why?run=digits-0412-101500&image=7&step=2&terms=hidden&"
    address = (address + "x" * letters)[:letters]
    assert qr_reader.text(qr_reader.modules(page_sharing.render_qr_code(address))) == address


def test_the_code_is_black_on_white_with_the_margin_of_four_modules_that_readers_need() -> None:
    picture = ET.fromstring(page_sharing.render_qr_code("http://lab-pc:8501/why?run=digits-0412&step=2"))
    ground, ink = picture.findall(".//{*}path")
    assert ground.get("fill") in ("#fff", "#ffffff")
    assert ink.get("stroke") in ("#000", "#000000")
    assert ink.get("d", "").startswith("M4 4.5h7"), "the corner's mark is seven modules wide"


def test_a_link_that_is_too_long_for_a_code_leads_to_the_page_alone() -> None:
    assert page_sharing.build_shared_link("http://pc", "why", {"image": "7"}) == "http://pc/why?image=7"
    assert page_sharing.build_shared_link("http://pc", "compare", {"runs": "r," * 400}) == "http://pc/compare"


def test_a_page_shows_the_address_with_its_run_only_where_others_can_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(page_sharing.ADDRESS_VARIABLE, raising=False)
    run = trained(members=2)
    at = opened(run, page="why", step=2)
    assert "phones" not in {one.key for one in at.button}
    monkeypatch.setenv(page_sharing.ADDRESS_VARIABLE, "http://lab-pc:8501/ensemble")
    at.run()
    at.button(key="phones").click().run()
    assert not at.exception
    assert any("lab-pc" in one.value for one in at.markdown)
    link = at.code[0].value
    assert link.startswith("http://lab-pc:8501/ensemble/why?")
    assert f"run={run.id}" in link
    assert "step=2" in link
