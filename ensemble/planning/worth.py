"""How many independent members the cheaper ensembles of a run are worth."""

from dataclasses import dataclass

from ensemble.analysis.planning.equivalents import MemberEquivalent, equivalent_of_trainings, likelihood_curve
from ensemble.comparison.image_identity import load_image_labels
from ensemble.errors import RunError
from ensemble.planning.cheap_ensembles import Kind, iterate_cheap_ensembles
from ensemble.runs.history import list_prediction_epochs, read_run_predictions
from ensemble.runs.store import Run, require_training_config


@dataclass(frozen=True)
class CheapEnsembleWorth:
    """What one kind of cheaper ensemble is worth.

    Attributes:
      kind: as `CheapEnsemble.kind`.
      epochs: that it is made of.
      networks: how many networks answer each image.
      equivalent: how many independent members it is worth.
    """

    kind: Kind
    epochs: tuple[int, ...]
    networks: int
    equivalent: MemberEquivalent


@dataclass(frozen=True)
class CheapEnsembleWorths:
    """What a run's cheaper ensembles are worth, each the mean over its members.

    Attributes:
      rows: a member as it is first.
      members: how many members made such ensembles, which they are compared with.
      varied: whether these differ in their settings.
      left_out: why a kind that the run was set up for is not here, a sentence each.
    """

    rows: tuple[CheapEnsembleWorth, ...]
    members: int
    varied: bool
    left_out: tuple[str, ...]


def measure_cheap_ensembles(run: Run) -> CheapEnsembleWorths:
    """Measure how many of the run's own members its cheaper ensembles are worth.

    Args:
      run: one that was trained here.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was trained elsewhere, has no predictions, or has one member.
    """
    config, kept = require_training_config(run), list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.id}” has no predictions yet: wait for the end of its first epoch.")
    if config.members < 2:
        raise RunError("With one member nothing tells what a second is worth: train a run of several members.")
    truth = load_image_labels(run)
    curve = likelihood_curve(read_run_predictions(run.id, kept[-1]), truth)
    rows, left_out = list[CheapEnsembleWorth](), list[str]()
    for cheap_ensemble in iterate_cheap_ensembles(run):
        if isinstance(cheap_ensemble, str):
            left_out.append(cheap_ensemble)
            continue
        equivalent = equivalent_of_trainings(curve, truth, cheap_ensemble.probabilities)
        rows.append(CheapEnsembleWorth(cheap_ensemble.kind, cheap_ensemble.epochs, cheap_ensemble.networks, equivalent))
    return CheapEnsembleWorths(tuple(rows), config.members, bool(config.vary), tuple(left_out))
