"""What all screens have in common when they are tested."""

import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner

from ensemble.ui.classify.input import members


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
def members_are_waited_for() -> Iterator[None]:
    """The tester draws a page once, where a browser is told when the members are open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(members, "PATIENCE", 60.0)
        yield
