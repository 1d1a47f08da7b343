"""What a page shows when something goes wrong: a plain sentence, never a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.wording import escaping

BUG = (
    "Something went wrong here that should not have: it is a fault of the program, not yours. "
    "Runs and settings are kept. Reload the page; the details are in the server's log."
)


def problem(why: EnsembleError | str, icon: str = ":material/error:") -> None:
    """Shows what went wrong, letter by letter: it may quote an address, a name or a file.

    Args:
      why: what happened, what is kept and what to do next.
      icon: the sign beside it.
    """
    st.error(escaping.markdown(why), icon=icon)


@contextmanager
def guarded() -> Iterator[None]:
    """Shows an EnsembleError in its own words, and anything else as a bug, logged in full.

    A fragment that reruns by itself does not pass through `app.py` again: guard it too.
    Streamlit's own stop and rerun are no `Exception` and pass.
    """
    try:
        yield
    except EnsembleError as error:
        problem(error)
    except Exception:
        logging.getLogger("ensemble").exception("A page failed")
        st.error(BUG, icon=":material/bug_report:")
