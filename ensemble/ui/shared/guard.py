"""What a page shows when something goes wrong: a plain sentence, never a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.storage.refusals import said_of

BUG = (
    "Something went wrong here that should not have: it is a fault of the program, not yours. "
    "Runs and settings are kept. Reload the page; the details are in the server's log."
)


@contextmanager
def guarded() -> Iterator[None]:
    """Shows an EnsembleError as it stands, and anything else as a bug, logged in full.

    What the disk refuses is logged as well, but said in a sentence.

    A fragment that reruns by itself does not pass through `app.py` again: guard it too.
    Streamlit's own stop and rerun are no `Exception` and pass.
    """
    try:
        yield
    except EnsembleError as error:
        st.error(str(error), icon=":material/error:")
    except Exception as error:
        logging.getLogger("ensemble").exception("A page failed")
        if isinstance(error, OSError) and (said := said_of(error)):
            st.error(said, icon=":material/error:")
        else:
            st.error(BUG, icon=":material/bug_report:")
