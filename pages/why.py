"""Why do they disagree? One disputed image of a run, in five steps."""

from ensemble import runs
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import epoch_panel
from ensemble.ui.shared import entry, loaders, run_panel
from ensemble.ui.why import steps


def main() -> None:
    run_panel.about_a_run(of_run, no_runs, compact=True)


def no_runs() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import band, opened

    band.show("Why do they disagree?")
    steps.show(opened.inspected())


def of_run(run: runs.Run) -> None:
    """The step that is asked for, or why there is none yet."""
    chosen = epoch_panel.choose(run, "The steps stand")
    if not chosen:
        return
    version = loaders.version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz")
    dataset = loaders.test_set(run)
    steps.show(SharedEpoch(run, chosen.epoch, chosen.epochs, chosen.made, dataset, version))
    epoch_panel.watch(run, chosen)


entry.draw("why", main)
