"""Parts of screens are opened by Streamlit's tester too, as whole screens are."""

from tests.pages.conftest import packages_are_searched_once, state

__all__ = ["packages_are_searched_once", "state"]
