"""Committees: how good an ensemble of fewer of these members would be."""

from ensemble.views.numeric import numeric_spread as figures
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Figure, Figures, Paragraph, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import formats
from ensemble.wording.numeric_predictions import format_with_unit

_ENOUGH_SHARE = 0.9  # of what all members save, from which on members are called enough


def build_numeric_committee(numbers: EvaluatedNumbers) -> View:
    committees = numbers.evaluation.committees
    if len(committees) == 1:
        yield Paragraph("Of one member there are no smaller ensembles.", "unavailable")
        return
    errors = [each.squared_error for each in committees]
    saved = errors[0] - errors[-1]
    enough = next(each.members for each in committees if errors[0] - each.squared_error >= _ENOUGH_SHARE * saved)
    one, every = (format_with_unit(errors[at] ** 0.5, numbers.unit) for at in (0, -1))
    share = formats.format_percent(_ENOUGH_SHARE, figures=2)
    yield Paragraph(
        f"{formats.format_count(enough, 'member')} of {numbers.members} save {share} of what all of them save."
        if saved > 0
        else "All members predict the same: more of them save nothing.",
        "answer",
    )
    yield Paragraph(
        f"Of the squared error, on {formats.format_count(numbers.n, 'example')}: the RMSE is {one} "
        f"of one member and {every} of all {numbers.members}. The mean over all choices of so many "
        "members, computed exactly.",
        "evidence",
    )
    title = f"Fewer members · {numbers.source}"
    unit = numbers.unit
    members = [each.rmse for each in numbers.evaluation.members]
    yield Figures.single(
        Figure(
            label="",
            alt=figures.describe_committee_chart(committees, unit),
            explanation="Where the line is flat, more members save little.",
            draw=lambda palette: figures.plot_committee_errors(committees, members, unit, title, palette),
            key="numeric_committee",
            file="committee",
            title="RMSE by the number of members",
            table=lambda: figures.tabulate_committee_errors(committees),
        )
    )


VIEW = RegisteredView(
    "committee",
    "Committee",
    "How good smaller ensembles of these members are",
    build_numeric_committee,
    place=50,
    page_break=False,
    numeric=True,
)
