"""The views of the screen Inspect: those that every face has, and those that only a page can."""

from importlib import import_module
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.runs.teacher import has_teacher
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, widget_state
from ensemble.ui.train.example.recording import is_recorded_run
from ensemble.views.registry import BETTER, ROBUST, TRUST
from ensemble.views.registry import VIEWS as VIEWS_OF_ALL_FACES
from ensemble.wording import escaping

# What only the page shows, by the question that it answers.
_PAGE_ONLY_LABELS = {BETTER: {"compare": "Compare runs"}, ROBUST: {"digit": "One image"}}


def _group_views() -> dict[str, dict[str, str]]:
    """The views of the registry that have a control, then the page's own.

    Returns:
      By question, the word in the address and the label on the screen.
    """
    groups: dict[str, dict[str, str]] = {question: {} for question in (BETTER, TRUST, ROBUST)}
    for view in VIEWS_OF_ALL_FACES.values():
        if view.question:
            groups[view.question][view.name] = view.label or view.title
    return {question: views | _PAGE_ONLY_LABELS.get(question, {}) for question, views in groups.items()}


GROUPS = _group_views()
VIEWS = {word: label for views in GROUPS.values() for word, label in views.items()}
DEFAULT_VIEW = next(iter(VIEWS))

# What a page alone can do: a module below this package, imported when shown, and its function.
PAGE_ONLY_VIEWS = {
    "shift": ("shift.shift_view", "show_shift_view"),
    "digit": ("shift.one_image", "show_corrupted_image"),
    "compare": ("run_comparison", "show_run_comparison"),
}
# Words of addresses before 1.1, of views that another view's control offers.
_EARLIER_VIEWS = {"answer": DEFAULT_VIEW, "committee": "members"}
_EARLIER_WORDS = {"pairs": "agreement", "map": "member_map", "scatter": "uncertainty"}

_VIEWS_ASKING_MEMBERS = ("shift", "digit")


def select_inspect_view(run: runs.Run) -> str:
    """The controls, a group a question; returns the view that the address names."""
    _open_named_view()
    value = address.VIEW.read_option(VIEWS, DEFAULT_VIEW)
    address.show_unknown_option(address.VIEW, VIEWS, VIEWS[value])
    with st.container(horizontal=True, gap="medium", key="views"):
        for place, (question, views) in enumerate(GROUPS.items()):
            offered = {
                word: label
                for word, label in views.items()
                if word != "distillation" or has_teacher(run) or value == "distillation"
            }
            titles = offered | _build_noun_titles(run.data.noun, views)
            _show_view_group(place, question, titles, value)
    return value


def _open_named_view() -> None:
    """Follow an address that names a view as the command does, `view=conformal`, or as before 1.1, `mode=sets`."""
    if address.MODE.read() == "sets":
        address.PICTURE.set_value("conformal")
    address.MODE.set_value(None)
    if (word := address.PICTURE.read()) in _EARLIER_WORDS:
        address.PICTURE.set_value(_EARLIER_WORDS[word])
    name = str(address.VIEW.read())
    if name in _EARLIER_VIEWS:
        address.VIEW.set_value(_EARLIER_VIEWS[name], DEFAULT_VIEW)
    elif name in VIEWS_OF_ALL_FACES and (outer := VIEWS_OF_ALL_FACES[name].within):
        address.VIEW.set_value(outer, DEFAULT_VIEW)
        address.PICTURE.set_value(name)


def _build_noun_titles(noun: str, views: dict[str, str]) -> dict[str, str]:
    return {"digit": f"One {escaping.escape_markdown(noun)}"} if "digit" in views else {}


def _show_view_group(place: int, question: str, views: dict[str, str], value: str) -> None:
    """The views of one question: none of them is marked where another question's is shown."""
    chosen = value if value in views else None
    address.show_address_widget(
        f"address_view_{place}",
        chosen,
        lambda key: widget_state.draw_widget(
            st.segmented_control,
            question,
            list(views),
            key=key,
            format_func=views.__getitem__,
            wrap=True,
            on_change=_update_view_address,
            args=(key,),
        ),
    )


def _update_view_address(key: str) -> None:
    """Callback: the address follows, and forgets what belonged to the view before.

    A view that is pressed again has nothing chosen to follow, and stays.
    """
    chosen: Any = widget_state.get_widget_value(key)
    if chosen:
        address.drop_other_parameters(address.RUN, address.EPOCH)
        address.VIEW.set_value(chosen, DEFAULT_VIEW)


def show_inspect_view(key: str, shared: SharedEpoch) -> None:
    """Draw the view of that key; of a run that brought no members, those that ask them say so."""
    if key in (*_VIEWS_ASKING_MEMBERS, "compare") and is_recorded_run(shared.run):
        st.info(
            f"{VIEWS[key]} needs runs of your own: of the recorded example only its predictions are here.",
            icon=":material/history:",
        )
        return
    if key in _VIEWS_ASKING_MEMBERS and shared.run.training_config is None:
        st.info(
            f"{VIEWS[key]} asks the members themselves about changed images: this run was "
            "trained elsewhere and brought their predictions alone.",
            icon=":material/upload_file:",
        )
        return
    if key in PAGE_ONLY_VIEWS:
        module, function = PAGE_ONLY_VIEWS[key]
        getattr(import_module(f"ensemble.ui.inspect.{module}"), function)(shared)
    else:
        for name in _select_parts(key, shared):
            if name == "labels":
                _show_labels_link(shared)
            render_view(VIEWS_OF_ALL_FACES[name].build(shared), shared)


def _select_parts(key: str, shared: SharedEpoch) -> list[str]:
    """Draw the control of a view that offers others as well; returns the names of the views to show."""
    within = [view.name for view in VIEWS_OF_ALL_FACES.values() if view.within == key and view.applies(shared)]
    if shared.members == 1:
        within = [name for name in within if not VIEWS_OF_ALL_FACES[name].needs_several]
        if key == "uncertainty":  # little of it is left, so all is shown
            return [key, *within]
    if not within:
        return [key]
    titles = {name: VIEWS_OF_ALL_FACES[name].part_label or VIEWS_OF_ALL_FACES[name].title for name in (key, *within)}
    return [address.select_address_option(address.PICTURE, "Picture", titles, key, label_visibility="collapsed")]


def _show_labels_link(shared: SharedEpoch) -> None:
    whose = {} if is_recorded_run(shared.run) else address.RUN.build_query(shared.run.id)
    st.page_link(
        "pages/labels.py",
        label="Go through them one by one",
        icon=":material/label:",
        query_params=whose | address.EPOCH.build_query(shared.epoch),
    )
