"""Views on a page: their parts as Streamlit draws them, their choices as controls.

The answer and its evidence stand first, whatever has to be asked before they are known. What a
control says stands in the address.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble.jobs.job import Job
from ensemble.ui.inspect import images
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import controls, downloads
from ensemble.ui.shared import address, figure_panel, theme, widget_state
from ensemble.ui.shared.address import TextParameter
from ensemble.views.parts import (
    Alternatives,
    Choice,
    ChoiceRow,
    Columns,
    CopyableText,
    DeferredChoice,
    Figure,
    Figures,
    Images,
    Paragraph,
    Part,
    Table,
    View,
)
from ensemble.wording import escaping

_WIDE_COLUMN_PX = 210  # pixels of a column of a table whose first column is pinned
ROW_HEIGHT_PX, MAX_ROWS = 35, 26  # of such a table, in pixels and in rows that are seen at a time


def render_view(view: View, epoch: SharedEpoch | None = None, job: Job | None = None) -> None:
    """Draw every part of a view.

    Args:
      epoch: what it is of; None for one of several runs, or of numbers, which has no images.
    """
    _PageRenderer(epoch, st.container(), job).render(view)


class _PageRenderer:
    """Draws the parts of one view.

    Args:
      epoch: what the view is of, if it is of one.
      head: where the answer and its evidence come.
      job: whose it is.
    """

    def __init__(self, epoch: SharedEpoch | None, head: DeltaGenerator, job: Job | None = None) -> None:
        self.epoch = epoch
        self.job = epoch.run if epoch else job
        self.head: DeltaGenerator | None = head
        self.evidence: list[str] = []
        self.answers: dict[str, str] = {}

    def render(self, view: View) -> None:
        answer: Any = None
        while True:
            try:
                part = view.send(answer)
            except StopIteration:
                break
            answer = self.render_part(part)
        self.flush_evidence()

    def render_part(self, part: Part) -> Any:
        """Draw one part; returns what was chosen in it, if anything can be."""
        if not (isinstance(part, Paragraph) and part.role == "evidence"):
            self.flush_evidence()
        match part:
            case Paragraph():
                self.render_paragraph(part)
            case Choice():
                return self.render_choice(part)
            case DeferredChoice():
                return read_view_choice(part.choice)
            case ChoiceRow():
                with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
                    return tuple(map(self.render_choice, part.choices))
            case Figures():
                return self.render_figures(part)
            case Table():
                self.head = None
                _render_view_table(part)
            case Images():
                self.render_images(part)
            case Columns():
                self.head = None
                for column, build in zip(st.columns(part.widths, gap="large"), part.columns, strict=True):
                    with column:
                        self.render(build())
            case CopyableText():
                st.code(part.text, language=None, wrap_lines=True)
            case Alternatives():
                self.render(part.build(self.render_choice(part.choice)))
        return None

    def render_paragraph(self, part: Paragraph) -> None:
        """A paragraph, as large as its role asks for; the answer at the head."""
        text = _convert_to_markdown(part.text, part.markdown)
        match part.role:
            case "answer":
                with self.head or st.container():
                    st.markdown(f"##### {text}")
            case "evidence":
                self.evidence.append(text)
            case "heading":
                st.markdown(f"##### {text}")
            case "finding":
                bold = text if part.markdown else f"**{text}**"
                st.markdown(bold, help=part.help or None)
            case "text":
                st.markdown(text, help=part.help or None)
            case "note" | "gloss" | "hint" | "missing":
                st.caption(text)
            case "warning":
                st.warning(text, icon=":material/warning:")
            case "unavailable":
                st.info(text, icon=part.icon)

    def flush_evidence(self) -> None:
        if self.evidence:
            with self.head or st.container():
                st.caption("  \n".join(self.evidence))
            self.evidence = []

    def render_choice(self, choice: Choice) -> str:
        """The control of a choice; returns what it says."""
        word = read_view_choice(choice)
        self.answers[choice.name] = word
        if choice.form == "buttons":
            address.select_address_option(
                TextParameter(choice.name),
                choice.label,
                choice.values,
                choice.default,
                help=choice.help or None,
                width="content",
            )
            return word
        key = choice.key or f"address_{choice.name}"
        if choice.form == "list":
            key = f"{key}_{controls.hash_options(choice.values.values())}"
        address.show_address_widget(key, word, lambda key: _draw_choice_control(choice, key))
        return word

    def render_figures(self, part: Figures) -> list[Any]:
        """The one that is chosen; returns what is chosen in it."""
        self.head = None
        word = ""
        if part.choice:
            is_answered = part.choice.name in self.answers
            word = self.answers[part.choice.name] if is_answered else self.render_choice(part.choice)
            if word not in part.choice.values:
                return []
        chosen = self.render_figure(part.figure(word))
        if word in part.notes:
            st.caption(escaping.escape_markdown(part.notes[word]()))
        return chosen

    def render_figure(self, figure: Figure) -> list[Any]:
        """A figure with its sentence and its menu; returns the `customdata` of chosen points."""
        epoch = self.epoch
        on_select: figure_panel.OnSelect = "ignore"
        if figure.selection_modes:
            on_select = "rerun"
        elif figure.point_choice:
            on_select = _build_press_callback(figure)
        drawn_from = figure.drawn_from
        stem = ""  # of one of several runs
        if epoch is not None:
            stem = f"{epoch.file_stem if figure.of_epoch else epoch.run.id}-"
        elif self.job is not None:
            stem = f"{self.job.id}-"
        state = figure_panel.show_figure_panel(
            figure.draw(theme.get_page_palette())
            if drawn_from is None or epoch is None
            else epoch.draw(figure.draw, figure.key, *drawn_from),
            key=figure.key,
            job=self.job,
            epoch=epoch.epoch if epoch and figure.of_epoch else None,
            name=f"{stem}{figure.file}",
            title=figure.title,
            alt=figure.alt,
            table=figure.table,
            sees=_convert_to_markdown(figure.explanation, figure.markdown),
            help=figure.help or None,
            on_select=on_select,
            selection_mode=tuple(figure.selection_modes) or ("points",),
        )
        if not figure.selection_modes:
            return []
        return [point.get("customdata") for point in state.selection.points]

    def render_images(self, part: Images) -> None:
        self.head = None
        if not len(part.numbers):
            if part.empty:
                st.info(escaping.escape_markdown(part.empty), icon=":material/check:")
            return
        if part.caption:
            draw = st.markdown if part.markdown else st.caption
            draw(_convert_to_markdown(part.caption, part.markdown))
        assert self.epoch is not None
        images.show_image_page(
            self.epoch, part.numbers, key=part.key, rows=part.rows, under=part.list_lines_below, others=part.others
        )


def _convert_to_markdown(text: str, is_markdown: bool) -> str:
    """A text for Streamlit, which reads all as Markdown: escaped where it is none."""
    return text if is_markdown else escaping.escape_markdown(text)


def read_view_choice(choice: Choice) -> str:
    word = TextParameter(choice.name).read()
    return word if word is not None and choice.is_valid(word) else choice.default


def _draw_choice_control(choice: Choice, key: str) -> None:
    draw: Any = st.select_slider if choice.form == "slider" else st.selectbox
    draw(
        choice.label,
        list(choice.values),
        key=key,
        width=choice.width or "stretch",
        on_change=address.update_address,
        args=(TextParameter(choice.name), key, choice.default),
        format_func=choice.values.__getitem__,
        help=choice.help or None,
    )


def _build_press_callback(figure: Figure) -> Callable[[], None]:
    """A callback: the address has what was pressed in the figure, or nothing any more."""

    def update_address() -> None:
        choice, spell = figure.point_choice, figure.format_point_word
        assert choice is not None
        assert spell is not None
        points = widget_state.get_widget_value(figure.key).selection.points
        word = spell(points[0]["customdata"]) if points else choice.default
        TextParameter(choice.name).set_value(word, choice.default)

    return update_address


def _render_view_table(part: Table) -> None:
    if not part.pinned_width:
        st.markdown(f"**{escaping.escape_markdown(part.caption)}**")
    layout: dict[str, Any] = {"width": "content" if part.narrow else "stretch"}
    if part.pinned_width:
        first, *others = map(str, part.frame.columns)
        column = st.column_config.TextColumn
        layout |= {
            "column_config": {
                first: column(first, pinned=True, width=part.pinned_width),
                **{name: column(name, width=_WIDE_COLUMN_PX) for name in others},
            },
            "height": ROW_HEIGHT_PX * (min(len(part.frame), MAX_ROWS) + 1) + 3,
            "alt": f"{part.caption} of {', '.join(others)}: {len(part.frame):,} rows",
        }
    frame = downloads.style_downloadable_table(part.frame) if part.from_outside else part.frame
    st.dataframe(frame, hide_index=True, key=part.key, **layout)
    if part.note:
        st.caption(escaping.escape_markdown(part.note))
    if numbers := part.numbers:
        st.download_button(
            "Download the table (CSV)",
            lambda: downloads.encode_table_csv(numbers()),
            f"{part.file}.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"{part.key}_csv",
        )
