"""Running and inspecting deep ensembles of image classifiers.

In a notebook or a script:

    import ensemble
    run = ensemble.open_run("my run")              one of the folder of runs, by id or name
    run = ensemble.train(ensemble.Config(members=4, epochs=3))
    made = run.predictions()                       what every member says of the test images
    run.predict(images)                            and of any others
    made.accuracy, made.interval, made.gain        its figures
    ensemble.figures.calibration(made)             a Plotly figure, as Inspect draws it

    ensemble.Predictions.from_arrays(p, labels)    the same for any model's probabilities
    ensemble.import_predictions(p, labels, name="theirs")    and as a run, for the screens

`ensemble.runs`, `ensemble.figures` and `ensemble.datasets` are what these stand on. All of it is
imported when it is first asked for: `import ensemble` alone loads nothing else. docs/python.md has
the whole walk.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "1.0.0"
__all__ = [
    "Config",
    "EnsembleError",
    "Predictions",
    "RegressionRun",
    "Run",
    "SolvedRegression",
    "Sweep",
    "add_dataset",
    "choose_labels",
    "datasets",
    "figures",
    "import_predictions",
    "judge_numbers",
    "list_runs",
    "open_numbers",
    "open_run",
    "runs",
    "solve_regression",
    "sweep",
    "train",
    "train_numbers",
]

if TYPE_CHECKING:
    from ensemble import datasets, figures, runs
    from ensemble.api import (
        Config,
        EnsembleError,
        Predictions,
        RegressionRun,
        Run,
        SolvedRegression,
        Sweep,
        add_dataset,
        choose_labels,
        import_predictions,
        judge_numbers,
        list_runs,
        open_numbers,
        open_run,
        solve_regression,
        sweep,
        train,
        train_numbers,
    )
else:
    _PACKAGES = ("datasets", "figures", "runs")

    def __getattr__(name: str) -> object:
        """A name of `__all__`, imported now."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        value = getattr(import_module(f"{__name__}.api"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """What there is, also what is not imported yet."""
        return sorted({*globals(), *__all__})
