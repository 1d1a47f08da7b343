"""The job that measures a run under shift, as a page shows it: start, how far, stop, go on."""

import streamlit as st

from ensemble import runs, shift
from ensemble.access import Action
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.task_record import find_placement
from ensemble.shift import StressResults, StressState
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.ood_images import list_ood_sets
from ensemble.shift.stress_job import StressStatus
from ensemble.ui.devices import placement_control
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.jobs import job_panel
from ensemble.views.shift import describe_measured_members
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun

# Asking a member costs about a third of teaching it, and measuring its answers a little more.
_INFERENCE_COST = 0.4
START_SECONDS = 10.0
_MIN_OOD_SETS = 2  # sets of out-of-distribution images that there are at least


def show_stress_job(shared: SharedEpoch, stress: StressState) -> None:
    if stress.job and stress.active:
        job_panel.show_job_progress(stress.job, _format_stress_progress(stress.job.status), prefix="stress_")
    elif shared.run.origin:
        if not stress.results:
            st.info(
                "This had not been measured when the report of this run was written: measure it "
                "where the run was trained, and save the report again.",
                icon=":material/upload_file:",
            )
    elif stress.last_tick is None:
        st.info(
            "The members are needed for this, and no checkpoint of them is there yet: one is kept "
            "at the end of the first epoch.",
            icon=":material/hourglass_empty:",
        )
    else:
        _show_stress_start(shared, stress)
    if stress.results and stress.results.clean:
        st.caption(_describe_stress_results(shared, stress, stress.results))


def _format_stress_progress(status: StressStatus) -> str:
    """How much of it is done: "12 of 44 done"; "" before that is known."""
    return f"{status.steps} of {status.total} done" if status.total else ""


def _show_stress_start(shared: SharedEpoch, stress: StressState) -> None:
    if stress.job and stress.state == "failed":
        job_panel.show_job_ending(stress.job)
    results = None if stress.is_outdated else stress.results
    whole = results is not None and stress.state == "finished" and results.images >= shared.n
    if results and whole:
        new = _list_new_ood_sets(results)
        if not new and results.has_accuracy_estimates:
            return
        label = (
            f"Show the members {' and '.join(new)} too"
            if new
            else "Measure again, to see what could be told without labels"
        )
        help = "Earlier measurements are kept."
    elif results and stress.state in ("stopped", "failed"):
        status = stress.status
        done_count = 1 + len(results.steps) + len(results.ood)
        total = max(status.total, done_count) if status else done_count
        label = f"Go on ({done_count} of {total} done)"
        help = "Earlier measurements are kept."
    else:
        st.markdown(_describe_stress_job(shared))
        label = f"Measure {formats.format_count(shared.members, 'member')} under shift"
        label += f", {about}" if (about := _estimate_stress_duration(shared.run)) else ""
        help = "It runs in its own process: you can leave this page and come back."
    before = find_stress_placement(stress)
    choice = placement_control.select_placement("stress_where", placement_control.SINGLE_TASK_HELP, before)
    limit = _find_stress_limit(stress, results)
    job_panel.show_job_button(
        label,
        "stress_start",
        lambda: shift.start_stress(shared.run.id, limit, placement_control.build_placement(choice, before)),
        Action.CHANGE,
        shared.run.path,
        icon=":material/play_arrow:",
        help=help,
        primary=True,
    )


def _list_new_ood_sets(results: StressResults) -> list[str]:
    measured_keys = {ood_metrics["key"] for ood_metrics in results.ood}
    return [
        escaping.escape_markdown(ood_set.title)
        for ood_set in list_ood_sets(results.dataset)
        if ood_set.key not in measured_keys
    ]


def _find_stress_limit(stress: StressState, results: StressResults | None) -> int | None:
    """The limit to start with: that of what is to be gone on with, else none."""
    going_on = results and stress.state in ("stopped", "failed")
    return stress.status.limit if going_on and stress.status else None


def find_stress_placement(stress: StressState) -> Placement | None:
    """Where to go on with one that has not come to its end: where it was."""
    going_on = stress.job and stress.state in ("stopped", "failed")
    return find_placement(stress.job.path) if going_on and stress.job else None


def _count_stress_steps() -> int:
    return 1 + sum(len(kind.amounts) - 1 for kind in CORRUPTION_KINDS.values()) + _MIN_OOD_SETS


def _describe_stress_job(shared: SharedEpoch) -> str:
    most = shift.count_measured_images(shared.n, shared.dataset.image_shape)
    some = f"all {shared.n:,}" if most == shared.n else f"the first {most:,}"
    return (
        f"An ensemble that is good on its own test set may fail on {pluralize_noun(shared.noun)} that look "
        "a little different, and should then at least be unsure. This turns, shifts, blurs, fades and adds noise to "
        f"{some} test {pluralize_noun(shared.noun)}, in {_count_stress_steps() - _MIN_OOD_SETS - 1} steps, "
        "and asks every member each time; then it shows them images that belong to no class."
    )


def _estimate_stress_duration(run: runs.Run) -> str:
    """About how long it will take, "about 4 min", from how fast the run trained; "" if unknown."""
    if not run.status.img_member_per_s:
        return ""
    images = shift.count_measured_images(run.data.test_size, run.data.image_shape) * _count_stress_steps()
    seconds = _INFERENCE_COST * images * run.config.members / run.status.img_member_per_s
    return f"about {formats.format_duration(round_stress_seconds(START_SECONDS + seconds))}"


def round_stress_seconds(seconds: float) -> float:
    """Seconds as one says them: to five up to a minute, then to half minutes, then to minutes."""
    step = 5 if seconds < 60 else 30 if seconds < 300 else 60
    return max(step, step * round(seconds / step))


def _describe_stress_results(shared: SharedEpoch, stress: StressState, results: StressResults) -> str:
    all_of = "all" if results.images >= shared.n else "the first"
    text = (
        f"Measured on {all_of} {results.images:,} test {pluralize_noun(shared.noun)}, with "
        f"the members of the run's last checkpoint, at {describe_measured_members(results)}."
    )
    if stress.is_outdated:
        text = (
            f"Measured at {describe_measured_members(results)}, on {all_of} {results.images:,} "
            f"test {pluralize_noun(shared.noun)}; "
            "the run has continued since."
        )
    return text
