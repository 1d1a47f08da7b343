"""What a page shows when something goes wrong: a plain sentence, never a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.storage.disk_errors import describe_disk_error
from ensemble.wording import escaping

BUG_MESSAGE = (
    "Something went wrong here that should not have: it is a fault of the program, not yours. "
    "Runs and settings are kept. Reload the page; the details are in the server's log."
)


def show_error_message(why: EnsembleError | str, icon: str = ":material/error:") -> None:
    """Shows what went wrong, letter by letter: it may quote an address, a name or a file."""
    st.error(escaping.escape_markdown(why), icon=icon)


@contextmanager
def guard_page() -> Iterator[None]:
    """Shows an EnsembleError in its own words, and anything else as a bug, logged in full.

    What the disk refuses is logged as well, but said in a sentence.

    A fragment that reruns by itself does not pass through `app.py` again: guard it too.
    Streamlit's own stop and rerun are no `Exception` and pass.
    """
    try:
        yield
    except EnsembleError as error:
        show_error_message(error)
    except Exception as error:
        logging.getLogger("ensemble").exception("A page failed")
        if isinstance(error, OSError) and (disk_error := describe_disk_error(error)):
            show_error_message(disk_error)
        else:
            st.error(BUG_MESSAGE, icon=":material/bug_report:")
