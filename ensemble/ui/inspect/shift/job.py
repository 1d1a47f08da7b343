"""The job that measures a run under shift, as a page shows it: start, how far, stop, go on."""

import streamlit as st

from ensemble import runs, shift
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.figures.inspect.shift import place
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import ahead_of
from ensemble.jobs.remote.record import placement_of
from ensemble.shift import Results, Stress
from ensemble.shift.corruptions import KINDS
from ensemble.shift.ood_images import ood_sets
from ensemble.shift.status import StressJob, StressStatus
from ensemble.ui.devices import where
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.formats import plural

# Asking a member costs about a third of teaching it, and measuring its answers a little more.
ASKING = 0.4
START_SECONDS = 10.0
OOD_SETS = 2  # sets of out-of-distribution images that there are at least


def show(shown: SharedEpoch, stress: Stress) -> None:
    """What the job does, has done or would do, with its button."""
    if stress.job and stress.active:
        working(stress.job)
    elif shown.run.origin:
        if not stress.results:
            st.info(
                "This had not been measured when the report of this run was written: measure "
                "it where the run was trained, and have the report written again.",
                icon=":material/upload_file:",
            )
    elif stress.last_tick is None:
        st.info(
            "The members are needed for this, and no checkpoint of them is there yet: one is kept "
            "at the end of the first epoch.",
            icon=":material/hourglass_empty:",
        )
    else:
        resting(shown, stress)
    if stress.results and stress.results.clean:
        st.caption(describe_measured(shown, stress, stress.results))


def working(job: StressJob) -> None:
    """How far it is, and the button that stops it."""
    ahead = ahead_of(job) if job.state == "queued" else []
    job_panel.show(job, jobs_words.stage(job, ahead, done(job.status)), prefix="stress_")


def done(status: StressStatus) -> str:
    """How much of it is done: "12 of 44 done"; "" before that is known."""
    return f"{status.steps} of {status.total} done" if status.total else ""


def resting(shown: SharedEpoch, stress: Stress) -> None:
    """What the job would do, or why it ended, and the button that starts it."""
    if stress.job and stress.state == "failed":
        job_panel.ended(stress.job)
    results = None if stress.outdated else stress.results
    whole = results is not None and stress.state == "finished" and results.images >= shown.n
    if results and whole:
        if not (new := unseen(results)):
            return
        label = f"Show the members {' and '.join(new)} too"
        help = "What is measured already is not measured again."
    elif results and stress.state in ("stopped", "failed"):
        status = stress.status
        asked = 1 + len(results.steps) + len(results.ood)
        total = max(status.total, asked) if status else asked
        label = f"Go on ({asked} of {total} done)"
        help = "What is measured already is not measured again."
    else:
        st.markdown(offer(shown))
        label = f"Measure {formats.count(shown.members, 'member')} under shift"
        label += f", {about}" if (about := estimate(shown.run)) else ""
        help = "In a process of its own: you can leave this page, and come back."
    before = place_of(stress)
    choice = where.control("stress_where", where.ONE_TASK, before)
    st.button(
        label,
        key="stress_start",
        type="primary",
        icon=":material/play_arrow:",
        on_click=start,
        args=(shown.run.id, asked_for(stress, results), choice, before),
        **rights.given(Action.CHANGE, shown.run.path, help=help),
    )
    if problem := Tab.stress_problem.take():
        guard.problem(problem)


def unseen(results: Results) -> list[str]:
    """OOD sets that are there now and were not when the run was measured."""
    seen = {one["key"] for one in results.ood}
    return [
        escaping.markdown(one.title) for one in ood_sets(results.dataset) if one.key not in seen
    ]


def asked_for(stress: Stress, results: Results | None) -> int | None:
    """The limit to start with: that of what is to be gone on with, else none."""
    going_on = results and stress.state in ("stopped", "failed")
    return stress.status.limit if going_on and stress.status else None


def place_of(stress: Stress) -> Placement | None:
    """Where to go on with one that has not come to its end: where it was."""
    going_on = stress.job and stress.state in ("stopped", "failed")
    return placement_of(stress.job.path) if going_on and stress.job else None


def start(run_id: str, limit: int | None, choice: str, before: Placement | None) -> None:
    """Callback: start the job, or keep the reason why it cannot be."""
    try:
        shift.start_stress(run_id, limit, where.placement(choice, before))
    except EnsembleError as error:
        tab.stress_problem = str(error)


def steps() -> int:
    """How often the members are shown a set of images."""
    return 1 + sum(len(kind.amounts) - 1 for kind in KINDS.values()) + OOD_SETS


def offer(shown: SharedEpoch) -> str:
    """What the job does, in a sentence or two."""
    most = shift.most_images(shown.n, shown.dataset.image_shape)
    some = f"all {shown.n:,}" if most == shown.n else f"the first {most:,}"
    return (
        f"An ensemble that is good on its own test set may fail on {plural(shown.noun)} that "
        "look a "
        f"little different, and should then at least be unsure. This turns, shifts, blurs, fades "
        f"and adds noise to {some} test {plural(shown.noun)}, in {steps() - OOD_SETS - 1} steps, "
        "and asks every member each time; then it shows them images that belong to no class."
    )


def estimate(run: runs.Run) -> str:
    """About how long it will take, "about 4 min", from how fast the run trained; "" if unknown."""
    if not run.status.img_member_per_s:
        return ""
    images = shift.most_images(run.data.test_size, run.data.image_shape) * steps()
    seconds = ASKING * images * run.config.members / run.status.img_member_per_s
    return f"about {formats.duration(rough(START_SECONDS + seconds))}"


def rough(seconds: float) -> float:
    """Seconds as one says them: to five up to a minute, then to half minutes, then to minutes."""
    step = 5 if seconds < 60 else 30 if seconds < 300 else 60
    return max(step, step * round(seconds / step))


def describe_measured(shown: SharedEpoch, stress: Stress, results: Results) -> str:
    """What the figures below are of, and whether there is something newer."""
    all_of = "all" if results.images >= shown.n else "the first"
    said = (
        f"Measured on {all_of} {results.images:,} test {plural(shown.noun)}, with the "
        f"members of the run's last checkpoint, at {place(results)}."
    )
    if stress.outdated:
        said = (
            f"Measured at {place(results)}, on {all_of} {results.images:,} test "
            f"{plural(shown.noun)}; "
            "the run has gone on since."
        )
    return said
