"""Members that guess, that are doubles, or that the ensemble is better without: said first."""

from collections.abc import Sequence
from dataclasses import replace

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


def list_broken_members(epoch: EvaluatedEpoch) -> list[str]:
    """Return what is wrong with members that do harm or only guess, a sentence for each fault."""
    if epoch.members == 1:
        return []
    faults = replace(epoch.measure(find_member_faults, fitted=True), doubles=())
    return [claim for claim, _ in list_member_faults(faults, epoch.predictions, epoch.noun)]


def repeat_member_faults(epoch: EvaluatedEpoch, above: Sequence[str] = ()) -> View:
    """Yield each fault below a verdict that it affects, except for sentences that are above."""
    for claim, _ in list_epoch_member_faults(epoch):
        if claim not in above:
            yield Paragraph(claim, "reminder")
