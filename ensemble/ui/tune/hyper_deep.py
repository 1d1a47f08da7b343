"""A hyper-deep ensemble of a sweep: the members of all its trials that go best together."""

from collections.abc import Callable, Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.datasets.split import held_out
from ensemble.sweeps import Sweep, Trial, selection
from ensemble.ui.shared import address, loaders, settings, widget
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats

SIZE, AGAIN, USUAL = "tune_members", "tune_again", 4
MOST = settings.FIELDS["members"].metadata["high"]
Attempt = Callable[[Callable[[], object]], None]
WHAT = (
    "The members of all trials are tried one after the other, and each time the one is taken with "
    "which the ensemble's validation NLL is lowest (Wenzel et al. 2020)."
)


def show(sweep: Sweep, trials: Sequence[Trial], attempt: Attempt) -> None:
    """How many members, and the button; nothing before there are members to choose from."""
    complete = [one for one in trials if one.state == "complete"]
    if not complete or not sweep.config.base.validation:
        return
    with st.popover("Hyper-deep ensemble", icon=":material/hub:", key="tune_hyper_deep"):
        st.caption(WHAT)
        widget.begin(SIZE, USUAL)
        size = st.number_input("Members", 1, MOST, key=SIZE)
        again = st.toggle("A member may be taken more than once", key=AGAIN)
        st.button(
            f"Build it of {formats.count(size, 'member')}",
            key="tune_build",
            type="primary",
            on_click=attempt,
            args=(lambda: build(sweep.id, size, again),),
            **rights.given(Action.LAUNCH),
        )


def build(sweep_id: str, size: int, again: bool) -> None:
    """Choose the members and save them as a run."""
    name = f"{called(sweep_id)}: {formats.count(size, 'member')}"
    selection.build(sweep_id, size, f"{name}, some twice" if again else name, again)
    loaders.forget_runs()


def called(sweep_id: str) -> str:
    """How the names of a sweep's hyper-deep ensembles begin."""
    return f"Hyper-deep, {sweep_id}"


def built(sweep: Sweep) -> None:
    """Those that were built: what each makes of the test images, and on what it was chosen."""
    for run in loaders.all_runs():
        if run.name.startswith(called(sweep.id)):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(
                    "pages/inspect.py",
                    label=escaping.markdown(run.name),
                    icon=":material/hub:",
                    query_params=address.RUN.link(run.id),
                    width="content",
                )
                st.caption(escaping.markdown(said(run)), width="content")


def said(run: runs.Run) -> str:
    """What it came to, and that its members were chosen on other images."""
    share, size = run.status.best_ensemble_test_accuracy, run.data.test_size
    aside = held_out(run.data.train_size, run.config.validation)
    chosen = f"chosen on {formats.count(aside, f'validation {run.data.noun}')}"
    if share is None:
        return chosen
    interval = formats.plus_minus(share, size)
    tested = f"{formats.percent(share, size)} {interval} of {size:,} test"
    return f"{tested} {formats.plural(run.data.noun)}; {chosen}"
