"""Inspect: whether the ensemble is better than a member, how sure it is, and if it may be."""

from typing import Any

import streamlit as st

from ensemble import datasets, runs
from ensemble.ui.inspect import answer as inspect_answer
from ensemble.ui.inspect import images
from ensemble.ui.inspect import views as inspect_views
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import controls, epoch_panel, waiting
from ensemble.ui.shared import address, entry, loaders, run_panel
from ensemble.ui.shared.address import Word
from ensemble.ui.shared.tab import tab
from ensemble.wording import images as images_words


def main() -> None:
    run_panel.about_a_run(of_run, no_runs)


def no_runs() -> None:
    """The first visit."""
    waiting.no_runs(
        "See what an ensemble knows, and what it does not",
        "Whether it beats its members, where they disagree, how sure it is and how many "
        "members would do: all of it stands here once a first run has finished an epoch.",
    )


def of_run(run: runs.Run) -> None:
    """The answer, the views and the one that is chosen, or why there is none yet."""
    first = entry.just_opened() or tab.inspected != run.id
    chosen = epoch_panel.choose(run, "The answer stands")
    if not chosen:
        return
    shown = Inspected(
        run, chosen.epoch, chosen.epochs, chosen.made, loaders.dataset(run.config.dataset),
        images_words.noun(datasets.info(run.config.dataset).class_names),
        loaders.version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz"),
    )  # fmt: skip
    place = inspect_answer.show(shown)
    with st.container(horizontal=True, gap="medium", key="answer"):
        figures = st.container(horizontal=True, gap="medium")
        controls.epoch(chosen.epochs, chosen.epoch, run)
    epoch_panel.watch(run, chosen)
    details = st.container()
    # With another epoch the picture comes first; at first it must not be pushed down by these.
    if first:
        inspect_answer.fill(shown, figures, details)
    images.begin()
    inspect_views.show(choose_view(), shown)
    images.end(shown)
    if not first:
        inspect_answer.fill(shown, figures, details)
    inspect_answer.finish(shown, place)
    tab.inspected = run.id


def choose_view() -> str:
    """The view that the address names; another one starts with nothing of this one's in it."""
    views = inspect_views.VIEWS
    return address.choose(
        address.VIEW, "View", views, next(iter(views)), on_change=view_changed,
        label_visibility="collapsed",
    )  # fmt: skip


def view_changed(word: Word[Any], key: str, default: str) -> None:
    """Callback: the address follows, and forgets what belonged to the view before."""
    address.keep_only(address.RUN, address.EPOCH)
    address.follow(word, key, default)


entry.draw("inspect", main)
