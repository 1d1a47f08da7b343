"""Members that guess, that are doubles, or that the ensemble is better without: said first."""

from ensemble.analysis.members.broken_members import find_member_faults
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, View
from ensemble.wording.verdicts.member_faults import list_member_faults


def list_epoch_member_faults(epoch: EvaluatedEpoch) -> list[tuple[str, str]]:
    """Each fault of the epoch's members as (claim, evidence); [] where there is none."""
    if epoch.members == 1:
        return []
    faults = epoch.measure(find_member_faults, fitted=True)
    return list_member_faults(faults, epoch.predictions, epoch.noun)


def repeat_member_faults(epoch: EvaluatedEpoch) -> View:
    """Yield each fault below what it has a part in; nothing where all members are sound."""
    for claim, _ in list_epoch_member_faults(epoch):
        yield Paragraph(claim, "reminder")
