"""What was found in an upload: counts, examples, what was done to the images and left out."""

import streamlit as st

from ensemble.figures import class_counts as counts_figure
from ensemble.figures import examples as examples_figure
from ensemble.figures.class_counts import Counts
from ensemble.jobs.uploads import trial
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.trial import Found, Trial
from ensemble.ui.data import acceptance
from ensemble.ui.shared import figure_panel, theme
from ensemble.wording import escaping, formats

SIZES = 4  # that are said
CLASSES, EACH = 12, 5  # classes of which examples are shown, and how many of each


def show(job: UploadJob) -> None:
    """The answer, what to know before it is added, the form, and the pictures.

    Raises:
      NotPreparedError: what was made of the upload is gone.
    """
    found = trial.read(job.path)
    counts = Counts(
        found.note.class_names,
        found.counts(found.dataset.train_labels),
        found.counts(found.dataset.test_labels),
    )
    st.markdown(f"#### {answer(found)}")
    st.markdown(facts(found))
    if said := found.note.said:
        with st.container(border=True, key="data_said"):
            st.markdown("\n".join(f"- {escaping.markdown(one)}" for one in said))
            unreadable(found.found)
    left, right = st.columns([2, 3], gap="large")
    with left:
        acceptance.form(job, found)
    with right:
        samples(found, counts)
    title = f"Images of each class · {job.request.file}"
    figure_panel.show(
        counts_figure.figure(counts, title, theme.palette()),
        key="data_counts",
        name=f"{job.request.file}-classes",
        title="Images of each class",
        alt=counts_figure.alt(counts),
        table=lambda: counts_figure.table(counts),
        sees=counts_figure.sees(counts),
    )


def answer(found: Trial) -> str:
    """What it is, in a line."""
    note = found.note
    height, width, channels = note.image_shape
    images = formats.count(note.train_size + note.test_size, "image")
    colour = "grey" if channels == 1 else "colour"
    return f"{images} of {len(note.class_names):,} classes, {width}×{height} {colour}"


def facts(found: Trial) -> str:
    """How they came to this size and how they are split, in Markdown."""
    note = found.note
    said = f"{note.train_size:,} to learn from, {note.test_size:,} to test with."
    if len(found.found.sizes) > 1:
        more = len(found.found.sizes) - SIZES
        listed = ", ".join(found.found.sizes[:SIZES]) + (f" and {more} more" if more > 0 else "")
        said += f" They came in several sizes ({listed})."
    return f"{said} {escaping.markdown(note.prepared)}"


def unreadable(found: Found) -> None:
    """Which files cannot be read, for who wants to mend them."""
    if found.unreadable:
        with st.expander(f"{formats.count(found.unreadable_count, 'file')} that cannot be read"):
            for one in found.unreadable:
                st.text(one)
            if (more := found.unreadable_count - len(found.unreadable)) > 0:
                st.caption(f"And {more:,} more.")


def samples(found: Trial, counts: Counts) -> None:
    """A few images of the commonest classes."""
    shown = counts.order[:CLASSES]
    names = [counts.names[c] for c in shown]
    if len(shown) < len(counts.names):
        st.caption(f"The first images of the {CLASSES} commonest classes")
    else:
        st.caption("The first images of each class, as members will see them")
    st.html(examples_figure.sheet(trial.examples(found, shown, EACH), names))
