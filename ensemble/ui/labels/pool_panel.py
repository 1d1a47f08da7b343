"""Images without labels: what to label next of a pool, one after the other, and what then."""

import streamlit as st

from ensemble import datasets, runs
from ensemble.access import Action
from ensemble.acquisition import pool_questions
from ensemble.acquisition.next_labels import DEFAULT_COUNT, DEFAULT_STRATEGY, MAX_COUNT
from ensemble.analysis.acquisition.image_choice import STRATEGIES
from ensemble.datasets.decisions.label_decision import NO_CLASS, REMOVE, UNSURE
from ensemble.datasets.decisions.relabeling import suggest_version_name
from ensemble.datasets.own.pools import extended_dataset
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_arms import CHOSEN_ARM, NO_ARM, RANDOM_ARM
from ensemble.datasets.own.pools.pool_labels import format_pool_csv, list_pool_labels
from ensemble.errors import EnsembleError
from ensemble.figures import thumbnails
from ensemble.ui.labels import decision_buttons, learning_panel, pool_upload
from ensemble.ui.labels.pool_queue import PoolQueue, read_pool_queue
from ensemble.ui.labels.queue_panel import IMAGE_SIZE_PX
from ensemble.ui.shared import address, guard, widget_state
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats
from ensemble.wording import next_labels as words

_VERSION_BUTTONS = {
    NO_ARM: "Make {name} with all {count}",
    CHOSEN_ARM: "Make {name} with the {count} chosen",
    RANDOM_ARM: "Make {name} with the {count} drawn at random",
}


def show_pool_screen(run: runs.Run) -> None:
    """The pools of a run's dataset: choose, label, apply."""
    pool_upload.leave_added_upload()
    if problem := Tab.label_problem.pop():
        guard.show_error_message(problem)
    pools = pool_questions.list_run_pools(run)
    if pools:
        pool = _select_pool(pools)
        _show_pool_queue(pool.name)
        _show_batch_choice(run, pool)
        with st.expander("Another pool of images"):
            pool_upload.show_pool_upload(run)
    else:
        pool_upload.show_first_upload(run)
    learning_panel.show_learning_section(run)


def _select_pool(pools: list[LabelPool]) -> LabelPool:
    """The pool that the address names, else the newest; a control where there are several."""
    by_name = {pool.name: pool for pool in sorted(pools, key=lambda pool: -pool.note.added)}
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    names = {
        name: f"{name} · {formats.format_count(pool.note.images, pool.note.noun)}" for name, pool in by_name.items()
    }
    chosen = address.select_address_option(address.POOL, "Pool", names, next(iter(names)))
    return by_name[chosen]


@st.fragment
def _show_pool_queue(name: str) -> None:
    """The queue, which moves on when something is decided; the rest of the page stays."""
    from ensemble.datasets.own.pools.label_pool import find_label_pool

    with guard.guard_page():
        if problem := Tab.label_problem.pop():
            guard.show_error_message(problem)
        queue = read_pool_queue(find_label_pool(name))
        noun, pending = queue.pool.note.noun, queue.pending
        if queue.numbers:
            done = len(queue.numbers) - len(pending)
            st.markdown(f"#### {words.describe_labelled_count(done, len(queue.numbers), noun)}")
            st.progress(done / len(queue.numbers), text=escaping.escape_markdown(words.describe_blind_order(noun)))
        else:
            st.markdown(f"#### {words.describe_pool(queue.pool.note.images, noun)}")
        if pending:
            undone = tab.label_undone
            _show_pool_image(queue, undone if undone in pending else pending[0])
        elif queue.decisions:
            st.success("Every image that was chosen is decided.", icon=":material/check:")
            decision_buttons.show_undo_button(queue)
        _show_pool_labels(queue)


def _show_pool_image(queue: PoolQueue, number: int) -> None:
    noun = queue.pool.note.noun
    tile = queue.pool.images[number]
    left, right = st.columns([1, 3], gap="medium")
    heading = f"{noun.capitalize()} {number}"
    with left, st.container(key="labels_image", gap="xxsmall"):
        st.image(
            thumbnails.encode_enlarged_image(tile, IMAGE_SIZE_PX),
            width=thumbnails.compute_display_size(tile.shape, IMAGE_SIZE_PX)[0],
            alt=heading,
        )
        name = queue.pool.read_image_names()[number]
        st.caption(escaping.escape_markdown(f"{heading} · {name}"))
    with right:
        st.markdown(f"##### {words.ask_for_class(noun)}")
        decision_buttons.show_class_choice(queue, number, NO_CLASS, caption="It is", field="It is")
        with st.container(horizontal=True, gap="small", key="labels_decisions"):
            for text, shortcut, decision in (
                ("None of these", decision_buttons.REMOVE_KEY, REMOVE),
                ("Cannot tell", decision_buttons.UNSURE_KEY, UNSURE),
            ):
                st.button(
                    text,
                    key=f"labels_{decision}_{number}",
                    shortcut=shortcut,
                    on_click=decision_buttons.save_decision,
                    args=(queue, number, decision, NO_CLASS),
                    **rights.build_control_arguments(Action.CHANGE),
                )
            decision_buttons.show_undo_button(queue)
        _show_members_answer(queue, number)


