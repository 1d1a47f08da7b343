"""Classify: give an ensemble a digit of your own, and see what it makes of it."""

import streamlit as st

from ensemble import runs
from ensemble.ui import digits_waiting, entry, run_panel


def main() -> None:
    entry.through_app()
    run_panel.about_a_run(of_run, no_runs)


def no_runs() -> None:
    """The first visit."""
    digits_waiting.no_runs(
        "Give an ensemble a digit of your own",
        "Upload it, draw it or hold it to the camera, and see what each network makes of it, "
        "once a first run has finished an epoch.",
    )


def of_run(run: runs.Run) -> None:
    """The picture, what the ensemble says of it, and how it came to see it so."""
    st.segmented_control("Input", ["Upload", "Draw", "Camera"], default="Upload")


main()
