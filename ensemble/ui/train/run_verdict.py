"""What a run that has ended came to, in a sentence: better than a member, and maybe by luck?"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.analysis.members.gain import MeanGain, gain_over_mean_member
from ensemble.errors import EnsembleError
from ensemble.planning.distillation import compare_with_teacher, judge_losses
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.teacher import has_teacher
from ensemble.ui.inspect.shared_epoch import MANY_PROBABILITIES, SharedEpoch
from ensemble.ui.predictions import loader
from ensemble.ui.shared import address, loaders
from ensemble.views.answer import describe_answer_headline, describe_left_out_images
from ensemble.views.member_faults import list_epoch_member_faults
from ensemble.views.members.distillation import describe_saving, describe_teacher_verdict
from ensemble.wording import escaping
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import chance_level
from ensemble.wording.verdicts.ensemble_gain import format_signed


def show_run_verdict(run: runs.Run, place: DeltaGenerator) -> None:
    """Draw the sentence and the way to Inspect; nothing of a run that goes on.

    A member that is broken is named instead: then what the ensemble is better by says little.

    Args:
      place: where it stands; it is drawn last, so that the curves do not wait for it.
    """
    if not has_verdict(run):
        return
    if (epoch := load_reported_epoch(run)) is None:
        return
    query = address.RUN.build_query(run.id)
    if has_teacher(run):
        claim, evidence = _describe_student_outcome(epoch)
        query |= address.VIEW.build_query("distillation")
    else:
        faults = list_epoch_member_faults(epoch)
        claim, evidence = faults[0] if faults else _describe_run_outcome(epoch)
    with place, st.container(key="run_verdict", gap="xxsmall"):
        st.markdown(f"#### {escaping.escape_markdown(claim)}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(escaping.escape_markdown(evidence), width="content")
            st.page_link(
                "pages/inspect.py",
                label="Inspect",
                icon=":material/arrow_forward:",
                width="content",
                query_params=query,
            )


def reserve_verdict_place(run: runs.Run) -> DeltaGenerator:
    if not has_verdict(run):
        return st.container()
    place = st.container(key="run_verdict_place", gap=None)
    # Streamlit draws no container that is empty.
    place.html("<span></span>")
    return place


def has_verdict(run: runs.Run) -> bool:
    """Whether there is something to say: the run has ended, and has something to compare with."""
    compared = run.config.members > 1 or has_teacher(run)
    return run.state in chance_level.ENDED_STATES and compared


def _describe_run_outcome(epoch: SharedEpoch) -> tuple[str, str]:
    luck = describe_gain_luck(epoch.measure(gain_over_mean_member), epoch.noun)
    return describe_answer_headline(epoch), f"{luck} {describe_left_out_images(epoch)}".strip()


def _describe_student_outcome(epoch: SharedEpoch) -> tuple[str, str]:
    try:
        comparison = compare_with_teacher(epoch.run, epoch.epoch, epoch.measure)
    except EnsembleError as error:
        config = runs.require_training_config(epoch.run)
        return f"Taught by {config.teacher}.", str(error)
    accuracy, nll = judge_losses(comparison)
    return describe_teacher_verdict(accuracy, nll), describe_saving(comparison)


def describe_gain_luck(gain: MeanGain, noun: str) -> str:
    """Whether the interval of the gain leaves 0 out, and the interval."""
    ends = f"{format_signed(gain.digits_low, 0)} to {format_signed(gain.digits_high, 0)}"
    luck = "Hardly luck of the test set" if gain.accuracy_sign else "May be luck of the test set"
    return f"{luck}: {ends} {pluralize_noun(noun)} (95 %)."


def load_reported_epoch(run: runs.Run) -> SharedEpoch | None:
    """The epoch that a run is shown by; None where it has none, or one that takes long to read."""
    try:
        epochs = runs.list_prediction_epochs(run.id)
        if not epochs:
            return None
        epoch = select_default_epoch(run, epochs)
        test_set = loaders.load_run_test_set(run)
        if run.config.members * test_set.labels.size * len(run.data.class_names) > (MANY_PROBABILITIES // 5):
            return None
        version = loaders.get_file_version(run.path / "predictions" / f"epoch-{epoch:04d}.npz")
        predictions = loader.load_test_predictions(run, epoch)
    except EnsembleError:
        return None
    return SharedEpoch(
        run=run, epoch=epoch, epochs=tuple(epochs), predictions=predictions, dataset=test_set, version=version
    )
