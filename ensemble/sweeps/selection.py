"""A hyper-deep ensemble: the members of all trials, chosen greedily, as a run of their own.

Wenzel et al. 2020, "Hyperparameter ensembles for robustness and uncertainty quantification"; the
selection is that of Caruana et al. 2004, "Ensemble selection from libraries of models".
"""

import functools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.proper_scores import label_probability
from ensemble.config import (
    CLASSIFICATION,
    REGRESSION,
    AnyTrainingConfig,
    EnsembleConfig,
    RegressionConfig,
    member_values,
)
from ensemble.errors import ConfigError, RunError
from ensemble.runs.history import PREDICTION_FOLDERS
from ensemble.runs.parameters import read_parameters
from ensemble.runs.store import require_run_settings
from ensemble.sweeps.objectives import load_validation_labels
from ensemble.sweeps.selected_members import SelectedMember, create_selected_run
from ensemble.sweeps.store import find_sweep
from ensemble.sweeps.trials import find_best_trial, read_trials

Floats = NDArray[np.float64]
_LEAST_DENSITY = 1e-300  # so that the loss is finite if a row is far from every member chosen


class _MemberCandidate(NamedTuple):
    """A member that may be chosen.

    Attributes:
      run: a trial's.
      member: its number there, from 0.
      epoch: the best of that run.
    """

    run: runs.Run
    member: int
    epoch: int


def create_hyper_deep_ensemble(sweep_id: str, size: int, name: str = "", again: bool = False) -> runs.Run:
    """A new run, state `finished`, of the members of a sweep's trials that go best together.

    They are chosen one after the other by the ensemble's NLL on the images or rows held out, each at its
    run's best epoch, from the complete trials with the network of the best. Of a trial that was
    trained several times the first run counts: the others hold out different images.

    Args:
      sweep_id: whose trials.
      size: how many members.
      name: for people; "" for one that says what it is.
      again: whether a member may be chosen more than once.

    Raises:
      ConfigError: more members than there are, or than an ensemble has.
      RunError: no trial is complete, or they hold out different images.
    """
    pool, probabilities = list_member_candidates(sweep_id)
    most = EnsembleConfig.__dataclass_fields__["members"].metadata["high"]
    most = most if again else min(most, len(pool))
    if not 1 <= size <= most:
        raise ConfigError(f"{size} members of {len(pool)} cannot be selected: choose from 1 to {most}.")
    chosen = [pool[number] for number in select_members_greedily(probabilities, size, again)]
    selected_run = create_selected_run(
        [_read_selected_member(candidate) for candidate in chosen], _merge_trial_settings(chosen)
    )
    named = name or f"Hyper-deep ensemble of {sweep_id}"
    return runs.rename_run(selected_run.id, named)


def select_members_greedily(probabilities: NDArray[np.floating], size: int, again: bool = False) -> tuple[int, ...]:
    """Members one after the other, each that with which the mean so far has the least NLL.

    It is chosen on these examples, so on others it will do worse than here.

    Args:
      probabilities: (P, N), what each of P candidates gave the label, from `label_probability`; of
        numbers the density of the target, in any unit.
      size: how many to choose.
      again: whether one may be chosen more than once: with replacement.

    Returns:
      Their numbers (size,) in the order in which they were chosen, the lowest of equals.

    Raises:
      ValueError: there are too few candidates, or no examples.
    """
    candidates, examples = probabilities.shape
    if not examples or not 1 <= size <= (size if again and candidates else candidates):
        raise ValueError(f"{size} of {candidates} candidates, by {examples} examples")
    total = np.zeros(examples)
    chosen: list[int] = []
    for _ in range(size):
        loss = np.array([-np.log(total + candidate).sum() for candidate in probabilities])
        if not again:
            loss[chosen] = np.inf
        chosen.append(int(loss.argmin()))
        total += probabilities[chosen[-1]]
    return tuple(chosen)


def list_member_candidates(sweep_id: str) -> tuple[list[_MemberCandidate], Floats]:
    """All members that may be chosen (P), and what each gave the label, or target, of each example (P, V).

    Raises:
      RunError: there are none, or they hold out different images.
    """
    sweep = find_sweep(sweep_id)
    trials = [listed_trial for listed_trial in read_trials(sweep) if listed_trial.state == "complete"]
    first = find_best_trial(sweep, trials)
    if first is None:
        raise RunError(f"No trial of “{sweep_id}” is complete yet: wait until one has finished.")
    model = runs.find_run(first.run_id)
    of_table = model.task == REGRESSION
    measure = (
        _read_log_densities if of_table else functools.partial(_read_label_probabilities, load_validation_labels(model))
    )
    pool, measured = [], []
    for trial in trials:
        run = runs.find_run(trial.run_id)
        if not _has_same_network(run, model):
            continue
        epoch = run.status.best_epoch or run.status.epoch
        own = measure(run, epoch)
        members = run.remaining_members(epoch) if of_table else range(len(own))
        pool += [_MemberCandidate(run, member, epoch) for member in members]
        measured.append(own)
    every = np.concatenate(measured)
    # Scaled so that the highest density of each row is 1, which changes no choice.
    return pool, np.maximum(np.exp(every - every.max(axis=0)), _LEAST_DENSITY) if of_table else every


