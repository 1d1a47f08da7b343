"""What can be done with a sweep: use its best, try it with other seeds, go on, delete it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from ensemble import runs, sweeps
from ensemble.access import Action
from ensemble.config import EnsembleConfig
from ensemble.runs.annotations.tags import write_tags
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.jobs import deletion
from ensemble.ui.shared import address, loaders, settings, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.ui.tune import answer, hyper_deep
from ensemble.ui.tune.screen import SCREEN
from ensemble.wording import formats

SEEDS = 5
MORE, MOST_MORE = "tune_more_trials", 1000


def show(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The buttons; those for the best stand there once there is one."""
    deletion.tell(SCREEN)
    best = sweeps.best(sweep, list(trials)) if trials else None
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key="tune_actions"
    ):
        if best:
            use(sweep, best)
        if any(one.run_id for one in trials):
            st.page_link(
                "pages/compare.py",
                label="Compare these trials",
                width="content",
                icon=":material/compare_arrows:",
                query_params=address.SWEEP.link(sweep.id),
            )
        if sweep.config.sampler != "grid":
            more(sweep)
        if best and not sweep.active:  # What follows is for the best of all.
            seeds(sweep, best)
            hyper_deep.show(sweep, trials, attempt)
    hyper_deep.built(sweep)


def removal(sweep: Sweep) -> None:
    """Delete, which asks first."""
    if deletion.is_asked(SCREEN, sweep):
        deletion.sure(SCREEN, sweep)
    else:
        deletion.ask_button(SCREEN, sweep)


def use(sweep: Sweep, best: Trial) -> None:
    """To Train, its controls filled with the best settings."""
    pressed = st.button(
        "Launch with the best settings",
        key="tune_use_best",
        icon=":material/model_training:",
        type="primary" if sweep.state == "finished" else "secondary",
        help="Goes to Train with these settings filled in, validation share and all; set that to 0 "
        "there to learn from every training image.",
    )
    if pressed:
        settings.fill(sweep.config.of_trial(best.params))
        run = answer.run_of(best)  # It may have been deleted.
        tab.unfolded = run.id if run else ""
        st.switch_page("pages/train.py", query_params=address.RUN.link(run.id) if run else {})


def tag(sweep: Sweep, best: Trial) -> str:
    """What the runs of the best settings with other seeds are tagged with."""
    return f"{sweep.id}-seeds-{best.number + 1}"


def seeds(sweep: Sweep, best: Trial) -> None:
    """The best settings again with seeds that had no part in the choice, or the way to them."""
    name = tag(sweep, best)
    if any(name in run.tags for run in loaders.all_runs()):
        st.page_link(
            "pages/compare.py",
            label="Compare its seeds",
            width="content",
            icon=":material/casino:",
            query_params=address.TAG.link(name),
        )
        return
    st.button(
        f"Again with {SEEDS} seeds",
        key="tune_seeds",
        icon=":material/casino:",
        on_click=attempt,
        args=(lambda: launch_seeds(sweep, best),),
        **rights.given(
            Action.LAUNCH,
            help=f"Trains the best settings {SEEDS} times with seeds that had no "
            "part in the choice: what they come to on average is not flattered by it.",
        ),
    )


def launch_seeds(sweep: Sweep, best: Trial) -> None:
    """Launch them, each with the tag."""
    config = sweep.config.of_trial(best.params)
    for seed in other_seeds(config):
        run = runs.launch(replace(config, seed=seed))
        write_tags(run.id, [tag(sweep, best)])
    loaders.forget_runs()


def other_seeds(config: EnsembleConfig) -> list[int]:
    """Seeds beside the one that the trial had."""
    last = settings.FIELDS["seed"].metadata["high"]
    return [(config.seed + step) % (last + 1) for step in range(1, SEEDS + 1)]


def more(sweep: Sweep) -> None:
    """So many trials more."""
    with st.popover("More trials", icon=":material/add:", key="tune_more_box"):
        widget.begin(MORE, sweep.config.trials)
        count = st.number_input("How many more", 1, MOST_MORE, key=MORE)
        st.button(
            f"Add {formats.count(count, 'trial')}",
            key="tune_enlarge",
            type="primary",
            on_click=attempt,
            args=(lambda: sweeps.enlarge(sweep.id, count),),
            **rights.given(Action.CHANGE, sweep.path),
        )


def attempt(act: Callable[[], object]) -> None:
    """Callback: do it, or keep the reason why it cannot be done."""
    deletion.attempt(SCREEN, act)
