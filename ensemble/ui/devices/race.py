"""Measuring this machine: the button, how far it is, Stop, and what the last race found."""

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.figures import race_throughput as speeds_figure
from ensemble.jobs.queue import list_blocking_jobs, list_jobs_ahead
from ensemble.machine.jax_settings import is_cpu_only
from ensemble.machine.machine_info import read_machine_info
from ensemble.race import Race, RaceConfig, build_default_race, read_race_job, start_race
from ensemble.race.race_runner import estimate_race_seconds
from ensemble.ui.devices import race_results
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme, widget_state
from ensemble.ui.shared.guard import guard_page, show_error_message
from ensemble.ui.sign_in import rights
from ensemble.ui.train.launch import round_duration
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording import race as devices_words

POLL_INTERVAL_S = 1.0
EMULATED_KEY = "race_emulated"
THROUGHPUT_HELP = (
    "img·member/s: images that a second of training takes in, times the members that learn from "
    "them. The HOWTO's loop is the one of Flax's guide to ensembling, with a device for each "
    "member; one after another trains the members in turn, on one device."
)


def show_race() -> None:
    """The race that is on, what the last one found, and the button for another."""
    job = read_race_job()
    active = job is not None and job.active
    st.fragment(refresh_race_progress, run_every=POLL_INTERVAL_S if active else None)(active)
    if race := race_results.find_latest_race():
        show_race_results(race)
    elif not active:
        show_race_introduction()
    if not active:
        show_race_button(again=race_results.find_latest_race() is not None)


def refresh_race_progress(was_active: bool) -> None:
    """What changes while a race is on; draws the page anew when it begins or ends."""
    with guard_page():
        job = read_race_job()
        if (job is not None and job.active) != was_active:
            st.rerun()
        if job is None:
            return
        if job.active:
            ahead = list_jobs_ahead(job) if job.state == "queued" else []
            job_panel.show_job_progress(job, jobs_words.describe_job_stage(job, ahead), prefix="race_")
            st.caption("It continues if you leave this page. Other jobs wait for it.")
        else:
            job_panel.show_job_ending(job)


def show_race_introduction() -> None:
    """The first visit: what will be here."""
    st.markdown(
        "#### How fast does this machine train an ensemble?",
        help="This program in float32 and bfloat16, the loop of Flax's HOWTO and one member after "
        "another take turns on the same images: 1, 2, 4 and 8 members, a second each. It also "
        "checks that all of them learn the same. Train then estimates better.",
    )


def show_race_results(race: Race) -> None:
    """The answer in sentences, the picture, and what they hold for."""
    if break_even := devices_words.describe_break_even(race):
        st.markdown(f"#### {break_even}")
    for doubt in devices_words.list_race_doubts(race):
        st.warning(escaping.escape_markdown(doubt), icon=":material/warning:")
    if race.rates:
        on = devices_words.format_machine_and_day(race)
        best = max(race.rates, key=lambda name: max(race.rates[name].values()))
        top = formats.format_throughput(max(race.rates[best].values()))
        pictures.show_figure_panel(
            speeds_figure.plot_race_throughput(race, f"Training speed by members · {on}", theme.get_page_palette()),
            key="race_speeds",
            name="training-speed",
            title="Training speed by members",
            alt=f"Speed against members; the fastest is {devices_words.COMPETITOR_NAMES[best]}: {top}",
            table=lambda: speeds_figure.tabulate_race_throughput(race),
            help=THROUGHPUT_HELP,
            sees=escaping.escape_markdown(devices_words.describe_bfloat16_gain(race) or "Higher is faster."),
        )
    st.caption(escaping.escape_markdown(devices_words.describe_race_setup(race)))
    st.caption(devices_words.describe_loss_agreement(race))


def show_race_button(again: bool) -> None:
    """The button that starts a race, and what it takes."""
    last = race_results.find_latest_race()
    config = build_default_race()
    alike = last is not None and last.settings == config.as_dict()
    seconds = last.seconds if last and alike else sum(estimate_race_seconds(config).values())
    emulates = is_cpu_only() and not read_machine_info().fast_bfloat16
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        pressed = st.button(
            f"Measure {'again' if again else 'this machine'}, about {formats.format_duration(round_duration(seconds))}",
            type="secondary" if again else "primary",
            icon=":material/timer:",
            key="race_measure",
            **rights.build_control_arguments(
                Action.LAUNCH, help="It needs the whole machine meanwhile: other jobs wait for it."
            ),
        )
        if emulates:
            widget_state.draw_widget(
                st.toggle,
                "bfloat16 too",
                key=EMULATED_KEY,
                help="Without bfloat16 units, as here, it is a little slower than float32.",
            )
    after = jobs_words.describe_start_order(list_blocking_jobs())
    if after:
        st.caption(escaping.escape_markdown(after))
    if pressed:
        launch_race(bool(widget_state.get_widget_value(EMULATED_KEY, False)) and emulates)


def launch_race(emulated: bool) -> None:
    """Start a race; a second click finds the first."""
    usual = build_default_race().as_dict()
    try:
        start_race(RaceConfig.from_dict({**usual, "emulated": emulated}))
    except EnsembleError as error:
        show_error_message(error)
        return
    st.rerun()
