"""What is said of all runs together: how many there are, and the best of them; and their file."""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import pandas as pd

from ensemble import runs
from ensemble.datasets import registry
from ensemble.runs.annotations.notes import read_run_note
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_dataset_name, format_run_name
from ensemble.wording.verdicts import chance_level, selection_basis

MAX_NAMED_DATASETS = 3  # more would be a wall of words above the table
_WINNER_BASES = {
    "test": "the highest of several flatters: expect less on new images",
    "validation": selection_basis.CHOSEN_ON_VALIDATION,
}


def describe_run_counts(every: Sequence[runs.Run]) -> str:
    going = [f"{count:,} {state}" for state in runs.ACTIVE[::-1] if (count := sum(run.state == state for run in every))]
    return ", ".join([formats.format_count(len(every), "run"), *going])


def describe_best_runs(every: Sequence[runs.Run]) -> str:
    """The best run on each dataset, and on what it was chosen.

    "Digits 97.8 % (my run) · MNIST 99.12 % (another); chosen on the test images: …", of the
    datasets that were trained on last where there are many.
    """
    runs_by_basis: dict[str, list[str]] = {}
    # What was imported says nothing of how it came: it is no rival of what was trained here.
    trained: dict[str, list[runs.Run]] = {}
    for run in every:
        if run.training_config and not run.origin:
            trained.setdefault(run.config.dataset, []).append(run)
    recent = list(trained)[:MAX_NAMED_DATASETS]
    for dataset in registry.list_dataset_names() if trained else ():
        if dataset not in recent:
            continue
        if best_run := _find_best_run(trained.get(dataset, ())):
            run, on = best_run
            share = formats.format_percent(run.status.best_ensemble_test_accuracy, run.data.test_size)
            name = format_run_name(run)
            if run.name == run.id:  # a name of the program's own has the dataset in it
                name = name.replace(f" · {format_dataset_name(dataset)}", "", 1)
            title = escaping.escape_markdown(run.data.title)
            basis = on if len(trained[dataset]) > 1 else ""  # of one run nothing was chosen
            runs_by_basis.setdefault(basis, []).append(f"{title} {share} ({escaping.escape_markdown(name)})")
    sentences = [" · ".join(each) + (f"; {_WINNER_BASES[on]}" if on else "") for on, each in runs_by_basis.items()]
    if sentences and (others := len(trained) - len(recent)):
        sentences.append(f"{formats.format_count(others, 'more dataset')}, trained on before: see the table")
    return ". ".join(sentences)


def _find_best_run(every: Sequence[runs.Run]) -> tuple[runs.Run, str] | None:
    """The best of the runs on one dataset, and what it was chosen on: "validation" or "test".

    By the validation NLL where all of them have one, by the test accuracy otherwise.
    """
    candidates = [
        run
        for run in every
        if (share := run.status.best_ensemble_test_accuracy) is not None
        and not chance_level.is_chance_accuracy(share, run.data)
        and not chance_level.is_run_at_chance(run)
    ]
    if not candidates:
        return None
    if all(run.status.best_ensemble_validation_nll is not None for run in candidates):
        return min(candidates, key=lambda run: run.status.best_ensemble_validation_nll or 0.0), "validation"
    return max(candidates, key=lambda run: run.status.best_ensemble_test_accuracy or 0.0), "test"


def tabulate_runs_export(listed_runs: Sequence[runs.Run]) -> pd.DataFrame:
    """The runs with every setting and figure, as a program wants them: shares in [0, 1]."""
    return pd.DataFrame([_build_export_row(run) for run in listed_runs])


def _build_numeric_cells(run: runs.Run) -> dict[str, Any]:
    """Return the cells that only a regression has; {} for a classification."""
    if run.target is None:
        return {}
    return {
        "task": run.task,
        "target": run.target_name,
        "unit": run.unit,
        "last_ensemble_test_rmse": run.status.ensemble_test_rmse,
        "last_ensemble_test_crps": run.status.ensemble_test_crps,
    }


def _build_export_row(run: runs.Run) -> dict[str, Any]:
    """One run: what it is, what it reached, what it was asked."""
    status = run.status
    members = [share for share in status.member_test_accuracy if share is not None]
    created = datetime.fromtimestamp(status.created, UTC).isoformat(timespec="seconds")
    return {
        "id": run.id,
        "name": run.name,
        "state": run.state,
        "made": created,
        "epoch": status.epoch,
        "seconds": status.seconds,
        "best_ensemble_test_accuracy": status.best_ensemble_test_accuracy,
        "best_epoch": status.best_epoch,
        "best_on": status.best_on,
        "last_ensemble_test_accuracy": status.ensemble_test_accuracy,
        "last_ensemble_test_nll": status.ensemble_test_nll,
        "last_mean_member_test_accuracy": fmean(members) if members else None,
        **_build_numeric_cells(run),
        **run.config.as_dict(),
        "tags": ", ".join(run.tags),
        "note": read_run_note(run),
    }
