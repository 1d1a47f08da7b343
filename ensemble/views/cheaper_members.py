"""Cheaper members: how many independent members snapshots, last epochs and weight averages are worth."""

import math

import pandas as pd

from ensemble import runs
from ensemble.analysis.planning.equivalents import MemberEquivalent
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError, RunError
from ensemble.planning.worth import CheapEnsembleWorth, CheapEnsembleWorths, measure_cheap_ensembles
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, Table, View
from ensemble.wording import formats

_EQUIVALENTS_GLOSS = (
    "How many independent members it takes to reach the same calibrated log-likelihood on the "
    "test images (deep ensemble equivalents; Ashukha and others 2020)."
)
_MIXTURE_NOTE = "Members of this run differ in their settings: read them as a mixture, not as repetitions of one."


def _format_cheaper_ensemble(worth: CheapEnsembleWorth) -> str:
    """What it is: "the last 3 epochs", "5 snapshots"."""
    count = len(worth.epochs)
    return {
        "member": "one member as it is",
        "last": f"the last {count} epochs together",
        "snapshots": formats.format_count(count, "snapshot"),
        "swa": f"parameters averaged over {formats.format_count(count, 'epoch')} (SWA)",
    }[worth.kind]


def describe_best_cheaper_ensemble(worths: CheapEnsembleWorths) -> str:
    """Describe the cheaper ensemble that is worth most; "" if there is none.

    If its interval contains every number of members, report that the data cannot tell.
    """
    cheaper = [row for row in worths.rows if row.kind != "member"]
    if not cheaper:
        return ""
    best = max(cheaper, key=lambda row: (row.equivalent.value, -row.networks))
    if not best.equivalent.low and math.isinf(best.equivalent.high):
        return "Too few test images or members to say what cheaper ensembles are worth."
    subject = {
        "last": f"The checkpoint ensemble of the last {len(best.epochs)} epochs",
        "snapshots": "This snapshot ensemble",
        "swa": "The member with averaged parameters",
    }[best.kind]
    return f"{subject} is worth {format_member_equivalent(best.equivalent)}."


def format_member_equivalent(equivalent: MemberEquivalent) -> str:
    """What predictions are worth: "1.7 independent members (95 %: 1.4 to 2.1)"."""
    if not equivalent.value and not equivalent.high:
        return "less than one independent member"
    low = "less than 1" if not equivalent.low else _format_member_bound(equivalent.low, equivalent.members)
    high = "less than 1" if not equivalent.high else _format_member_bound(equivalent.high, equivalent.members)
    between = f" (95 %: {low} to {high})" if low != high else ""
    text = "less than one" if not equivalent.value else _format_member_bound(equivalent.value, equivalent.members)
    return f"{text} independent member{'' if text in ('1.0', 'less than one') else 's'}{between}"


def _format_member_bound(number: float, most: int) -> str:
    return f"more than {most}" if number > most else f"{number:.1f}"


def cheaper_members_view(epoch: EvaluatedEpoch) -> View:
    """Yield what ensembles are worth that cost the training of one member."""
    try:
        worths = epoch.measure(
            _measure_epoch_worths, epoch.run.id, wait="Judging snapshots, last epochs and averages …"
        )
    except EnsembleError as error:
        yield Paragraph(str(error), "missing")
        return
    line = describe_best_cheaper_ensemble(worths)
    yield Paragraph(line or "This run kept only one epoch, so nothing cheaper can be judged.", "finding")
    best = " The best of several was chosen on these test images: expect less on new ones." if worths.rows[2:] else ""
    yield Paragraph(
        f"Each costs the training of one member. Mean over {formats.format_count(worths.members, 'member')}, compared "
        f"with 1 to {worths.members} independent members of this run on the test images.{best}",
        "evidence",
    )
    yield Table(
        "What cheaper ensembles are worth",
        pd.DataFrame(
            {
                "made of": [_format_cheaper_ensemble(row) for row in worths.rows],
                "worth": [format_member_equivalent(row.equivalent) for row in worths.rows],
                "networks per image": [f"{row.networks}" for row in worths.rows],
            }
        ),
        note=" ".join([_EQUIVALENTS_GLOSS, *_list_cheaper_settings(epoch.run.training_config)]),
        key="cheaper_members",
    )
    for note in (*([_MIXTURE_NOTE] if worths.varied else []), *worths.left_out):
        yield Paragraph(note, "note")


def _measure_epoch_worths(_: EnsemblePredictions, run_id: str) -> CheapEnsembleWorths:
    if not runs.list_prediction_epochs(run_id):
        raise RunError("Cheaper members need a run of your own with its predictions after every epoch.")
    return measure_cheap_ensembles(runs.find_run(run_id))


def _list_cheaper_settings(config: EnsembleConfig | None) -> list[str]:
    parts = []
    if config and config.schedule != "cyclic":
        parts.append("For snapshots, launch with the schedule cyclic.")
    if config and not config.swa_epochs:
        parts.append("For averaged parameters, launch with SWA epochs above 0.")
    return parts
