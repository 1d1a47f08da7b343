"""What a press on Runs does, and how what came of it is told at the next drawing."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.ui.shared import guard, loaders
from ensemble.ui.shared.tab import Tab, tab
from ensemble.wording import escaping, formats


def attempt_run_action(action: Callable[[], Any], text: str) -> bool:
    """Do it; what came of it is told at the next drawing. Whether it was done."""
    problem = _try_run_action(action)
    loaders.forget_runs()
    tab.runs_message = ("error", problem) if problem else ("done", text)
    return not problem


def attempt_for_each_run(
    ids: Sequence[str], action: Callable[[str], Any], describe_success: Callable[[int], str]
) -> bool:
    problems = [problem for run_id in ids if (problem := _try_run_action(partial(action, run_id)))]
    loaders.forget_runs()
    if not problems:
        tab.runs_message = "done", describe_success(len(ids))
    elif len(ids) == 1:
        tab.runs_message = "error", problems[0]
    else:
        scope = f"{len(problems)} of {formats.format_count(len(ids), 'run')}"
        tab.runs_message = "error", f"{scope} not changed. {problems[0]}"
    return not problems


def _try_run_action(action: Callable[[], Any]) -> str:
    """Does it; "" where that went well, else why not in a sentence."""
    try:
        action()
    except EnsembleError as error:
        return str(error)
    except OSError as error:
        return f"The run's files cannot be changed ({error.strerror})."
    return ""


def show_run_action_result() -> None:
    kind, message = Tab.runs_message.pop()
    if kind == "error":
        guard.show_error_message(message)
    elif kind:
        st.toast(escaping.escape_markdown(message))