def _show_members_answer(queue: PoolQueue, number: int) -> None:
    """What the members say, which nobody sees who has not asked: it sways whoever labels."""
    batch = queue.find_batch(number)
    answer = batch.find_answer(number) if batch else None
    if batch is None or answer is None or answer[0] >= len(queue.class_names):
        return
    if widget_state.draw_widget(
        st.toggle,
        "Show what the members say",
        key=f"labels_answer_{number}",
        help="Labels that follow the members teach them nothing, "
        "and make them look better than they are. Decide first.",
    ):
        said = words.describe_members_answer(answer[1], batch.members, queue.class_names[answer[0]])
        st.caption(escaping.escape_markdown(said))


def _show_batch_choice(run: runs.Run, pool: LabelPool) -> None:
    st.divider()
    st.markdown("##### What to label next")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        strategy = widget_state.draw_widget(
            st.selectbox,
            "Chosen by",
            list(STRATEGIES),
            key="labels_by",
            index=list(STRATEGIES).index(DEFAULT_STRATEGY),
            format_func=words.STRATEGY_TITLES.__getitem__,
            width=300,
        )
        count = widget_state.draw_widget(
            st.number_input,
            "How many",
            min_value=1,
            max_value=min(MAX_COUNT, pool.note.images),
            value=min(DEFAULT_COUNT, pool.note.images),
            key=f"labels_count_{pool.name}",
            width=140,
        )
        members = formats.format_count(run.config.members, "member")
        if st.button(
            f"Ask {members}",
            key="labels_choose",
            icon=":material/playlist_add:",
            **rights.build_control_arguments(
                Action.CHANGE,
                help="As many are drawn at random beside them: trained on those instead, the same "
                "settings show whether choosing has paid.",
            ),
        ):
            _choose_batch(run, pool, str(strategy), int(count))
    st.caption("As many again are drawn at random and labelled with them: only that shows whether choosing pays.")


def _choose_batch(run: runs.Run, pool: LabelPool, strategy: str, count: int) -> None:
    try:
        images = formats.format_count(pool.note.images, pool.note.noun)
        with st.spinner(f"Asking the members about {images} …"):
            answers = pool_questions.ask_about_pool(pool, run)
            batches = len(read_pool_queue(pool).batches)
            found = pool_questions.choose_pool_batch(pool, answers, strategy, count, batches)
            pool_questions.keep_pool_batch(pool, answers, found)
    except EnsembleError as error:
        tab.label_problem = str(error)
    st.rerun()


def _show_pool_labels(queue: PoolQueue) -> None:
    if not queue.decisions:
        return
    pool = queue.pool
    labels = {arm: list_pool_labels(pool, arm) for arm in _VERSION_BUTTONS}
    st.caption(
        f"So far {words.describe_pool_decisions(queue.decisions)}. That is kept in a file of its "
        f"own: {escaping.escape_markdown(pool.note.dataset)} stays as it is."
    )
    name = suggest_version_name(pool.note.dataset)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for arm, text in _VERSION_BUTTONS.items():
            if not labels[arm] or (arm != NO_ARM and not labels[RANDOM_ARM]):
                continue
            if st.button(
                escaping.escape_markdown(text.format(name=name, count=f"{len(labels[arm]):,}")),
                key=f"labels_extend_{arm or 'all'}",
                icon=":material/library_add:",
                **rights.build_control_arguments(
                    Action.ADD_DATA,
                    help=f"Adds it to your datasets: the training images of {pool.note.dataset} "
                    "and these. Its test images stay as they are.",
                ),
            ):
                _extend_pool_dataset(pool, labels[arm], name)
        st.download_button(
            "Download the labels (CSV)",
            lambda: format_pool_csv(pool),
            f"{pool.name}-labels.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="labels_csv",
        )
    _show_extended_versions(pool)


def _extend_pool_dataset(pool: LabelPool, labels: dict[int, int], name: str) -> None:
    try:
        with st.spinner(f"Making {name} …"):
            dataset = datasets.load_dataset(pool.note.dataset)
            extended_dataset.extend_dataset(dataset, pool, labels, name)
    except EnsembleError as error:
        tab.label_problem = str(error)
        st.rerun(scope="fragment")
    st.rerun()


def _show_extended_versions(pool: LabelPool) -> None:
    for name, count in extended_dataset.list_extended_versions(pool).items():
        st.caption(
            f"**{escaping.escape_markdown(name)}** has "
            f"{extended_dataset.describe_added_labels(count)}: "
            "train on it on the screen Train, with the same settings."
        )