def _read_label_probabilities(labels: NDArray[np.int32], run: runs.Run, epoch: int) -> Floats:
    return label_probability(runs.read_validation_predictions(run.id, epoch), labels)


def _read_log_densities(run: runs.Run, epoch: int) -> Floats:
    """(M, V), of the target of each validation row, by each member that remained."""
    from ensemble.analysis.numeric.numeric_ensemble import split_members  # which takes SciPy
    from ensemble.runs.numeric.numeric_predictions import read_numeric_validation

    predicted, targets = read_numeric_validation(run, epoch)
    return np.array([-member.compute_losses(targets.values)["nll"] for member in split_members(predicted)])


def _has_same_network(run: runs.Run, model: runs.Run) -> bool:
    """Whether a run's members may stand beside the model's: the same network."""
    mine, its = require_run_settings(run), require_run_settings(model)
    if not its.validation:
        raise RunError("The trials hold out nothing to choose members by: launch a sweep with validation above 0.")
    if isinstance(mine, RegressionConfig) and isinstance(its, RegressionConfig):
        return (mine.network, mine.width, mine.depth) == (its.network, its.width, its.depth)
    if mine.seed != its.seed:
        raise RunError(
            "The trials have different seeds, so they hold out different images, and members "
            "can only be compared on the same ones. Launch a sweep with one seed."
        )
    return (mine.network, mine.width) == (its.network, its.width)


def _read_selected_member(candidate: _MemberCandidate) -> SelectedMember:
    lines = [
        line
        for line in runs.read_history(candidate.run.id)
        if line["kind"] == "epoch" and line["epoch"] == candidate.epoch
    ]
    return SelectedMember(
        run=candidate.run,
        member=candidate.member,
        epoch=candidate.epoch,
        **_read_member_arrays(candidate),
        training_metrics={
            name: lines[-1][name][candidate.member]
            for name in ("train_loss", "train_accuracy", "train_rmse")
            if name in lines[-1]
        },
    )


def _read_member_arrays(candidate: _MemberCandidate) -> dict[str, Any]:
    """Its parameters, and its predictions by folder."""
    run, member, epoch = candidate
    test, validation = (PREDICTION_FOLDERS[split] for split in ("test", "validation"))
    if run.task == CLASSIFICATION:
        params = read_parameters(run.id, epoch)
        predictions = {
            test: {"probabilities": runs.read_run_predictions(run.id, epoch)},
            validation: {"probabilities": runs.read_validation_predictions(run.id, epoch)},
        }
    else:
        from ensemble.analysis.numeric.numeric_ensemble import get_ensemble_arrays  # which takes SciPy
        from ensemble.runs.numeric import numeric_answers, numeric_predictions

        params = numeric_answers.load_numeric_members(run, epoch)[1]
        mixtures = {
            test: numeric_predictions.read_numeric_predictions(run, epoch),
            validation: numeric_predictions.read_numeric_validation(run, epoch)[0],
        }
        if curve := numeric_predictions.read_numeric_curve(run, epoch):
            mixtures[numeric_predictions.CURVE] = curve.predicted
        predictions = {what: get_ensemble_arrays(mixture) for what, mixture in mixtures.items()}
        member = run.remaining_members(epoch).index(member)
    return {"params": _slice_member_tree(params, member), "predictions": _slice_member_tree(predictions, member)}


def _slice_member_tree(tree: object, member: int) -> object:
    if isinstance(tree, dict):
        return {name: _slice_member_tree(branch, member) for name, branch in tree.items()}
    return np.asarray(tree)[member]


def _merge_trial_settings(chosen: list[_MemberCandidate]) -> AnyTrainingConfig:
    configs = [require_run_settings(candidate.run) for candidate in chosen]
    own = {
        name: tuple(
            config.member_values[name][candidate.member] for config, candidate in zip(configs, chosen, strict=True)
        )
        for name in member_values.VARIABLE_SETTINGS
    }
    same: dict[str, Any] = {name: values[0] for name, values in own.items() if len(set(values)) == 1}
    differ = {name: values for name, values in own.items() if name not in same}
    if isinstance(configs[0], EnsembleConfig):
        same["folds"] = 0  # Their numbers are others here.
    return replace(
        configs[0],
        members=len(chosen),
        epochs=1,
        warmup_epochs=0.0,
        patience=0,
        groups=1,
        vary=member_values.format_member_values(differ),
        **same,
    )
