"""What all screens have in common when they are tested."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from ensemble.errors import RunError
from ensemble.recognition import calibration_job, rejection_threshold
from ensemble.ui.classify.input import classifier_loader
from tests.conftest import REPO


@pytest.fixture(autouse=True, scope="session")
def packages_are_searched_once() -> Iterator[None]:
    """Streamlit's tester looks for components in every installed package at each opening.

    That takes longer than most screens, and what it finds does not change meanwhile.
    """
    with pytest.MonkeyPatch.context() as patch:
        found = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(autouse=True, scope="session")
def settings_of_the_project_are_read() -> None:
    """Streamlit reads its settings at the first page, from the folder that it is in just then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPO)
        config.get_config_options()


@pytest.fixture(autouse=True, scope="session")
def members_are_waited_for() -> Iterator[None]:
    """The tester draws a page once, where a browser is told when the members are open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classifier_loader, "OPENING_PATIENCE_S", 60.0)
        yield


@pytest.fixture(autouse=True, scope="module")
def few_images_are_no_digits() -> Iterator[None]:
    """Drawing fifty of each kind, and asking members about them, is most of their being opened.

    A process of its own would draw the fifty: what is rejected is set in the process of the tests,
    as where no job can be begun. For a module: a folder is no package, and the tests of other
    folders may follow in this process.
    """

    def refuse(run_id: str, epoch: int) -> None:
        raise RunError("No process is begun by the tests of pages.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rejection_threshold, "NON_DIGITS_PER_KIND", 12)
        patch.setattr(calibration_job, "start_calibration", refuse)
        yield


@pytest.fixture
def train() -> Callable[..., AppTest]:
    """Opens the Train page, with a run in the address where one is given."""

    def opened(run: str = "") -> AppTest:
        at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
        if run:
            at.query_params["run"] = run
        at.switch_page("pages/train.py").run()
        assert not at.exception
        return at

    return opened


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session outside a page."""
    held: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", held)
    return held
