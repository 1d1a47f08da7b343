"""Members: the figures of each, and whether the ensemble is better without one."""

import pandas as pd

from ensemble.analysis.numeric.numeric_diagnosis import find_bad_member, find_harmful_member
from ensemble.analysis.numeric.numeric_ensemble import split_members
from ensemble.analysis.numeric.numeric_evaluation import MAIN_LEVEL
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.numeric.numeric_answer import format_quality
from ensemble.views.parts import Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words


def build_numeric_members(numbers: EvaluatedNumbers) -> View:
    """Whether a member does harm, and a row for each."""
    if numbers.members == 1:
        yield Paragraph("There is one member: it is the ensemble.", "answer")
    elif harmful := find_harmful_member(numbers.left_out):
        name = numbers.member_names[harmful.member]
        yield Paragraph(f"The ensemble is better without {name}.", "answer")
        yield Paragraph(
            words.describe_harmful_member(name, harmful, numbers.n, numbers.members), "evidence"
        )
        yield Paragraph(words.describe_bad_member(name, harmful), "evidence")
    elif bad := find_bad_member(numbers.left_out):
        name = numbers.member_names[bad.member]
        yield Paragraph(f"One member is further off than the others: {name}.", "answer")
        yield Paragraph(words.describe_bad_member(name, bad), "evidence")
        yield Paragraph(
            f"The others make up for it: without it the ensemble is not shown to be better, on "
            f"{formats.format_count(numbers.n, 'example')}; intervals allow for "
            f"{numbers.members:,} looks.",
            "evidence",
        )
    else:
        yield Paragraph(
            "No member is much further off than the others, and none is shown to do harm.", "answer"
        )
        yield Paragraph(
            f"Each was left out in turn, on {formats.format_count(numbers.n, 'example')}; the "
            f"intervals of the RMSE allow for {numbers.members:,} looks.",
            "evidence",
        )
    yield Table(
        "Members",
        tabulate_members(numbers),
        note="Without it: the RMSE of the others together, against that of all.",
        key="numeric_members",
        from_outside=True,
    )


def tabulate_members(numbers: EvaluatedNumbers) -> pd.DataFrame:
    """A row a member."""
    changes = [
        f"{100 * (each.ratio.ratio - 1):+.1f} %".replace("-", "−") for each in numbers.left_out
    ]
    main = numbers.evaluation.main_coverage
    held = []
    if main:
        for member in split_members(numbers.predicted):
            assert not isinstance(member, PointEnsemble)
            found = measure_interval_coverage(member, numbers.targets, main.level)
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
            for m, (name, quality) in enumerate(
                zip(numbers.member_names, numbers.evaluation.members, strict=True)
            )
        ]
    )
