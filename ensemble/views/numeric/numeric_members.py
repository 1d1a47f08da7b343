"""Members: the figures of each, and what leaving one out does."""

import pandas as pd

from ensemble.analysis.numeric.numeric_ensemble import split_members
from ensemble.analysis.numeric.numeric_evaluation import MAIN_LEVEL
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.numeric.numeric_answer import format_quality
from ensemble.views.parts import Paragraph, Table, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words


def build_numeric_members(numbers: EvaluatedNumbers) -> View:
    """Describe what leaving out a member does and which member is furthest off; a row for each."""
    if numbers.members == 1:
        yield Paragraph("There is one member: it is the ensemble.", "answer")
    else:
        best = min(numbers.left_out, key=lambda each: each.ratio.ratio)
        worst = max(numbers.left_out, key=lambda each: each.against_others.ratio)
        names = numbers.member_names
        yield Paragraph(words.describe_furthest_member(names[worst.member], worst), "answer")
        interval = words.format_error_range(worst.against_others)
        yield Paragraph(f"Its RMSE against another member’s: {interval}.", "evidence")
        yield Paragraph(words.describe_left_out_member(names[best.member], best), "evidence")
        yield Paragraph(
            f"Each member was left out in turn, on {formats.format_count(numbers.n, 'example')}. "
            "Intervals hold for all members together.",
            "evidence",
        )
    yield Table(
        "Members",
        _tabulate_members(numbers),
        note="Without it: the RMSE of the others together, against that of all.",
        key="numeric_members",
        from_outside=True,
    )


def _tabulate_members(numbers: EvaluatedNumbers) -> pd.DataFrame:
    changes = [f"{100 * (each.ratio.ratio - 1):+.1f} %".replace("-", "−") for each in numbers.left_out]
    main = numbers.evaluation.main_coverage
    held = []
    if main:
        for member in split_members(numbers.predicted):
            assert not isinstance(member, PointEnsemble)
            found = measure_interval_coverage(member, numbers.targets, main.level, numbers.groups)
            held.append(formats.format_percent(found.held, figures=3))
    level = formats.format_percent(main.level if main else MAIN_LEVEL, figures=2)
    return pd.DataFrame(
        [
            {
                "member": name,
                **format_quality(quality),
                **({f"{level} intervals hold": held[m]} if held else {}),
                **({"without it": changes[m]} if changes else {}),
            }
            for m, (name, quality) in enumerate(zip(numbers.member_names, numbers.evaluation.members, strict=True))
        ]
    )


VIEW = RegisteredView(
    "members",
    "Members",
    "Scores of each member, and the effect of leaving it out",
    build_numeric_members,
    place=60,
    page_break=False,
    numeric=True,
)
