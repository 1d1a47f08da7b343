"""Why do they disagree? One disputed image of a run, in five steps."""

from ensemble import runs
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import epoch_selection
from ensemble.ui.shared import loaders, navigation, run_panel
from ensemble.ui.why import steps


def show_why_page() -> None:
    run_panel.show_run_screen(show_why_run, show_why_example)


def show_why_example() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import recorded_banner, recorded_epoch

    recorded_banner.show_recorded_banner("Why do they disagree?")
    steps.show_why_steps(recorded_epoch.load_recorded_shared_epoch())


def show_why_run(run: runs.Run) -> None:
    """The step that is asked for, or why there is none yet."""
    chosen = epoch_selection.select_predictions_epoch(run, "The steps stand")
    if not chosen:
        return
    version = loaders.get_file_version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz")
    dataset = loaders.load_run_test_set(run)
    steps.show_why_steps(
        SharedEpoch(
            run=run,
            epoch=chosen.epoch,
            epochs=chosen.epochs,
            predictions=chosen.predictions,
            dataset=dataset,
            version=version,
        )
    )
    epoch_selection.show_epoch_choice(run, chosen)
    epoch_selection.watch_newer_epochs(run, chosen)


navigation.draw_page("why", show_why_page)
