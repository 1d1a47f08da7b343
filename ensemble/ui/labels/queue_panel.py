"""One label after the other: the image, its label, what the members say, and what to do with it."""

import streamlit as st

from ensemble.figures import thumbnails
from ensemble.ui.labels import decision_buttons, new_version
from ensemble.ui.labels.label_queue import LabelQueue, QueueState, read_queue_state
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import Tab, tab
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.labels import BATCH, describe_fold_conflict
from ensemble.wording import escaping
from ensemble.wording import label_decisions as words

IMAGE_SIZE_PX = 252  # pixels of the screen: nine for one of 28


@st.fragment
def show_label_queue(queue: LabelQueue, epoch: EvaluatedEpoch) -> None:
    """The queue, which moves on when something is decided; the rest of the page stays."""
    with guard.guard_page():
        state = read_queue_state(queue)
        if problem := Tab.label_problem.pop():
            guard.show_error_message(problem)
        if not state.total:
            _show_empty_queue(queue, state, epoch)
            return
        _show_queue_progress(queue, state)
        if state.pending:
            _show_doubtful_label(queue, _select_shown_number(state))
        else:
            st.success("Every label in doubt is decided.", icon=":material/check:")
            decision_buttons.show_undo_button(queue)
        new_version.show_decisions(queue, state, epoch)


def _show_empty_queue(queue: LabelQueue, state: QueueState, epoch: EvaluatedEpoch) -> None:
    """That no label is in doubt; what was decided with other runs is still there."""
    st.info(
        escaping.escape_markdown(words.describe_empty_queue(queue.noun, queue.judged.split)), icon=":material/check:"
    )
    if state.every:
        new_version.show_decisions(queue, state, epoch)


def _select_shown_number(state: QueueState) -> int:
    undone = tab.label_undone
    return undone if undone is not None and undone in state.pending else state.pending[0]


def _show_queue_progress(queue: LabelQueue, state: QueueState) -> None:
    following = state.pending[:BATCH]
    st.markdown(f"#### {words.describe_queue_progress(len(state.decisions), state.total)}")
    expected = queue.expect_errors(following)
    shares = queue.judged.fold_shares
    sentences = [
        describe_fold_conflict(f"{queue.judged.split} {queue.noun}")
        if shares and shares.are_apart
        else words.describe_next_finds(expected, len(following)),
        words.describe_found_errors(state.decisions, queue.expect_errors(each.number for each in state.decisions)),
    ]
    st.progress(len(state.decisions) / state.total, text=escaping.escape_markdown(" ".join(filter(None, sentences))))


def _show_doubtful_label(queue: LabelQueue, number: int) -> None:
    judged, names = queue.judged, queue.class_names
    place = judged.find_place(number)
    label, suggested = int(queue.labels[number]), int(queue.errors.suggested[place])
    left, right = st.columns([1, 3], gap="medium")
    with left, st.container(key="labels_image", gap="xxsmall"):
        _show_queue_image(queue, number)
    with right:
        claim = words.describe_label_and_answer(
            names[label], names[suggested], float(judged.averaged[place, suggested])
        )
        st.markdown(f"##### {escaping.escape_markdown(claim)}")
        votes = words.describe_queue_votes(judged.predictions, place, names)
        if judged.split == "training":
            agreeing, judges = int(queue.errors.agreeing[place]), int(judged.judges[place])
            votes = f"{words.describe_fold_votes(agreeing, judges)} {votes}"
        st.caption(escaping.escape_markdown(votes))
        decision_buttons.show_decision_buttons(queue, number)


def _show_queue_image(queue: LabelQueue, number: int) -> None:
    """The image, its pixels as squares; its text where it has no image."""
    name = queue.details.describe_example(number)
    lines = queue.details.describe_tile(number)
    heading = f"{queue.judged.split.capitalize()} {queue.noun} {number}"
    title = heading + (f" · {name}" if name else "")
    if queue.images is None and lines:
        with st.container(border=True):
            for line in lines:
                st.markdown(escaping.escape_markdown(line))
    else:
        tile = queue.tiles[number]
        st.image(
            thumbnails.encode_enlarged_image(tile, IMAGE_SIZE_PX),
            width=thumbnails.compute_display_size(tile.shape, IMAGE_SIZE_PX)[0],
            alt=heading,
        )
    st.caption(escaping.escape_markdown(title))
