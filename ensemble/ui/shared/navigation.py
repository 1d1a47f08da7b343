"""The pages there are, and the way into them, whichever address a browser asks for first."""

from collections.abc import Callable

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from ensemble.figures.palette import DARK, LIGHT
from ensemble.ui.frame import drawer, figure_menu, logo, page_sharing, reconnection
from ensemble.ui.shared import address, theme, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import startup_check


def configure_page() -> None:
    """The page's title, icon and width, before anything else is drawn; its mark and style."""
    st.set_page_config(page_title="Deep ensembles", page_icon=logo.ICON, layout="wide")
    logo.show_logo()


def build_navigation(hidden: bool = False) -> StreamlitPage:
    """The menu on top of every page; returns the page that the address names, to be run."""
    tab.entered_through_app = True
    train = st.Page(
        "pages/train.py",
        title="Train",
        icon=":material/model_training:",
        url_path="train",
        help="Set an ensemble up, launch it and watch every member learn.",
    )
    predictions = st.Page(
        "pages/predictions.py",
        title="Predictions",
        icon=":material/grid_view:",
        url_path="predictions",
        help="What the members and their average answer for each test image.",
    )
    inspect = st.Page(
        "pages/inspect.py",
        title="Inspect",
        icon=":material/troubleshoot:",
        url_path="inspect",
        help="What the ensemble knows and does not: agreement, uncertainty, calibration.",
    )
    numbers = st.Page(
        "pages/numbers.py",
        title="Numbers",
        icon=":material/123:",
        url_path="numbers",
        help="Ensembles that predict numbers: how far off they are, and whether spreads hold.",
    )
    why = st.Page(
        "pages/why.py",
        title="Why",
        icon=":material/help_center:",
        url_path="why",
        help="Why do they disagree? One disputed image, in five steps.",
    )
    labels = st.Page(
        "pages/labels.py",
        title="Labels",
        icon=":material/label:",
        url_path="labels",
        help="Which labels are wrong? Those in doubt one by one: keep, relabel, remove.",
    )
    compare = st.Page(
        "pages/compare.py",
        title="Compare",
        icon=":material/compare_arrows:",
        url_path="compare",
        help="Several runs beside each other: curves, figures, settings, and what to train next.",
    )
    tune = st.Page(
        "pages/tune.py",
        title="Tune",
        icon=":material/tune:",
        url_path="tune",
        help="Search for the best settings: many trials, chosen on validation images.",
    )
    classify = st.Page(
        "pages/classify.py",
        title="Classify",
        icon=":material/draw:",
        url_path="classify",
        help="Upload, draw or photograph something, and see what the ensemble says.",
    )
    parallel = st.Page(
        "pages/parallel.py",
        title="Parallel",
        icon=":material/speed:",
        url_path="parallel",
        help="One regression with and without pmap: what several devices gain.",
    )
    devices = st.Page(
        "pages/devices.py",
        title="Devices",
        icon=":material/memory:",
        url_path="devices",
        help="This machine's devices: what they are doing, and how fast they are.",
    )
    runs = st.Page(
        "pages/runs.py",
        title="Runs",
        icon=":material/list:",
        url_path="runs",
        help="All runs: find, compare, tag, rename, delete.",
    )

    data = st.Page(
        "pages/data.py",
        title="Data",
        icon=":material/photo_library:",
        url_path="data",
        help="The datasets, and how to add your own images.",
    )

    def open_train_page() -> None:
        st.switch_page(train, query_params=address.get_query_parameters())

    # Streamlit serves its default page at "/" alone, and Train has an address of its own.
    default = st.Page(open_train_page, default=True, visibility="hidden")
    pages = [
        default,
        train,
        predictions,
        inspect,
        numbers,
        why,
        labels,
        compare,
        tune,
        classify,
        parallel,
        devices,
        data,
        runs,
    ]
    return st.navigation(pages, position="hidden" if hidden else "top")


def draw_page(page: str, main: Callable[[], None]) -> None:
    """Draws a page; once that has come to its end, the tab remembers that it stands there."""
    redirect_through_app()
    if tab.current_page != page:
        del tab.current_page
    _show_page_title(page)
    drawer.close_drawer_after_use(page)
    reconnection.redraw_after_reconnection()
    figure_menu.install_figure_menus(theme.build_page_palette(LIGHT), theme.build_page_palette(DARK))
    main()
    page_sharing.show_phones_button(page)
    reconnection.mark_page_end()
    widget_state.clear_pending_values()
    tab.current_page = page


def _show_page_title(page: str) -> None:
    """The page's name as its first heading: on a phone in the bar on top, else for readers alone."""
    with st.container(key="page_title"):
        st.html(f"<h2>{page.capitalize()}</h2>")


def is_page_opening() -> bool:
    return not tab.current_page


def redirect_through_app() -> None:
    """Before anything else is drawn: hand over to `app.py` if it has been passed by.

    Where a folder `pages/` stands beside the app, Streamlit takes it for the older kind of
    app until `st.navigation` has been called once, and a server's very first visitor who
    comes by a link to a page gets that page alone, without `app.py`, its layout and menu.
    Calling `st.navigation` ends that, and the rerun goes through `app.py`.
    """
    if not tab.entered_through_app:
        if why := startup_check.describe_page_refusal():
            st.error(why)
            st.stop()
        configure_page()
        build_navigation()
        st.rerun()
