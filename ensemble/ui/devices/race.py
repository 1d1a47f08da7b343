"""Measuring this machine: the button, how far it is, Stop, and what the last race found."""

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.figures import speeds as speeds_figure
from ensemble.jobs.queue import ahead_of, comes_first
from ensemble.machine.jax_settings import only_cpu
from ensemble.machine.this_machine import machine
from ensemble.race import (
    Race,
    RaceConfig,
    read_race_job,
    start_race,
    usual_race,
)
from ensemble.race.job import expected_seconds
from ensemble.ui.devices import loader
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme, widget
from ensemble.ui.shared.guard import guarded, problem
from ensemble.ui.sign_in import rights
from ensemble.ui.train.launch import rounded
from ensemble.wording import devices as devices_words
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words

SECONDS_BETWEEN = 1.0
EMULATED_TOO = "race_emulated"
HELP = (
    "img·member/s: images that a second of training takes in, times the members that learn from "
    "them. The HOWTO's loop is the one of Flax's guide to ensembling, with a device for each "
    "member; one after another trains the members in turn, on one device."
)


def show() -> None:
    """The race that is on, what the last one found, and the button for another."""
    job = read_race_job()
    active = job is not None and job.active
    st.fragment(watched, run_every=SECONDS_BETWEEN if active else None)(active)
    if race := loader.latest():
        found(race)
    elif not active:
        nothing_yet()
    if not active:
        measure(again=loader.latest() is not None)


def watched(was_active: bool) -> None:
    """What changes while a race is on; draws the page anew when it begins or ends."""
    with guarded():
        job = read_race_job()
        if (job is not None and job.active) != was_active:
            st.rerun()
        if job is None:
            return
        if job.active:
            ahead = ahead_of(job) if job.state == "queued" else []
            job_panel.show(job, jobs_words.stage(job, ahead), prefix="race_")
            st.caption("You can leave: it goes on without this page. Other jobs wait for it.")
        else:
            job_panel.ended(job)


def nothing_yet() -> None:
    """The first visit: what will be here."""
    st.markdown("#### How fast does this machine train an ensemble?")
    st.markdown(
        "Measuring lets four training loops take turns, a second each, on the same images: this "
        "engine in both precisions, the loop of Flax's HOWTO, and one member after another, as "
        "people do without a tool for ensembles. It also checks that all of them learn the same."
    )
    st.caption(
        "Here you will see each one's speed with 1, 2, 4 and 8 members, and from how many on an "
        "ensemble pays. Train then tells better how long a run will take."
    )


def found(race: Race) -> None:
    """The answer in sentences, the picture, and what they hold for."""
    if said := devices_words.answer(race):
        st.markdown(f"#### {said}")
    for doubt in devices_words.doubts(race):
        st.warning(escaping.markdown(doubt), icon=":material/warning:")
    if race.rates:
        on = devices_words.machine_and_day(race)
        best = max(race.rates, key=lambda name: max(race.rates[name].values()))
        top = formats.throughput(max(race.rates[best].values()))
        pictures.show(
            speeds_figure.speeds(race, f"Training speed by members · {on}", theme.palette()),
            key="race_speeds",
            name="training-speed",
            title="Training speed by members",
            alt=f"Speed against members; the fastest is {devices_words.NAMES[best]}: {top}",
            table=lambda: speeds_figure.table(race),
            help=HELP,
            sees=escaping.markdown(devices_words.bfloat16(race) or "Higher is faster."),
        )
    st.caption(escaping.markdown(devices_words.measured_on(race)))
    st.caption(devices_words.check(race))


def measure(again: bool) -> None:
    """The button that starts a race, and what it takes."""
    last = loader.latest()
    config = usual_race()
    alike = last is not None and last.settings == config.as_dict()
    seconds = last.seconds if last and alike else sum(expected_seconds(config).values())
    emulates = only_cpu() and not machine().fast_bfloat16
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        pressed = st.button(
            f"Measure {'again' if again else 'this machine'}, about "
            f"{formats.duration(rounded(seconds))}",
            type="secondary" if again else "primary",
            icon=":material/timer:",
            key="race_measure",
            **rights.given(Action.LAUNCH),
        )
        if emulates:
            st.toggle(
                "bfloat16 too",
                key=EMULATED_TOO,
                help="Without bfloat16 units, as here, it is a little slower than float32.",
            )
    after = jobs_words.starts_after(comes_first())
    st.caption(f"It has the machine to itself meanwhile. {escaping.markdown(after)}")
    if pressed:
        start(bool(widget.value(EMULATED_TOO, False)) and emulates)


def start(emulated: bool) -> None:
    """Start a race; a second click finds the first."""
    usual = usual_race().as_dict()
    try:
        start_race(RaceConfig.from_dict({**usual, "emulated": emulated}))
    except EnsembleError as error:
        problem(error)
        return
    st.rerun()
