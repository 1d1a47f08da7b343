"""What one browser tab remembers beyond its address and the values of its widgets.

Everything stands once, with its type, in `Tab`: `tab.tried_image_count` reads it,
`tab.tried_image_count = …` writes it, and `del tab.tried_image_count` forgets it. It is lost when the
tab is closed or reloaded: what must survive a refresh belongs in the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import streamlit as st

from ensemble.ui.classify.state import InputPicture, PreparationOverrides, ReadingRow

if TYPE_CHECKING:
    from ensemble.analysis.quality.averaging import Ints
    from ensemble.errors import EnsembleError
    from ensemble.exchange import Capsule, MemberOutputs
    from ensemble.exchange.numeric_files import NumericPredictions
    from ensemble.tables.raw_table import RawTable

T = TypeVar("T")


class TabValue(Generic[T]):
    """One thing that a tab remembers.

    Attributes:
      key: under which Streamlit keeps it.
      default: what it is as long as nothing is remembered; never changed in place.
    """

    def __init__(self, key: str, default: T) -> None:
        self.key, self.default = key, default

    @overload
    def __get__(self, tab: None, owner: type) -> TabValue[T]: ...
    @overload
    def __get__(self, tab: Tab, owner: type) -> T: ...
    def __get__(self, tab: Tab | None, owner: type) -> TabValue[T] | T:
        return self if tab is None else self.read()

    def __set__(self, tab: Tab, value: T) -> None:
        st.session_state[self.key] = value

    def __delete__(self, tab: Tab) -> None:
        st.session_state.pop(self.key, None)

    def read(self) -> T:
        value: T = st.session_state.get(self.key, self.default)
        return value

    def pop(self) -> T:
        """As `read`, and forgets it: for what is told once."""
        value: T = st.session_state.pop(self.key, self.default)
        return value


class KeyedTabValue(Generic[T]):
    """Something that is remembered of several: `tab.grid_columns["digits_grid"]`.

    Attributes:
      key: as of `TabValue`, with {} where the name of the one stands.
      default: as of `TabValue`.
    """

    def __init__(self, key: str, default: T) -> None:
        self.key, self.default = key, default

    def __get__(self, tab: Tab | None, owner: type) -> KeyedTabValue[T]:
        return self

    def __getitem__(self, name: str) -> T:
        value: T = st.session_state.get(self.key.format(name), self.default)
        return value

    def __setitem__(self, name: str, value: T) -> None:
        st.session_state[self.key.format(name)] = value

    def __delitem__(self, name: str) -> None:
        st.session_state.pop(self.key.format(name), None)

    def pop(self, name: str) -> T:
        """As of `TabValue`."""
        value: T = st.session_state.pop(self.key.format(name), self.default)
        return value


class Tab:
    """All that a tab remembers, screen by screen."""

    # Every screen.
    # Whether `app.py` has run, and not a page alone: see `navigation.redirect_through_app`.
    session_mark = TabValue[str]("session_mark", "")
    entered_through_app = TabValue[bool]("came_through_app", False)
    # The page that stands in the tab, by its word in the address; "" while it is being opened.
    current_page = TabValue[str]("page_standing", "")

    # Screens about a job: a run, a regression or a sweep, by its word in the address.
    # The one that was shown last, for screens that are opened without one in their address.
    job_shown = KeyedTabValue[str]("{}_last_shown", "")
    # The one just launched, and when: shown next, whatever the address says by then.
    job_next = KeyedTabValue[tuple[str, float]]("{}_next", ("", 0.0))
    # What was launched last, and when: a second click within a moment does not launch two.
    job_launched = KeyedTabValue[tuple[object, float]]("{}_launched", (None, 0.0))
    # When any was.
    launched_at = TabValue[float]("launched_at", 0.0)
    # The one whose deletion is asked about, and why the last press was in vain: told once.
    job_to_delete = KeyedTabValue[str | None]("{}_delete_asked", None)
    job_error = KeyedTabValue[str]("{}_said", "")

    # On a shared server: who this tab was opened by, and why its visitor was refused; each is
    # written down once.
    audited_visitor = TabValue[str]("seen_as", "")
    audited_refusal = TabValue[str]("refused_because", "")

    # Whether terms of the trade are hidden; the address says so too.
    plain_words = TabValue[bool]("plain_words_on", False)

    # Why: what the person took an image for, by its run and number; None for no answer of theirs.
    guesses = TabValue[Mapping[tuple[str, int], int | None]]("why_guesses", {})

    # Labels: the image whose decision was undone last; why a decision could not be saved or a new
    # version not be created, shown once. The upload that becomes a pool, by its id.
    label_undone = TabValue[int | None]("label_undone", None)
    label_problem = TabValue[str]("label_problem", "")
    pool_upload_count = TabValue[int]("pool_upload_count", 0)
    pool_upload = TabValue[str]("pool_upload", "")

    # Why a job could not be started or stopped, by the key of the button: shown once.
    job_problem = KeyedTabValue[str]("{}_problem", "")

    # Train and Numbers, each by the name of its form.
    # The number of the last change of the settings that the browser sent.
    settings_edit_number = KeyedTabValue[int]("{}settings_edit", 0)
    # Tells this visit from the one before the page was loaded again or the server began anew, once
    # the settings are drawn; and whether those that the browser kept are still to be set again.
    settings_visit = KeyedTabValue[str]("{}settings_visit", "")
    settings_restorable = KeyedTabValue[bool]("{}settings_restorable", False)
    # What the settings were last filled from, and the values that it filled in.
    settings_origin = KeyedTabValue[tuple[str, Mapping[str, Any]]]("{}settings_from", ("the default settings", {}))
    # What a screen reader was told of a run last: its state then, when, and the words.
    announced = KeyedTabValue[tuple[str, float, str]]("{}_announced", ("", 0.0, ""))
    # The run whose groups, where they are many, are listed.
    unfolded_groups_run_id = TabValue[str]("groups_unfolded", "")

    # Runs.
    # Whether predictions are being handed in.
    import_dialog_open = TabValue[bool]("importing", False)
    checkpoint_dialog_open = TabValue[bool]("freeing_space", False)
    # The uploaded files that were read last, by their ids and how labels and numbers were to be read, and
    # what they hold or why they cannot be taken.
    import_contents: TabValue[
        tuple[tuple[str, ...], MemberOutputs | NumericPredictions | list[Capsule] | EnsembleError] | None
    ] = TabValue("import_read", None)

    # Predictions, Inspect and Classify.
    # The run that they were last about: with another one they begin at its usual epoch.
    predictions_run_id = TabValue[str]("predictions_of", "")
    # A run and the epoch that is shown of it, which stays while the run goes on.
    held_epoch = TabValue[tuple[str, int]]("predictions_epoch", ("", 0))
    # How many images fit side by side in a grid, as far as the browser has said.
    grid_columns = KeyedTabValue[int]("digits_grid_columns_{}", 12)

    # Inspect.
    # The run whose answer stands on the screen.
    inspected_run_id = TabValue[str]("inspect_run", "")
    # How many members would do, in words, by what it was counted of: one at a time.
    sufficient_member_texts = TabValue[Mapping[tuple[Any, ...], str]]("inspect_enough", {})
    # The lists of images on the screen, by their grids, and the grid that was pressed last.
    image_lists: TabValue[Mapping[str, Ints]] = TabValue("inspect_lists", {})
    image_list_pressed = TabValue[str]("inspect_last_list", "")
    # Which images a grid is of, and the page of them that was turned to.
    listed_images_hash = KeyedTabValue[int | None]("{}_of", None)
    images_page = KeyedTabValue[int]("{}_page", 0)

    # Classify: the pictures.
    # Those that were handed in, the latest first, and which of them is open.
    pictures = TabValue[Sequence[InputPicture]]("classify_tray", ())
    picture_open = TabValue[str]("classify_open", "")
    # How many uploaders there have been: each is replaced, empty, when it has been used.
    classify_uploader_count = TabValue[int]("classify_uploads", 0)
    # The ids of files that were taken out of uploaders, which a browser may send once more.
    consumed_upload_ids = TabValue[Sequence[str]]("classify_uploaded", ())
    # How many bytes were uploaded, here and on Data: Streamlit keeps them until the tab is closed.
    uploaded_bytes = TabValue[int]("classify_uploaded_bytes", 0)
    # How many pictures were left out of those that were handed in last.
    dropped_picture_count = TabValue[int]("classify_cut", 0)
    # The last photograph, for when another way in has been looked at.
    photograph = TabValue[InputPicture | None]("classify_photo", None)
    # What is on the sheet: strokes, their serial, pen, width and height.
    drawing = TabValue[Mapping[str, Any]]("classify_drawing", {})
    # How many test images have been tried.
    tried_image_count = TabValue[int]("classify_tried", 0)

    # Classify: what is said of them.
    # A picture, and which of its marks is open.
    mark_open = TabValue[tuple[str, int]]("classify_mark", ("", 0))
    # What was overruled, by the pictures' ids, the latest last.
    overrules = TabValue[Mapping[str, PreparationOverrides]]("classify_overrules", {})
    # Who read the pictures of the list, and the rows: by id, with what they were read from.
    rows_source = TabValue[tuple[Any, ...] | None]("classify_files_of", None)
    rows = TabValue[Mapping[str, tuple[str, ReadingRow]]]("classify_files_rows", {})
    # When reading them began, and how many were read by then.
    rows_reading_start = TabValue[tuple[float, int] | None]("classify_files_since", None)
    # Whether a row has just been pressed.
    row_pressed = TabValue[bool]("classify_files_chosen", False)
    # Why a correction could not be kept: told once.
    correction_problem = TabValue[str]("classify_correction_problem", "")

    # Numbers: the uploaded table that was read last, by its id and decimal sign, or why it cannot be taken.
    numeric_table: TabValue[tuple[tuple[str, str], RawTable | EnsembleError] | None] = TabValue("numeric_table", None)

    # Compare.
    # The words of the address that said what was compared last.
    compared_address = TabValue[Mapping[str, str]]("compared_last", {})

    # Data.
    # The dataset whose removal is asked about; what came of the last press, told once, as on Runs.
    data_to_remove = TabValue[str | None]("data_remove_asked", None)
    data_message = TabValue[tuple[str, str]]("data_said", ("", ""))
    # How many uploaders there have been: each is replaced, empty, when it has been used.
    data_uploader_count = TabValue[int]("data_uploads", 0)

    # Runs.
    # The columns of the table that were chosen; () until then.
    runs_columns = TabValue[tuple[str, ...]]("runs_columns_chosen", ())
    # The runs that are ticked where they are too many for an address.
    selected_run_ids = TabValue[tuple[str, ...]]("runs_ticked", ())
    # The runs whose deletion is asked about, all at once.
    runs_to_delete = TabValue[tuple[str, ...]]("runs_delete_all_asked", ())
    # How often tags could not be kept: each time their box is replaced by one as it was.
    tag_failure_count = TabValue[int]("runs_untagged", 0)
    # How many runs are still to be read for their calibration error.
    unread_error_count = TabValue[int]("runs_unread", 0)
    # What came of the last press, told once: "error" or "done", and the words.
    runs_message = TabValue[tuple[str, str]]("runs_said", ("", ""))


tab = Tab()


def allow_script_stop() -> None:
    Tab.current_page.key in st.session_state  # noqa: B015 (it looks when its state is asked for)
