"""How many independent members the cheaper ensembles of a run are worth."""

from dataclasses import dataclass

from ensemble.analysis.planning.equivalents import MemberEquivalent, equivalent_of_trainings, likelihood_curve
from ensemble.budget.cheap_ensembles import Kind, iterate_cheap_ensembles
from ensemble.comparison.image_identity import have_same_images, load_image_labels
from ensemble.errors import RunError
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
      against: the run whose members they are held against, after its last epoch.
      own: whether that is the run itself.
      members: how many it has.
      trainings: how many members of the run made such ensembles.
      varied: whether the members that they are held against differ in their settings.
      left_out: why a kind that the run was set up for is not here, a sentence each.
    """

    rows: tuple[CheapEnsembleWorth, ...]
    against: str
    own: bool
    members: int
    trainings: int
    varied: bool
    left_out: tuple[str, ...]


def measure_cheap_ensembles(run: Run, against: Run | None = None, passes: int = 0) -> CheapEnsembleWorths:
    """What the cheaper ensembles of a run are worth.

    Args:
      run: one that was trained here.
      against: whose members to hold them against; by default the run's own.
      passes: with dropout left on, where the network has it; 0 for none.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was trained elsewhere, has no predictions, or there are no two independent
        members on the same images to hold it against.
      ConfigError: dropout is asked for and the network has none.
    """
    require_training_config(run)
    base = against or run
    for checked_run in (run, base):
        if not list_prediction_epochs(checked_run.id):
            raise RunError(f"The run “{checked_run.id}” has no predictions yet: wait for the end of its first epoch.")
    if base.config.members < 2:
        raise RunError(
            f"The run “{base.id}” has one member, and nothing says what a second is worth: hold "
            "it against a run of several members, as `worth --against` does."
        )
    if not have_same_images(run, base):
        raise RunError(
            f"The runs “{run.id}” and “{base.id}” were tested on different images: choose two on the same dataset."
        )
    truth = load_image_labels(run)
    curve = likelihood_curve(read_run_predictions(base.id, list_prediction_epochs(base.id)[-1]), truth)
    rows, left_out = list[CheapEnsembleWorth](), list[str]()
    for cheap_ensemble in iterate_cheap_ensembles(run, passes):
        if isinstance(cheap_ensemble, str):
            left_out.append(cheap_ensemble)
            continue
        equivalent = equivalent_of_trainings(curve, truth, cheap_ensemble.probabilities)
        rows.append(CheapEnsembleWorth(cheap_ensemble.kind, cheap_ensemble.epochs, cheap_ensemble.networks, equivalent))
    varied = bool(base.training_config and base.training_config.vary)
    return CheapEnsembleWorths(
        rows=tuple(rows),
        against=base.id,
        own=base.id == run.id,
        members=base.config.members,
        trainings=run.config.members,
        varied=varied,
        left_out=tuple(left_out),
    )
