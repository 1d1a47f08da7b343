"""What cheaper ensembles are worth, in words."""

import math

from ensemble.budget.worth import CheapEnsembleWorth, CheapEnsembleWorths
from ensemble.config import EnsembleConfig
from ensemble.wording import formats
from ensemble.wording.verdicts.plan import format_member_equivalent

EQUIVALENTS_GLOSS = (
    "How many independent members it takes to reach the same calibrated log-likelihood on the "
    "test images (deep ensemble equivalents; Ashukha and others 2020)."
)
MIXTURE_NOTE = (
    "The members that it is held against differ in their settings: read them as a mixture, not as repetitions of one."
)


def format_cheaper_ensemble(worth: CheapEnsembleWorth) -> str:
    """What it is: "the last 3 epochs", "5 snapshots"."""
    count = len(worth.epochs)
    return {
        "member": "one member as it is",
        "last": f"the last {count} epochs together",
        "snapshots": formats.format_count(count, "snapshot"),
        "swa": f"parameters averaged over {formats.format_count(count, 'epoch')} (SWA)",
        "dropout": f"dropout, {formats.format_count(worth.networks, 'pass')}",
    }[worth.kind]


def describe_ensemble_worth(worth: CheapEnsembleWorth) -> str:
    """What it is worth: "This snapshot ensemble is worth 1.7 independent members (…)"."""
    subject = {
        "member": "One member as it is",
        "last": f"The checkpoint ensemble of the last {len(worth.epochs)} epochs",
        "snapshots": "This snapshot ensemble",
        "swa": "The member with averaged parameters",
        "dropout": f"One member run with dropout {formats.format_count(worth.networks, 'time')}",
    }[worth.kind]
    return f"{subject} is worth {format_member_equivalent(worth.equivalent)}."


def describe_best_cheaper_ensemble(worths: CheapEnsembleWorths) -> str:
    """The cheaper ensemble that is worth most, in a line; "" where there is none.

    Where its interval holds every number of members, that the images cannot tell.
    """
    cheaper = [row for row in worths.rows if row.kind != "member"]
    if not cheaper:
        return ""
    best = max(cheaper, key=lambda row: (row.equivalent.value, -row.networks))
    if not best.equivalent.low and math.isinf(best.equivalent.high):
        return "Too few test images or members to say what cheaper ensembles are worth."
    return describe_ensemble_worth(best)


def describe_worth_basis(worths: CheapEnsembleWorths) -> str:
    whose = "its own" if worths.own else f"those of “{worths.against}”"
    trained = formats.format_count(worths.trainings, "member")
    best = " The best of several is chosen on these images: expect less on new ones."
    several = len(worths.rows) > 2
    return (
        f"Each costs as much as training one member; the mean over {trained}, compared with 1 to "
        f"{worths.members} independent members ({whose}), on the test images."
        f"{best if several else ''}"
    )


def list_cheaper_settings(config: EnsembleConfig | None) -> list[str]:
    parts = []
    if config and config.schedule != "cyclic":
        parts.append("For snapshots, launch with the schedule cyclic.")
    if config and not config.swa_epochs:
        parts.append("For averaged parameters, launch with SWA epochs above 0.")
    return parts
