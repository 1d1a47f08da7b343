"""Train's control for the run that the members learn from, and the way to one network instead."""

import streamlit as st

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.teacher import build_student_config, find_teacher
from ensemble.ui.shared import loaders, settings
from ensemble.wording import escaping
from ensemble.wording.formats import format_count
from ensemble.wording.run_names import format_unique_run_name

_NO_TEACHER = "None: labels alone"
_MAX_LISTED_TEACHERS = 100


def show_teacher_control() -> None:
    """Which run teaches: of those that learnt the chosen images and can be asked."""
    teachers = {run.id: format_unique_run_name(run) for run in _list_teachers()}
    chosen = settings.get_run_setting("teacher")
    titles = {chosen: chosen, "": _NO_TEACHER} | teachers
    titles = {"": titles.pop(""), **titles}
    settings.select_run_setting("teacher", choices=list(titles), format_func=titles.__getitem__)


def _list_teachers() -> list[runs.Run]:
    dataset = settings.get_run_setting("dataset")
    return [
        run
        for run in loaders.list_cached_runs()[:_MAX_LISTED_TEACHERS]
        if run.training_config
        and run.training_config.dataset == dataset
        and not run.active
        and list_parameter_epochs(run.path)
    ]


def describe_unfit_teacher(config: EnsembleConfig) -> str:
    """Why the run that is chosen cannot teach; "" where it can, or none is chosen."""
    try:
        if config.teacher:
            find_teacher(config)
    except EnsembleError as error:
        return str(error)
    return ""


def show_distillation_offer(run: runs.Run) -> None:
    if run.config.members < 2 or run.state not in ("finished", "stopped") or not run.training_config:
        return
    try:
        config = build_student_config(run)
        find_teacher(config)
    except EnsembleError:
        return
    st.button(
        "One network instead",
        icon=":material/school:",
        key="one_network_instead",
        type="tertiary",
        on_click=settings.fill_run_settings,
        args=(config, f"one network taught by {escaping.escape_markdown(run.id)}"),
        help=f"Sets up one network that learns from the averaged probabilities of these "
        f"{format_count(run.config.members, 'member')}; nothing starts until you launch. What it "
        "loses against them is said once it has ended.",
    )
