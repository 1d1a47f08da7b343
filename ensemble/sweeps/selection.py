"""A hyper-deep ensemble: the members of all trials, chosen greedily, as a run of their own.

Wenzel et al. 2020, "Hyperparameter ensembles for robustness and uncertainty quantification"; the
selection is that of Caruana et al. 2004, "Ensemble selection from libraries of models".
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.proper_scores import label_probability
from ensemble.config import EnsembleConfig, member_values
from ensemble.errors import ConfigError, RunError
from ensemble.runs.parameters import read_parameters
from ensemble.sweeps.objectives import load_validation_labels
from ensemble.sweeps.selected_members import SelectedMember, create_selected_run
from ensemble.sweeps.store import find_sweep
from ensemble.sweeps.trials import find_best_trial, read_trials

Floats = NDArray[np.float64]


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

    They are chosen one after the other by the ensemble's NLL on the images held out, each at its
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
      probabilities: (P, N), what each of P candidates gave the label, from `label_probability`.
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
    """All members that may be chosen (P), and what each gave the label of each image (P, V).

    Raises:
      RunError: there are none, or they hold out different images.
    """
    sweep = find_sweep(sweep_id)
    trials = [listed_trial for listed_trial in read_trials(sweep) if listed_trial.state == "complete"]
    first = find_best_trial(sweep, trials)
    if first is None:
        raise RunError(f"No trial of “{sweep_id}” is complete yet: wait until one has finished.")
    model = runs.find_run(first.run_id)
    pool, probabilities = [], []
    labels = load_validation_labels(model)
    for trial in trials:
        run = runs.find_run(trial.run_id)
        if not _has_same_network(run, model):
            continue
        epoch = run.status.best_epoch or run.status.epoch
        label_probs = label_probability(runs.read_validation_predictions(run.id, epoch), labels)
        pool += [_MemberCandidate(run, member, epoch) for member in range(len(label_probs))]
        probabilities.append(label_probs)
    return pool, np.concatenate(probabilities)


def _has_same_network(run: runs.Run, model: runs.Run) -> bool:
    """Whether a run's members may stand beside the model's: the same network."""
    mine, its = runs.require_training_config(run), runs.require_training_config(model)
    if not its.validation:
        raise RunError("The trials hold out no images to choose members by: launch a sweep with validation above 0.")
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
        params=_slice_member_tree(read_parameters(candidate.run.id, candidate.epoch), candidate.member),
        test_probabilities=runs.read_run_predictions(candidate.run.id, candidate.epoch)[candidate.member],
        validation_probabilities=runs.read_validation_predictions(candidate.run.id, candidate.epoch)[candidate.member],
        training_metrics={name: lines[-1][name][candidate.member] for name in ("train_loss", "train_accuracy")},
    )


def _slice_member_tree(tree: object, member: int) -> object:
    if isinstance(tree, dict):
        return {name: _slice_member_tree(branch, member) for name, branch in tree.items()}
    return np.asarray(tree)[member]


def _merge_trial_settings(chosen: list[_MemberCandidate]) -> EnsembleConfig:
    configs = [runs.require_training_config(candidate.run) for candidate in chosen]
    own = {
        name: tuple(
            config.member_values[name][candidate.member] for config, candidate in zip(configs, chosen, strict=True)
        )
        for name in member_values.VARIABLE_SETTINGS
    }
    same: dict[str, Any] = {name: values[0] for name, values in own.items() if len(set(values)) == 1}
    differ = {name: values for name, values in own.items() if name not in same}
    return replace(
        configs[0],
        members=len(chosen),
        epochs=1,
        warmup_epochs=0.0,
        patience=0,
        groups=1,
        folds=0,  # Their numbers are others here.
        vary=member_values.format_member_values(differ),
        **same,
    )
