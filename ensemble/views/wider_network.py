"""One wider network: compare an ensemble with single networks that take as many operations per image."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ensemble import runs
from ensemble.architectures import ARCHITECTURES, format_network_title
from ensemble.comparison.differences import adjust_differences, compute_group_difference
from ensemble.comparison.image_identity import have_same_images
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.comparison.run_measures import measure_run
from ensemble.comparison.seed_groups import find_seed_runs
from ensemble.errors import EnsembleError
from ensemble.planning.network_widths import default_network_width, find_equal_flops_width, network_cost_at_width
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import CopyableText, Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording.provenance import list_train_words
from ensemble.wording.verdicts.comparison_text import format_shown_differences

_COST_TOLERANCE = 1.15  # factor between the operations of networks that count as equally expensive


def wider_network_view(epoch: EvaluatedEpoch) -> View:
    """Yield the differences to single networks of equal cost that were trained here, or the command that trains one.

    The cost is that of all members, because the comparison is with the whole ensemble.
    """
    run, config, members = epoch.run, epoch.run.training_config, epoch.members
    if config is None:
        yield Paragraph("The network of an imported run is not known here.", "missing")
        return
    network, shape, classes = str(config.network), run.data.image_shape, len(epoch.class_names)
    if (architecture := ARCHITECTURES.get(network)) is None or architecture.width is None:
        yield Paragraph(f"{format_network_title(network)} cannot be made wider.", "missing")
        return
    try:
        width = find_equal_flops_width(network, shape, classes, members, config.width)
    except EnsembleError as error:
        yield Paragraph(str(error), "missing")
        return
    wanted = members * network_cost_at_width(network, shape, classes, config.width).flops
    factor = width / (config.width or default_network_width(network))
    count = formats.format_count(members, "member")
    cost = f"width {width:,}, {factor:.1f} times as wide: as many operations per image as {count}"

    def is_equally_expensive(other: runs.Run) -> bool:
        found = other.training_config
        if found is None or found.members != 1 or found.network != network or found.folds or found.teacher:
            return False
        flops = network_cost_at_width(network, shape, classes, found.width).flops
        return abs(math.log(flops / wanted)) <= math.log(_COST_TOLERANCE)

    every = epoch.list_runs()
    single = [
        other
        for other in every
        if is_equally_expensive(other)
        and other.state == "finished"
        and have_same_images(run, other)
        and runs.list_prediction_epochs(other.id)
    ]
    if single:
        yield from _compare_single_networks(epoch, group_runs(single), every, cost)
        return
    yield Paragraph(f"No single network of the same cost was trained here ({cost}).", "finding")
    yield Paragraph(
        "Train one to compare it here, with two more seeds as well. A wider network may need another learning rate.",
        "evidence",
    )
    alone = replace(config, members=1, width=width, folds=0, vary="", groups=1, teacher="")
    yield CopyableText("One wider network", f"ensemble {shlex.join(list_train_words(alone))}")


def _compare_single_networks(
    epoch: EvaluatedEpoch, groups: Sequence[RunGroup], every: Sequence[runs.Run], cost: str
) -> View:
    own = find_seed_runs(epoch.run, every)
    try:
        ours = tuple(measure_run(run) for run in own)
        measured = [tuple(measure_run(run) for run in group.distinct_runs) for group in groups]
    except EnsembleError as error:
        yield Paragraph(str(error), "missing")
        return
    differences = adjust_differences([compute_group_difference(ours, theirs) for theirs in measured])
    rows = [
        {
            "single network": group.title or "same settings",
            "runs": f"{len(group.distinct_runs)}",
            "difference": formats.format_image_difference(difference.digits, epoch.noun),
            "NLL": formats.format_significant(difference.nll, 2),
            "shown for the ensemble": format_shown_differences(difference),
        }
        for group, difference in zip(groups, differences, strict=True)
    ]
    shown = {row["shown for the ensemble"] for row in rows}
    verdict = shown.pop() if len(shown) == 1 else f"it depends on the settings of the {len(groups)} single networks"
    yield Paragraph(f"The ensemble against one wider network of the same cost: {verdict}.", "finding")
    yield Paragraph(
        f"{cost[0].upper()}{cost[1:]}. {formats.format_count(len(own), 'run')} of the ensemble, each judged after the "
        "epoch that its validation images chose, else after its last, on the same test images. Every p is adjusted for "
        "all tests (Holm); “no difference shown” does not mean equal.",
        "evidence",
    )
    yield Table(
        "Single networks of the same cost",
        pd.DataFrame(rows),
        note="Positive differences and NLL: the ensemble is better by so much.",
        key="wider_networks",
    )
