"""What was found in an upload: counts, examples, what was done to the images and left out."""

import streamlit as st

from ensemble.figures import class_counts as counts_figure
from ensemble.figures import example_sheet as examples_figure
from ensemble.figures.class_counts import ClassCounts
from ensemble.jobs.uploads import upload_preview
from ensemble.jobs.uploads.dataset_upload import UploadJob
from ensemble.jobs.uploads.upload_preview import UploadFindings, UploadPreview
from ensemble.jobs.uploads.upload_request import rephrase_for_page
from ensemble.ui.data import acceptance_form
from ensemble.ui.shared import figure_panel, theme
from ensemble.wording import escaping, formats

_MAX_LISTED_SIZES = 4  # that are said
_MAX_OPEN_LINES = 20  # of a tree that is shown without a click
_MAX_SHOWN_CLASSES, _EXAMPLES_PER_CLASS = (12, 5)  # classes of which examples are shown, and how many of each


def show_upload_preview(job: UploadJob) -> None:
    """The answer, what to know before it is added, the form, and the pictures.

    Raises:
      NotPreparedError: what was made of the upload is gone.
    """
    preview = upload_preview.load_preview(job.path)
    counts = ClassCounts(
        preview.note.class_names,
        preview.count_labels(preview.dataset.train_labels),
        preview.count_labels(preview.dataset.test_labels),
    )
    st.markdown(f"#### {_describe_upload_contents(preview)}")
    st.markdown(_describe_upload_split(preview))
    if tree := preview.note.tree:
        with st.expander("How the folders were understood", expanded=len(tree) <= _MAX_OPEN_LINES):
            st.code("\n".join(tree), language=None)
    if sentences := preview.note.said:
        with st.container(border=True, key="data_said"):
            st.markdown(
                "\n".join(
                    f"- {escaping.escape_markdown(rephrase_for_page(sentence, job.path))}" for sentence in sentences
                )
            )
            _show_unreadable_files(preview.findings)
    left, right = st.columns([2, 3], gap="large")
    with left:
        acceptance_form.show_acceptance_form(job, preview)
    with right:
        _show_class_examples(preview, counts)
    title = f"Images of each class · {job.request.file}"
    figure_panel.show_figure_panel(
        counts_figure.plot_class_counts(counts, title, theme.get_page_palette()),
        key="data_counts",
        name=f"{job.request.file}-classes",
        title="Images of each class",
        alt=counts_figure.describe_class_counts_chart(counts),
        table=lambda: counts_figure.tabulate_class_counts(counts),
        sees=counts_figure.explain_class_counts_chart(counts),
    )


def _describe_upload_contents(preview: UploadPreview) -> str:
    note = preview.note
    height, width, channels = note.image_shape
    images = formats.format_count(note.train_size + note.test_size, "image")
    colour = "grey" if channels == 1 else "colour"
    return f"{images} of {len(note.class_names):,} classes, {width}×{height} {colour}"


def _describe_upload_split(preview: UploadPreview) -> str:
    note = preview.note
    sentence = f"{note.train_size:,} to learn from, {note.test_size:,} to test with."
    if len(preview.findings.sizes) > 1:
        more = len(preview.findings.sizes) - _MAX_LISTED_SIZES
        listed = ", ".join(preview.findings.sizes[:_MAX_LISTED_SIZES]) + (f" and {more} more" if more > 0 else "")
        sentence += f" They came in several sizes ({listed})."
    return f"{sentence} {escaping.escape_markdown(note.prepared)}"


def _show_unreadable_files(findings: UploadFindings) -> None:
    if findings.unreadable:
        with st.expander(f"{formats.format_count(findings.unreadable_count, 'file')} that cannot be read"):
            for name in findings.unreadable:
                st.text(name)
            if (more := findings.unreadable_count - len(findings.unreadable)) > 0:
                st.caption(f"And {more:,} more.")


def _show_class_examples(preview: UploadPreview, counts: ClassCounts) -> None:
    class_numbers = counts.by_frequency[:_MAX_SHOWN_CLASSES]
    names = [counts.names[c] for c in class_numbers]
    if len(class_numbers) < len(counts.names):
        st.caption(f"The first images of the {_MAX_SHOWN_CLASSES} commonest classes")
    else:
        st.caption("The first images of each class, as members will see them")
    st.html(
        examples_figure.render_example_sheet(
            upload_preview.select_class_examples(preview, class_numbers, _EXAMPLES_PER_CLASS), names
        )
    )
